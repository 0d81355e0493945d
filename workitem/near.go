package workitem

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// nearEdits is how many edits a slip of the finger is: two letters swapped.
	nearEdits = 2
	// maxNear bounds the text compared with every known ref, in bytes.
	maxNear = 200
)

// Near returns at most max of the known refs that somebody who wrote s may have
// meant, the likeliest first: those that end in s (the front was left out),
// those within two edits, the same number elsewhere, and other numbers of the
// same repository. s may be a web address. Case does not count. The order
// depends on nothing but the arguments' values.
func Near(s string, known []string, max int) []string {
	if r, err := ParseRefOrURL(s); err == nil {
		s = r.String()
	}
	if max <= 0 || s == "" || len(s) > maxNear {
		return nil
	}
	type match struct {
		rank, distance int
		ref            string
	}
	var found []match
	for _, ref := range known {
		distance := editDistance(lowerASCII(s), lowerASCII(ref))
		if rank, ok := nearRank(lowerASCII(s), lowerASCII(ref), distance); ok {
			found = append(found, match{rank, distance, ref})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), cmp.Compare(a.ref, b.ref))
	})
	found = slices.CompactFunc(found, func(a, b match) bool { return a.ref == b.ref })
	refs := make([]string, 0, min(max, len(found)))
	for _, m := range found[:min(max, len(found))] {
		refs = append(refs, m.ref)
	}
	return refs
}

// nearRank says in which way ref is near s, the best way first.
func nearRank(s, ref string, distance int) (rank int, ok bool) {
	sPath, sNumber, sHas := strings.Cut(s, "#")
	path, number, has := strings.Cut(ref, "#")
	switch {
	case endsIn(ref, s):
		return 0, true
	case distance <= nearEdits:
		return 1, true
	case sHas && has && sNumber == number:
		return 2, true
	case has && sPath != "" && endsIn(path, sPath):
		return 3, true
	}
	return 0, false
}

// endsIn reports whether tail is the end of ref from one of its marks on:
// `repo#15`, `#15` and `15` are ends of `github:octo/repo#15`, `5` is none.
func endsIn(ref, tail string) bool {
	front, ok := strings.CutSuffix(ref, tail)
	if !ok || front == "" {
		return ok
	}
	return strings.ContainsAny(front[len(front)-1:], ":/#") || tail[0] == '#'
}

// editDistance counts the insertions, deletions and replacements of bytes that
// make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

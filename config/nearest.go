package config

import (
	"maps"
	"slices"
	"strings"
)

// paths lists every path that has a meaning, sections included, in a fixed
// order: the rows first, so that a tie goes to a key that does something.
func (s schema[T]) paths() []string {
	paths := make([]string, 0, len(s.rows)+len(s.sections)+len(s.unused))
	for _, row := range s.rows {
		paths = append(paths, strings.TrimSuffix(strings.TrimSuffix(row.Path, ".<name>"), "[]"))
	}
	paths = append(paths, slices.Sorted(maps.Keys(s.sections))...)
	return append(paths, slices.Sorted(maps.Keys(s.unused))...)
}

// distance is how many letters must be put in, left out, changed or swapped
// with their neighbour to make b of a, in any case. Long words are far from
// everything: nobody mistypes sixty letters, and the cost is their product.
func distance(a, b string) int {
	const longest = 60
	if len(a) > longest || len(b) > longest {
		return longest
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

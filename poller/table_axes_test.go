package poller

import (
	"fmt"
	"slices"
	"strings"
)

// axis is one thing that a decision depends on, with the values it may have.
type axis struct {
	at     int
	name   string
	values []string
}

// What a decision about an item and one comment on it depends on. Of a linked
// pull request, row, pane and control are its target's.
var (
	bySight    = &axis{0, "sight", []string{"first", "known"}}
	byItem     = &axis{1, "item", []string{"open", "off list", "ended", "open again"}}
	byTarget   = &axis{2, "target", []string{"itself", "linked"}}
	byRow      = &axis{3, "session row", []string{"none", "active", "paused", "closed", "elsewhere"}}
	byPane     = &axis{4, "tmux", []string{"live", "dead", "absent", "unknown", "occupied"}}
	byControl  = &axis{5, "control record", []string{"none", "start", "stop", "pause", "cleanup"}}
	byOpener   = &axis{6, "item's author", []string{"listed", "stranger"}}
	byAuthor   = &axis{7, "comment's author", []string{"listed", "stranger", "nobody", "marked"}}
	byBody     = &axis{8, "body", bodyNames}
	byDelivery = &axis{9, "delivery", []string{"none", "waiting", "queued", "started", "delivered", "settled", "gave up", "gave up before"}}
	byAttempts = &axis{10, "attempts", []string{"below", "at"}}
	byPolicy   = &axis{11, "spawn policy", []string{"labeled", "always", "never"}}
	byStart    = &axis{12, "start required", []string{"yes", "no"}}
	byRevision = &axis{13, "revision", []string{"fresh", "stale"}}
	byOrder    = &axis{14, "order", []string{"behind", "before"}}
)

var axes = []*axis{
	bySight, byItem, byTarget, byRow, byPane, byControl, byOpener, byAuthor, byBody, byDelivery, byAttempts, byPolicy, byStart, byRevision, byOrder,
}

var bodyNames = []string{
	"plain", "start", "start and words", "resume", "resume and words", "pause", "pause and words",
	"stop", "stop and words", "cleanup", "cleanup and words", "two commands",
}

// cell is one situation: a value of each axis, by its index.
type cell [15]int

func (c cell) get(a *axis) string { return a.values[c[a.at]] }

func (c cell) String() string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = a.name + " " + c.get(a)
	}
	return strings.Join(parts, ", ")
}

// box is a set of values of each axis, as bits: the product of them.
type box [15]uint16

// everything is the whole product.
var everything = func() (b box) {
	for i, a := range axes {
		b[i] = 1<<len(a.values) - 1
	}
	return b
}()

func (b box) empty() bool { return slices.Contains(b[:], 0) }

func (b box) meet(o box) box {
	for i := range b {
		b[i] &= o[i]
	}
	return b
}

// size is the number of situations in a box.
func (b box) size() int {
	n := 1
	for _, values := range b {
		count := 0
		for ; values > 0; values &= values - 1 {
			count++
		}
		n *= count
	}
	return n
}

// draw picks a situation of a box that is not empty; pick(n) is below n.
func (b box) draw(pick func(n int) int) (c cell) {
	for i, values := range b {
		var of []int
		for v := range axes[i].values {
			if values&(1<<v) != 0 {
				of = append(of, v)
			}
		}
		c[i] = of[pick(len(of))]
	}
	return c
}

// when is a condition: the union of its boxes.
type when []box

// is holds where an axis has one of the values.
func (a *axis) is(values ...string) when {
	b := everything
	b[a.at] = 0
	for _, v := range values {
		i := slices.Index(a.values, v)
		if i < 0 {
			panic(fmt.Sprintf("%q is no value of %s", v, a.name))
		}
		b[a.at] |= 1 << i
	}
	return when{b}
}

// isNot holds where an axis has none of the values.
func (a *axis) isNot(values ...string) when { return not(a.is(values...)) }

// all holds where every condition does.
func all(of ...when) when {
	out := when{everything}
	for _, w := range of {
		var next when
		for _, a := range out {
			for _, b := range w {
				if m := a.meet(b); !m.empty() {
					next = append(next, m)
				}
			}
		}
		out = next.absorbed()
	}
	return out
}

// absorbed leaves out the boxes that lie in others.
func (w when) absorbed() (out when) {
	for i := range w {
		inOther := false
		for j := range w {
			if j != i && w[i].within(&w[j]) && (j < i || !w[j].within(&w[i])) {
				inOther = true
				break
			}
		}
		if !inOther {
			out = append(out, w[i])
		}
	}
	return out
}

// within reports whether a box lies in another.
func (b *box) within(o *box) bool {
	for i := range b {
		if b[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// either holds where one of the conditions does.
func either(of ...when) (out when) {
	for _, w := range of {
		out = append(out, w...)
	}
	return out
}

// not holds where a condition does not.
func not(w when) when {
	out := when{everything}
	for _, b := range w {
		var outside when
		rest := everything
		for i := range b {
			if beyond := everything[i] &^ b[i]; beyond != 0 {
				part := rest
				part[i] = beyond
				outside = append(outside, part)
				rest[i] = b[i]
			}
		}
		out = all(out, outside)
	}
	return out
}

// but holds where w does and none of the others.
func (w when) but(others ...when) when { return all(w, not(either(others...))) }

func (w when) holds(c cell) bool {
	return slices.ContainsFunc(w, func(b box) bool {
		for i, v := range c {
			if b[i]&(1<<v) == 0 {
				return false
			}
		}
		return true
	})
}

// claim is a box that a row of a table says something about.
type claim struct {
	row int
	box box
}

// walk goes over a whole space, in as few parts as the claims tell apart, and
// reports each part that no row claims, or more than one does.
func walk(space box, claims []claim, report func(part box, rows []int)) (cells int) {
	var here []claim
	for _, c := range claims {
		if !c.box.meet(space).empty() {
			here = append(here, c)
		}
	}
	at := parting(space, here)
	if at < 0 {
		var rows []int
		for _, c := range here {
			if !slices.Contains(rows, c.row) {
				rows = append(rows, c.row)
			}
		}
		if len(rows) != 1 {
			report(space, rows)
		}
		return space.size()
	}
	for _, values := range groups(space, here, at) {
		part := space
		part[at] = values
		cells += walk(part, here, report)
	}
	return cells
}

// parting is the axis by which most claims part a space, or -1.
func parting(space box, claims []claim) int {
	best, most := -1, 0
	for i := range space {
		n := 0
		for _, c := range claims {
			if c.box[i]&space[i] != space[i] {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// groups parts the values of an axis into those that no claim tells apart.
func groups(space box, claims []claim, at int) (out []uint16) {
	in := map[string]uint16{}
	var order []string
	for v := range axes[at].values {
		if space[at]&(1<<v) == 0 {
			continue
		}
		kind := make([]byte, len(claims))
		for i, c := range claims {
			if c.box[at]&(1<<v) != 0 {
				kind[i] = 1
			}
		}
		if in[string(kind)] == 0 {
			order = append(order, string(kind))
		}
		in[string(kind)] |= 1 << v
	}
	for _, kind := range order {
		out = append(out, in[kind])
	}
	return out
}

package view

// minFlexible is the width below which a cell is not cut any further: fewer
// columns tell nothing.
const minFlexible = 8

// fit shrinks the widest flexible columns, in place, until a row takes at most
// width columns. It reports whether it could.
func fit(columns []Column, widths []int, width int) bool {
	excess := len(gap)*(len(widths)-1) - width
	for _, w := range widths {
		excess += w
	}
	for excess > 0 {
		widest, next := widestFlexible(columns, widths)
		if widest < 0 {
			return false
		}
		// Down to the next wide one at a time, so that columns share the loss.
		step := min(excess, max(widths[widest]-next, 1))
		widths[widest] -= step
		excess -= step
	}
	return true
}

// widestFlexible is the index of the widest column that can still be cut, or
// -1, and the width at which it stops being the only widest one.
func widestFlexible(columns []Column, widths []int) (widest, next int) {
	widest, next = -1, minFlexible
	for i, c := range columns {
		switch {
		case !c.Flexible || widths[i] <= minFlexible:
		case widest < 0:
			widest = i
		case widths[i] > widths[widest]:
			widest, next = i, widths[widest]
		default:
			next = max(next, widths[i])
		}
	}
	return widest, next
}

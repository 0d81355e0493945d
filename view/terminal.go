package view

import (
	"os"

	"golang.org/x/term"
)

// defaultWidth is assumed of a terminal that does not know its own, such as a
// serial line.
const defaultWidth = 80

// Terminal reports whether f is a terminal and how many columns it has. The
// width is 0 when f is not one: nothing is cut in pipes and files.
func Terminal(f *os.File) (width int, isTTY bool) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0, false
	}
	width, _, err := term.GetSize(fd)
	if err != nil || width <= 0 {
		return defaultWidth, true
	}
	return width, true
}

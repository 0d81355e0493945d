package view_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"theloop/view"
)

func TestTerminalWidth(t *testing.T) {
	for columns, want := range map[uint16]int{132: 132, 0: 80} {
		tty := openTerminal(t, columns)
		if width, isTTY := view.Terminal(tty); width != want || !isTTY {
			t.Errorf("a terminal of %d columns: got %d, %v", columns, width, isTTY)
		}
	}
}

// openTerminal makes a pseudo terminal of the given width.
func openTerminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty
}

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal that programs are run on.
type terminal struct {
	t           *testing.T
	master, tty *os.File
}

func newTerminal(t *testing.T, columns uint16) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	n := 0
	control(t, master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	})
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return &terminal{t, master, tty}
}

// control leaves the file in the poller of Go's runtime, unlike Fd.
func control(t *testing.T, f *os.File, do func(fd int) error) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// run runs a program to its end, once, and returns what was written on the terminal.
func (tt *terminal) run(cmd *exec.Cmd) (shown string, code int) {
	tt.t.Helper()
	read := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, err := io.Copy(&b, tt.master)
		if err != nil && !errors.Is(err, syscall.EIO) { // which says that nobody has the other end open any more
			tt.t.Error(err)
		}
		read <- b.String()
	}()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		tt.t.Fatal(err)
	}
	tt.tty.Close() // the last one who has it open: the reader comes to its end
	return <-read, cmd.ProcessState.ExitCode()
}

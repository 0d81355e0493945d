//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tmux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup puts a command into a process group of its own, which is killed as a whole when its context ends: a tmux that
// is a script has children.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		cmd.WaitDelay = killedWait
		return unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}
}

// closeInherited marks what this process was started with close-on-exec. Go does that for what it opens itself.
func closeInherited() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

func replaceProcess(path string, argv, env []string) error { return unix.Exec(path, argv, env) }

// nudge makes a tmux server look for children that have exited. tmux 3.3a misses about one in forty when a program with
// several threads ends (measured): the pane is dead, but without an exit status, and the process stays a zombie. To
// whatever else may have that number the signal means nothing.
func nudge(server int) {
	if server > 1 {
		_ = unix.Kill(server, unix.SIGCHLD)
	}
}

// harness is the program of a pane: the leader of a session of processes on the pane's terminal, and what descends from
// it.
type harness struct {
	leader  int
	started int64 // tells the leader from a later process of that number
	// known are the processes that were found, by number and start: they are still the harness's when their parents have
	// ended and nothing else shows it any more.
	known map[int]int64
}

// openHarness makes sure that the pane's process is the leader of a session on the pane's terminal, so that a process
// number which the system has given to a stranger since is not signalled (D9).
func openHarness(l Look) (*harness, error) {
	n, err := identityNumbers(l.Identity)
	if err != nil {
		return nil, err
	}
	leader := int(n[2])
	sid, err := unix.Getsid(max(leader, 0))
	if errors.Is(err, unix.ESRCH) {
		return &harness{}, nil
	}
	started, known := startOf(leader)
	if leader <= 1 || err != nil || sid != leader || !known || !onTerminal(leader, l.TTY) {
		return nil, fmt.Errorf("process %d is not the one that tmux started on %s; it was not signalled", leader, l.TTY)
	}
	return &harness{leader: leader, started: started}, nil
}

// terminate asks all of the harness to end. A program that was stopped is woken by tmux.
func (h *harness) terminate() { h.signal(unix.SIGTERM) }

func (h *harness) kill() { h.signal(unix.SIGKILL) }

// gone tells whether nothing is left of the harness.
func (h *harness) gone() bool { return len(h.members()) == 0 }

func (h *harness) signal(sig unix.Signal) {
	for pid := range h.members() {
		_ = unix.Kill(pid, sig)
	}
}

// members are the processes of the harness. The system gives a session's number to no new process while one of them
// lives; when there is another leader of that number, all of them are gone.
func (h *harness) members() map[int]int64 {
	leader := h.leader
	if started, ok := startOf(leader); ok && started != h.started {
		leader = 0
	}
	h.known = family(leader, h.known)
	return h.known
}

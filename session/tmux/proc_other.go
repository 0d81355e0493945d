//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tmux

import "golang.org/x/sys/unix"

// Without /proc a process is known by its number and its session alone.

func startOf(pid int) (int64, bool) { return 0, unix.Kill(pid, 0) == nil }

func onTerminal(int, string) bool { return true }

// sessionMembers is the leader's process group, as a target of kill: other groups of the session are not seen.
func sessionMembers(leader int) []int {
	if unix.Kill(-leader, 0) != nil {
		return nil
	}
	return []int{-leader}
}

func lostSocket(string) error { return nil }

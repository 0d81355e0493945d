//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tmux

import (
	"time"

	"golang.org/x/sys/unix"
)

// Without /proc a process is known by its number and its session alone.

func startOf(pid int) (int64, bool) { return 0, unix.Kill(pid, 0) == nil }

func onTerminal(int, string) bool { return true }

// family is the leader's process group, as a target of kill: other groups of the session are not seen.
func family(leader int, _ map[int]int64) map[int]int64 {
	if leader <= 1 || unix.Kill(-leader, 0) != nil {
		return nil
	}
	return map[int]int64{-leader: 0}
}

func lostSocket(string) error { return nil }

func survivor(string, time.Time) int { return 0 }

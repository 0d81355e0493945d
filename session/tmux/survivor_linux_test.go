package tmux

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// D2: a program that goes on when its pane is taken away is known by the identity of the pane, also when the server has
// ended with its last session; nothing else is taken for it, and nothing is known of one that has ended.
func TestD2Survivor(t *testing.T) {
	for _, last := range []bool{false, true} {
		t.Run(fmt.Sprintf("with the server's last session %v", last), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			look, _ := r.spawned("loop-a", "-ignore-term")
			other, _ := r.spawned("loop-b")
			pid, seen := panePID(look), time.Now()
			t.Cleanup(func() { kill(t, pid) })
			ask := func(identity string, seen time.Time) int {
				return r.Survivor(t.Context(), identity, seen, 0)
			}
			if got := ask(look.Identity, seen); got != 0 {
				t.Errorf("its pane is there, and it is %d", got)
			}
			r.tmux("kill-pane", "-t", look.PaneID)
			if last {
				server := r.serverPID()
				r.tmux("kill-pane", "-t", other.PaneID)
				eventually(t, "the server is gone", func() bool { return !running(server) })
			}
			eventually(t, "it has lost its terminal", func() bool { return ask(look.Identity, seen) == pid })
			server, created, _ := strings.Cut(look.Identity, "/")
			began, _, _ := strings.Cut(created, "/")
			made, err := strconv.ParseInt(began, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			for what, c := range map[string]struct {
				identity string
				seen     time.Time
			}{
				"it began behind the last look":         {look.Identity, time.Unix(made-10, 0)},
				"it began before the tmux session":      {fmt.Sprintf("%s/%d/%d", server, made+10, pid), seen.Add(time.Hour)},
				"no session's leader":                   {fmt.Sprintf("%s/%d/%d", server, made, os.Getpid()), seen},
				"no identity":                           {"", seen},
				"another server runs that is no parent": {fmt.Sprintf("%d/%d/%d", otherServer(t), made, pid), seen},
			} {
				if got := ask(c.identity, c.seen); got != 0 {
					t.Errorf("%s: %d", what, got)
				}
			}
			kill(t, pid)
			if got := r.Survivor(t.Context(), look.Identity, seen, 10*time.Second); got != 0 {
				t.Errorf("it has ended, and is %d", got)
			}
		})
	}
}

// otherServer is the number of a tmux server that the program is no child of.
func otherServer(t *testing.T) int {
	r := newRig(t)
	r.spawned("loop-c")
	return r.serverPID()
}

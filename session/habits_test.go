//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/session/tmux"
	"theloop/testdata/harness/harnesslog"
)

// D12, D8: a harness that is not there is a failed attempt that names it and
// where it was looked for; tmux is not even asked.
func TestRealMissingHarness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		command []string
		says    []string
	}{
		{"not in PATH", []string{"no-such-agent"}, []string{"no-such-agent", "PATH="}},
		{"not at its path", []string{"/no/such/agent"}, []string{"/no/such/agent"}},
		{"not below the folder", []string{"./bin/agent"}, []string{"bin/agent"}},
		{"not to be run", []string{"@DIR/text"}, []string{"text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if err := os.WriteFile(filepath.Join(r.dir, "text"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c.command[0] = strings.ReplaceAll(c.command[0], "@DIR", r.dir)
			r.settings.Harnesses = map[string]Harness{"test": {Command: c.command}}
			said := ""
			r.host.Emit = func(event string, fields map[string]any) {
				said += fmt.Sprint(event, fields["error"], fields["will_retry"])
			}
			if got := r.deliver(wild("IC_1")); got != Failed || r.ledger.row(octoRef, "IC_1").MayRepeat {
				t.Errorf("%s", got)
			}
			for _, want := range append(c.says, "dispatch.failed", "true") {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not said: %s", want, said)
				}
			}
			if l := r.look(); l.State != tmux.Absent {
				t.Errorf("a session was made: %+v", l)
			}
		})
	}
	t.Run("it is below the folder", func(t *testing.T) {
		r := newRig(t)
		if err := os.Symlink(harnessPath, filepath.Join(r.dir, "agent")); err != nil {
			t.Fatal(err)
		}
		r.settings.Harnesses = map[string]Harness{"test": {Command: []string{"./agent", "-log", r.log}}}
		if got := r.deliver(wild("IC_1")); got != Done {
			t.Errorf("%s, events %v", got, r.events)
		}
	})
}

// D5: a harness that ends later brings nothing down, and comes back with the next
// thing said; one that ends while it is started again, too.
func TestRealExitsLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-exit-after", "700ms", "-exit-code", "4")
	for n := range 3 {
		if got := r.deliver(wild(fmt.Sprintf("IC_%d", n))); got != Done {
			t.Fatalf("%s, events %v", got, r.events)
		}
		r.texts(n + 1)
		r.eventually("it has ended", func() bool { return r.look().ExitStatus == "exit 4" })
	}
	starts := harnesslog.Starts(r.records())
	if len(starts) != 3 || starts[2].Resume != starts[0].Session {
		t.Errorf("%d starts, the last resuming %q", len(starts), starts[len(starts)-1].Resume)
	}
	if all := r.user("list-panes", "-a"); strings.Contains(all, "\n") {
		t.Errorf("panes: %s", all)
	}
}

// A harness that fills its terminal, or one that never reads, holds nobody up:
// what is said is pasted, other sessions are fed, and it is closed.
func TestRealBadHabits(t *testing.T) {
	for _, flag := range []string{"-flood", "-deaf", "-ignore-term"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, flag)
			if got := r.deliver(wild("IC_0")); got != Done {
				t.Fatalf("%s, events %v", got, r.events)
			}
			big := octoComment("IC_1", "octocat", strings.Repeat("a line of a long text\n", 2_500))
			for n, c := range []string{"IC_1", "IC_2", "IC_3", "IC_4"} {
				big.ID = c
				began := time.Now()
				if got := r.deliver(big); got != Done {
					t.Fatalf("%s: %s, events %v", c, got, r.events)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("delivery %d took %s", n, took)
				}
			}
			if flag != "-deaf" {
				texts := r.texts(5)
				for _, text := range texts[1:] {
					if data(t, text).Event.Text != big.Body {
						t.Errorf("it arrived as %.200q", text)
					}
				}
			}
			r.settings.KillGrace = 300 * time.Millisecond
			began := time.Now()
			if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done || r.look().State != tmux.Dead {
				t.Errorf("closed: %s, the pane is %s", got, r.look().State)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("the close took %s", took)
			}
		})
	}
}

// D3: a delivery takes two tmux processes: one that looks and loads, one that
// pastes.
func TestRealTwoProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := r.recorded()
	for n := range 5 {
		if got := r.deliver(wild(fmt.Sprintf("IC_%d", n))); got != Done {
			t.Fatalf("%s, events %v", got, r.events)
		}
		took := calls()
		if n > 0 && len(took) != 2 {
			t.Errorf("a delivery took %d processes: %q", len(took), took)
		}
		if n == 0 {
			t.Logf("a spawn took %d processes", len(took))
		}
	}
	r.texts(5)
}

// recorded puts a tmux in the rig's place that writes down its arguments and then
// is the real one; calls are those since the last time.
func (r *rig) recorded() (calls func() [][]string) {
	r.t.Helper()
	file := filepath.Join(r.dir, "calls")
	binary := filepath.Join(r.dir, "recorder")
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >>'" + file + "'\nprintf '\\0' >>'" + file + "'\nexec tmux \"$@\"\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		r.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	r.eventually("it can be run", func() bool { // a fork in flight may still hold the file open for writing
		r.tmux, err = tmux.New(tmux.Options{
			Binary: binary, Instance: r.instance, Exe: self,
			Environ: []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + r.dir, "HOME=" + r.dir, "TERM=xterm", "GH_TOKEN=a-secret"},
		})
		return !errors.Is(err, syscall.ETXTBSY)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.host = r.newHost(testRun)
	seen := 0
	return func() (since [][]string) {
		text, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		var all [][]string
		for call := range strings.SplitSeq(string(text), "\x00\x00") {
			if args := strings.Split(strings.TrimPrefix(call, "\x00"), "\x00"); call != "" && args[0] != "-V" {
				all = append(all, args)
			}
		}
		since, seen = all[seen:], len(all)
		return since
	}
}

// D1: fifty sessions are fed at once, and nothing is lost.
func TestRealFiftyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quiet()
	count := long(12, 50)
	done := make(chan Result, count)
	for phase := range 2 {
		for n := range count {
			ref, c := octo(n+1), octoComment(fmt.Sprintf("IC_%d", phase), "octocat", fmt.Sprintf("token-%d-%d.", n+1, phase))
			r.know(ref)
			go func() { done <- r.deliverTo(context.Background(), ref, c) }()
		}
		for range count {
			if got := <-done; got != Done {
				t.Fatalf("%s", got)
			}
		}
	}
	r.texts(2 * count)
	for n := range count {
		if got := r.heardBy(octo(n + 1)); len(got) != 2 || !strings.Contains(got[1], fmt.Sprintf("token-%d-1.", n+1)) {
			t.Errorf("#%d heard %d texts", n+1, len(got))
		}
	}
}

package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/localapi"
	"theloop/policy"
	"theloop/workitem"
)

// One item, and whatever comes next: what people say and edit, what an operator
// orders, forgets and takes over, panes and servers that go, stops and starts of the
// poller, kills of it in the long form, an item that ends and is opened again, and
// edits of the configuration between any two of them. Whenever it has come to rest,
// what is recorded is what is so (see judge).
func TestWhateverComesNext(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	steps, rounds := 8, longForm(0)
	if rounds > 0 {
		steps = 16
	}
	for i := range uint64(max(rounds, 2)) {
		t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
			e := newExplorer(t, seed+i)
			for n := range steps {
				e.step()
				if n%4 == 3 {
					e.judge()
				}
			}
		})
	}
}

// explorer is a world with one item, and what has happened to it.
type explorer struct {
	*world
	*rand.Rand
	seed  uint64
	story []string
	p     *running // nil while no poller runs

	users                            string
	keep, remain, resume, startNeeds bool
	closed                           bool
	// ids are of the comments; past are those of before the item was last seen for the
	// first time.
	ids  []string
	past map[string]bool
	// old are the conversations that are not gone on with, of the first starts agents.
	old    map[string]bool
	starts int
	// torn says that something was taken away from under the poller.
	torn bool
	// owed says that the last thing that happened was a start that is to bring a
	// session up.
	owed bool
}

func newExplorer(t *testing.T, seed uint64) *explorer {
	t.Helper()
	e := &explorer{
		world: newWorld(t), Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, users: "octocat, hubot",
		past: map[string]bool{}, old: map[string]bool{}, startNeeds: true, keep: true, remain: true, resume: true,
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with SEED=%d SOAK=%s\n%s", seed, os.Getenv("SOAK"), strings.Join(e.story, "\n"))
		}
	})
	e.settings()
	e.item()
	e.poller()
	e.say("octocat", "the-loop start")
	return e
}

func (e *explorer) note(format string, args ...any) {
	e.story = append(e.story, fmt.Sprintf(format, args...))
}

func (e *explorer) settings() {
	agent := fmt.Sprintf("%q, -log, %q", filepath.Join(os.Getenv(binEnv), "agent"), e.path("agent.log"))
	e.write("config.yaml", fmt.Sprintf(`polling:
  sources: [{provider: inbox, path: inbox}]
routing:
  authorizedUsers: [%s]
  control: {requireStartCommand: %t}
  defaultHarness: test
  harnesses: {test: {command: [%s, -session-id, '{{sessionId}}', '{{prompt}}'], resume: [%s, -resume, '{{sessionId}}', '{{prompt}}']}}
  tmux: {socketName: %q, resumeProbeSeconds: 0, keepSessionOnClose: %t, remainOnExit: %t, resumeOnRespawn: %t}
`, e.users, e.startNeeds, agent, agent, e.server(), e.keep, e.remain, e.resume))
	e.note("config: users %s, start required %t, keep %t, remain %t, resume %t", e.users, e.startNeeds, e.keep, e.remain, e.resume)
}

func (e *explorer) item() {
	state := map[bool]string{false: "open", true: "closed"}[e.closed]
	e.write("inbox/1/item.md", "---\ntitle: item\nauthor: octocat\nlabels: ['the-loop: auto-execute']\nstate: "+state+"\n---\nthe-task\n")
	e.note("the item is %s", state)
}

func (e *explorer) say(author, text string) {
	id := time.Now().UTC().Format("20060102T150405.000000000Z") + "-" + author + ".md"
	e.ids = append(e.ids, id)
	e.put(id, text)
}

func (e *explorer) put(id, text string) {
	e.write("inbox/1/comments/"+id, text+"\n")
	e.note("%s: %s", id, text)
}

// poller starts one.
func (e *explorer) poller() {
	if e.p == nil {
		e.p = e.start(nil)
		e.note("started")
	}
}

func (e *explorer) stopped() {
	if e.p != nil {
		e.p.end()
		e.p = nil
		e.note("stopped")
	}
}

// operator is who gives orders, through the poller or beside it.
func (e *explorer) operator(do func(operated) error) {
	e.t.Helper()
	var err error
	if e.p != nil {
		err = do(e.client())
	} else {
		err = Offline(e.t.Context(), e.options(), "test", func(l localapi.Local) error { return do(l) })
	}
	e.note("  %v", err)
}

// killed runs a poller of its own that is killed at some moment of a cycle.
func (e *explorer) killed() {
	e.stopped()
	cmd := exec.Command(filepath.Join(os.Getenv(binEnv), "the-loop"), "poll", "start", "-c", e.path("config.yaml"), "--interval", "0.05")
	cmd.Dir, cmd.Stdout, cmd.Stderr = e.dir, &e.log, &e.log
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	behind := time.Duration(50+e.IntN(300)) * time.Millisecond
	ctx, cancel := context.WithTimeout(e.t.Context(), behind)
	defer cancel()
	<-ctx.Done() // the random moment
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	e.note("killed behind %s", behind)
	e.torn = true
}

func (e *explorer) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-L", e.server()}, args...)...).Output() // no server, no panes
	return strings.TrimSpace(string(out))
}

// step lets one thing happen.
func (e *explorer) step() {
	e.owed = false
	text := fmt.Sprintf("token-%d-end", len(e.ids))
	word := []string{"start", "stop", "pause", "resume", "cleanup"}[e.IntN(5)]
	ref := ref(1)
	switch n := e.IntN(26); n {
	case 0, 1, 2, 3:
		e.say([]string{"octocat", "hubot", "mallory"}[n%3], text)
	case 4, 5:
		e.say("octocat", "the-loop "+word)
	case 6:
		e.say("hubot", "the-loop "+word+" and "+text)
	case 7:
		e.put(e.ids[len(e.ids)-1], []string{"the-loop " + word, text + " edited"}[e.IntN(2)])
	case 8, 9, 10, 11:
		e.note("%s is ordered", word)
		e.operator(func(o operated) error {
			done, err := o.Order(e.t.Context(), localapi.Order{Ref: ref, Command: word})
			e.owed = err == nil && policy.Command(word).Arming() && done.Effect == "spawned"
			return err
		})
	case 12, 13, 14:
		if e.p != nil {
			e.note("a cycle: %q", e.kick().Problems)
		} else {
			e.poller()
		}
	case 15, 16:
		e.stopped()
	case 17:
		e.note("killing the panes")
		e.torn = true
		e.tmux("kill-session", "-a")
		e.tmux("kill-pane", "-a")
		e.tmux("kill-pane")
	case 18:
		e.note("killing the server")
		e.torn = true
		e.tmux("kill-server")
	case 19, 20:
		e.note("forget")
		e.operator(func(o operated) error {
			_, err := o.Forget(e.t.Context(), localapi.Forget{Refs: []workitem.Ref{ref}})
			if err == nil {
				e.noMore(true)
			}
			return err
		})
	case 21:
		e.note("adopt")
		e.operator(func(o operated) error { _, err := o.Adopt(e.t.Context(), ref); return err })
	case 22, 23:
		e.closed = !e.closed
		e.item()
		e.judge() // it is seen to end, and to be open again
	case 24:
		flag := []*bool{&e.keep, &e.remain, &e.resume, &e.startNeeds}[e.IntN(4)]
		*flag = !*flag
		e.settings()
	case 25:
		if os.Getenv("SOAK") != "" {
			e.killed()
			return
		}
		e.users = []string{"octocat, hubot", "octocat"}[e.IntN(2)]
		e.settings()
	}
}

//go:build unix

package tmux

import (
	"errors"
	"slices"
	"testing"

	"theloop/testdata/harness/harnesslog"
)

// dead is a session that got one delivery and whose harness was killed.
func (r *rig) dead(name string) Look {
	r.t.Helper()
	look, log := r.spawned(name)
	if outcome, err := r.paste(look, "one", "one"); outcome != OK {
		r.t.Fatal(outcome, err)
	}
	input(r.t, log, bracketed("one"))
	kill(r.t, panePID(look))
	return r.dies(name)
}

func (r *rig) respawn(l Look, change ...func(*Spawn)) (Look, Outcome, error) {
	sp := Spawn{Owner: l.Owner, HarnessSession: "second", Mark: Mark("two"), Retain: true, Order: r.order(r.logPath())}
	sp.Order.Prompt = "two"
	for _, c := range change {
		c(&sp)
	}
	return r.Respawn(r.t.Context(), l, sp)
}

// D5: a dead pane is started again in place: same pane, same ring, new identity, the new mark unproved.
func TestD5Respawn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.dead("loop-a")
	if dead.ExitStatus != "signal 9" || !dead.Proves(Mark("one")) {
		t.Errorf("%+v", dead)
	}
	if _, outcome, err := r.respawn(dead, func(s *Spawn) { s.Mark = Mark("one") }); outcome != Skip || err != nil {
		t.Errorf("with a mark that the ring has: %v %v", outcome, err)
	}
	look, outcome, err := r.respawn(dead)
	if outcome != OK {
		t.Fatal(outcome, err)
	}
	if look.PaneID != dead.PaneID || look.Identity == dead.Identity || look.State != Live || look.HarnessSession != "second" {
		t.Errorf("%+v", look)
	}
	if !slices.Equal(look.Ring, []string{Mark("one"), "_" + Mark("two")}) {
		t.Errorf("ring %q", look.Ring)
	}
	for name, l := range map[string]Look{"a live pane": look, "the dead pane, again": dead} {
		if _, outcome, err := r.respawn(l); outcome != Skip || err != nil {
			t.Errorf("%s: %v %v", name, outcome, err)
		}
	}
}

// D5: a first prompt that was not proved proves nothing once the pane is dead, and is sent again; after a Forget the ring
// is emptied.
func TestD5UnprovedAndForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _, _ := r.respawn(r.dead("loop-a"))
	if !look.Proves(Mark("two")) {
		t.Error("on a live pane an unproved mark counts")
	}
	kill(t, panePID(look))
	dead := r.dies("loop-a")
	if dead.Proves(Mark("two")) || !dead.Proves(Mark("one")) {
		t.Errorf("on a dead pane only a proved one does: %q", dead.Ring)
	}
	look, outcome, err := r.respawn(dead)
	if outcome != OK {
		t.Fatal(outcome, err)
	}
	kill(t, panePID(look))
	look, outcome, err = r.respawn(r.dies("loop-a"), func(s *Spawn) { s.EmptyRing, s.Mark, s.HarnessSession = true, Mark("one"), "" })
	if outcome != OK {
		t.Fatal(outcome, err)
	}
	if !slices.Equal(look.Ring, []string{"_" + Mark("one")}) || look.HarnessSession != "" {
		t.Errorf("ring %q, session %q", look.Ring, look.HarnessSession)
	}
}

// D5: not ours, not dead, not the one looked at: nothing happens.
func TestD5RespawnRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.dead("loop-a")
	other := dead
	other.Identity += "1"
	for name, try := range map[string]func() (Look, Outcome, error){
		"owner":    func() (Look, Outcome, error) { return r.respawn(dead, func(s *Spawn) { s.Owner = owner("loop-b") }) },
		"identity": func() (Look, Outcome, error) { return r.respawn(other) },
	} {
		if _, outcome, err := try(); outcome != Skip || err != nil {
			t.Errorf("%s: %v %v", name, outcome, err)
		}
	}
	if now := r.lookAt("loop-a"); now.State != Dead || len(now.Ring) != 1 {
		t.Errorf("%+v", now)
	}
	if left := r.tmux("list-buffers"); left != "" {
		t.Errorf("buffers left: %s", left)
	}
}

// D5: proving takes the "_" away, once the pane lives and not otherwise.
func TestD5Prove(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _, _ := r.respawn(r.dead("loop-a"))
	for range 2 {
		if err := r.Prove(t.Context(), look, look.Owner, Mark("two")); err != nil {
			t.Fatal(err)
		}
	}
	if ring := r.lookAt("loop-a").Ring; !slices.Equal(ring, []string{Mark("one"), Mark("two")}) {
		t.Errorf("ring %q", ring)
	}
	if err := r.Prove(t.Context(), look, look.Owner, Mark("three")); !errors.Is(err, ErrRefused) {
		t.Errorf("a mark that is not there: %v", err)
	}
	if err := r.Prove(t.Context(), look, owner("loop-b"), Mark("two")); !errors.Is(err, ErrRefused) {
		t.Errorf("not ours: %v", err)
	}
	kill(t, panePID(look))
	if err := r.Prove(t.Context(), r.dies("loop-a"), look.Owner, Mark("two")); !errors.Is(err, ErrRefused) {
		t.Errorf("a dead pane: %v", err)
	}
}

// D5: an unmarked session is stamped; another's is not.
func TestD5Adopt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	log := r.logPath()
	r.tmux("new-session", "-d", "-s", "loop-a", harnessPath, "-log", log, "-session-id", "abc-1")
	records(t, log, func(rs []harnesslog.Record) bool { return len(rs) > 1 })
	look := r.lookAt("loop-a")
	if look.State != Live || look.Owner != "" {
		t.Fatalf("%+v", look)
	}
	if outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: owner("loop-a"), Mark: Mark("1"), Text: []byte("x")}); outcome != Skip {
		t.Errorf("typed into an unmarked pane: %v %v", outcome, err)
	}
	for range 2 {
		if err := r.Adopt(t.Context(), look, owner("loop-a"), "abc-1", []string{Mark("1")}); err != nil {
			t.Fatal(err)
		}
	}
	now := r.lookAt("loop-a")
	if now.Owner != owner("loop-a") || now.HarnessSession != "abc-1" || !now.Proves(Mark("1")) {
		t.Errorf("%+v", now)
	}
	if err := r.Adopt(t.Context(), now, owner("loop-b"), "abc-1", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("adopted what is another's: %v", err)
	}
	stale := now
	stale.Identity += "1"
	if err := r.Adopt(t.Context(), stale, owner("loop-a"), "abc-1", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("adopted another pane: %v", err)
	}
	if outcome, err := r.paste(now, "2", "two"); outcome != OK {
		t.Error(outcome, err)
	}
}

package record

import (
	"slices"
	"time"
)

// PaneState is what tmux says of an item's session (D4).
type PaneState string

// The answers of tmux. Unknown means that it did not answer: nothing is
// spawned, retried or given up on it. Foreign is a session of our name that is
// not ours (D5), or a harness that goes on although its pane is gone (D2).
const (
	PaneNone    PaneState = "none"
	PaneLive    PaneState = "live"
	PaneDead    PaneState = "dead"
	PaneAbsent  PaneState = "absent"
	PaneUnknown PaneState = "unknown"
	PaneForeign PaneState = "foreign"
)

// Pane is one look at an item's session.
type Pane struct {
	State PaneState
	// ID is the tmux id (%N), Identity the life it belongs to.
	ID       string
	Identity string
	// Ring holds the marks of what was put into this pane, oldest first. A mark
	// with a leading underscore belongs to a spawn that has not proved itself.
	Ring []string
	// HarnessSessionID is the conversation the session was made for.
	HarnessSessionID string
	// Adoptable says that the session carries our owner mark, or that it is the
	// unmarked one that the session row names (D5).
	Adoptable bool
	// Holder names what holds a foreign session's name, for people. Remedy says what
	// ends that, when it is neither to rename it nor to take it over.
	Holder, Remedy string
}

// Proof is what a look at the pane says of an attempt in hand.
type Proof string

// The verdicts on an attempt.
const (
	// Undecided: tmux is unknown, or the deadline has not passed (B2, D3).
	Undecided Proof = "undecided"
	// ProvedSent: the mark is in the ring.
	ProvedSent Proof = "mark"
	// NeverStarted: nothing of it can have reached tmux.
	NeverStarted Proof = "never-started"
	// ProvedUnsent: the pane it was started on lives on without the mark.
	ProvedUnsent Proof = "unsent"
	// Unproved: the pane it was started on is gone, or died with the first prompt.
	Unproved Proof = "none"
)

// Judge holds an attempt against a look at its pane (B2, B8). now is a time from
// before the look: a paste may land between the two, and a deadline that passed
// only after the look proves nothing.
func Judge(d Delivery, pane Pane, now time.Time) Proof {
	switch {
	case d.DeliveryID != "" && pane.proves(d):
		return ProvedSent
	case !d.Started():
		return NeverStarted
	case pane.State == PaneUnknown, !now.After(d.Until):
		return Undecided
	case pane.State == PaneDead && slices.Contains(pane.Ring, "_"+Mark(d.DeliveryID)):
		return Unproved // it died with the first prompt (D5)
	case (pane.State == PaneLive || pane.State == PaneDead) && d.StartedOn == pane.Identity:
		return ProvedUnsent
	}
	return Unproved
}

// proves reports whether the ring shows an attempt to have arrived: by its plain
// mark, and while the harness lives that it was to start, by a provisional one
// (D5). A pane that is used again keeps its ring: a provisional mark on the life
// that an attempt was started on, or of an attempt that has not started, was left
// by an earlier one whose harness died.
func (p Pane) proves(d Delivery) bool {
	mark := Mark(d.DeliveryID)
	switch p.State {
	case PaneLive:
		return slices.Contains(p.Ring, mark) ||
			d.Started() && d.StartedOn != p.Identity && slices.Contains(p.Ring, "_"+mark)
	case PaneDead:
		return slices.Contains(p.Ring, mark) && !p.Stale(d)
	}
	return false
}

// Stale reports whether what a dead pane's ring may hold of an attempt is an
// earlier one's. The numbers of spawns begin anew with a ledger that is put back,
// and 90 days behind an item that was forgotten, and a pane that was kept still has
// the mark of the first; a spawn that started has begun another life than the one
// that it found dead (D5).
func (p Pane) Stale(d Delivery) bool {
	_, comment := DeliveryComment(d.DeliveryID)
	return p.State == PaneDead && !comment && (!d.Started() || d.StartedOn == p.Identity)
}

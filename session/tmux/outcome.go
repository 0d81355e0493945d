package tmux

import "time"

// Outcome is how a sequence with a guard ended.
type Outcome int

const (
	// Unknown means that it may have happened, or may happen until the deadline has passed (B9, D3).
	Unknown Outcome = iota
	// OK means that it happened.
	OK
	// Skip proves that nothing happened, now or later.
	Skip
)

func (o Outcome) String() string { return [...]string{"unknown", "ok", "skip"}[o] }

// Span is when a sequence may take effect: from a second before Start until a second before Until, in whole seconds of
// the server's clock, so that nothing lands once Until has passed by anybody's (D3). The caller commits it before the call. Zero fields are filled in: now, and DeadlineAfter later.
type Span struct{ Start, Until time.Time }

func (s *Server) span(w Span) Span {
	if w.Start.IsZero() {
		w.Start = s.now()
	}
	if w.Until.IsZero() {
		w.Until = w.Start.Add(DeadlineAfter)
	}
	return w
}

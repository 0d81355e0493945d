package poller

import (
	"context"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// Ledger keeps the records. record.ErrChanged and record.ErrUnknown are what a
// commit may answer. Rows that do not decode are record.RowFaults; a list that
// comes back with nothing else is that of the others.
type Ledger interface {
	Record(context.Context, workitem.Ref) (record.Record, error)
	Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error)
	// Unfinished returns the items that something is open or owed for, or that
	// have a session that is not closed, in key order.
	Unfinished(context.Context) ([]workitem.Ref, error)
	// Known returns the items of a source that are not sealed, in key order.
	Known(ctx context.Context, source string) ([]workitem.Ref, error)
	// CommitBoth is Commit for a pull request and its target, in one transaction
	// (F1); with no changes the revision alone is relied on (F7).
	CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
		target workitem.Ref, targetRev uint64, targetChanges []record.Change,
	) (applied, targetApplied []record.Change, err error)
	Release(context.Context, []record.Held) ([]record.Held, error)
	// Sources returns what EndCycle wrote of each source, by id. Beside an error
	// there are those that can be read.
	Sources(context.Context) (map[string]record.SourceRow, error)
	EndCycle(context.Context, record.Cycle, []record.SourceRow) error
}

// Source is one repository, or one folder, that work items come from.
type Source interface {
	ID() string
	// List returns every open item in scope or an error, never a short list (P1).
	List(context.Context) (workitem.Listing, error)
	// Comments returns the whole thread of an item, in thread order (P2).
	Comments(context.Context, workitem.Item) ([]workitem.Comment, error)
	// State asks for one item by number. workitem.ErrGone says that it is proved
	// to exist no more; any other error is no answer (P8).
	State(context.Context, workitem.Ref) (workitem.Item, error)
}

// Linker is a Source that has pull requests.
type Linker interface {
	// Links returns what a pull request points at, or an error when that was not
	// answered (P3).
	Links(context.Context, workitem.Item) (workitem.Links, error)
}

// Closer is a Source that finds pull requests by what they close.
type Closer interface {
	// Closing returns every open pull request that closes one of the items, or an
	// error (P1).
	Closing(context.Context, []workitem.Ref) ([]workitem.Linked, error)
}

// Sessions looks at the agent sessions of this machine.
type Sessions interface {
	Look(context.Context, workitem.Ref, record.Record) record.Pane
	// Live counts the sessions of this ledger whose pane is alive. It errs when
	// tmux does not answer.
	Live(context.Context) (int, error)
}

// Queue holds the work of each session, first in, first out (D1).
type Queue interface {
	// Held returns the ids of what is queued or running for an item's session.
	Held(workitem.Ref) []string
	// Put queues an effect. It refuses an id that it holds already (F7), and
	// everything once it was stopped.
	Put(Effect) bool
}

// Emit writes one event of the decision trail (R2). It never blocks or fails.
type Emit func(event string, fields map[string]any)

// Facts is what a decision rests on beside the tracker and the ledger. They
// were read in the order of B9: ledger, in flight, tmux.
type Facts struct {
	Now     time.Time
	Run     string
	Version string
	Policy  policy.Policy
	// TooLong says whether a text is longer than what is sent whole (A5). Pure.
	TooLong func(body string) bool
	// Host is this machine's id: a session row of another counts as none.
	Host string
	// Target is whose session it is: zero, unless the item is a pull request that
	// belongs to another one (P3). Link is what is to be recorded of that.
	Target Target
	Link   *record.Link
	// Pane is the target's, Held are the ids of what is queued or running for it.
	Pane record.Pane
	Held map[string]bool
	// Room is how many more sessions may come up (D1).
	Room int
	// Listed is the tracker's clock when the listing that holds the item began;
	// zero when there was none, or when no care is needed.
	Listed time.Time
	// Noticed are the notices, by the id of their effect, that were asked for in
	// this run: each is tried once (B3).
	Noticed map[string]bool
	// Gone says that the item is proved to exist no more: nothing can be posted.
	Gone bool
	// Unlisted says that the source does not list the item, Resync that it is time
	// to read it although nothing says that it changed.
	Unlisted, Resync bool
}

// EffectKind is what an effect does.
type EffectKind string

// The effects of a decision. Each is one job in its session's queue.
const (
	DoDeliver EffectKind = "deliver"
	DoSpawn   EffectKind = "spawn"
	DoClose   EffectKind = "close"
	DoAdopt   EffectKind = "adopt"
	DoNotice  EffectKind = "notice"
)

// Effect is one piece of work that a committed decision asks for.
type Effect struct {
	Kind EffectKind
	// ID names the effect in its session's queue: the delivery id, or the kind for
	// what an item has one of at a time.
	ID string
	// Ref is the item whose row pays for it, Session the one whose session and
	// queue it is for; zero for Ref's own (P3).
	Ref     workitem.Ref
	Session workitem.Ref
	Item    workitem.Item
	// Comment is what a delivery carries; of a notice, its ID alone.
	Comment workitem.Comment
	// Thread is the comments whose rows are resolved, as of the decision, in thread
	// order: what a first prompt may tell beside the item. Who of them is carried
	// and who is only counted is the prompt's business (D10).
	Thread []workitem.Comment
	// NewSession says that the effect brings a session up (D1).
	NewSession bool
	// Reason says why a session is closed.
	Reason string
}

// Event is one entry of the decision trail, written once its decision is
// committed.
type Event struct {
	Name   string
	Fields map[string]any
}

// Decision is what is done about one item.
type Decision struct {
	Changes []record.Change
	// OfTarget are the changes to the record of a pull request's target.
	OfTarget []record.Change
	Effects  []Effect
	Events   []Event
	// Occupied names what holds the name of the item's session and is not ours,
	// while something waits for it (D5), and Remedy what ends that, when it is not the
	// usual way.
	Occupied, Remedy string
	// Waits says that something is not queued because too many sessions live (D1).
	Waits bool
}

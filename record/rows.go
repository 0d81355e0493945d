package record

import (
	"encoding/json"
	"slices"
	"time"

	"theloop/workitem"
)

// Record is everything the ledger holds about one work item. The zero Record
// is an item nobody has seen. Records are values: Apply never writes into one.
type Record struct {
	Item     Item
	Comments Thread
	// Session is nil when the item has none on any machine.
	Session *Session
	// Link says which item's session a pull request belongs to (P3); nil when
	// nothing was decided.
	Link *Link
}

// Item is the row of a work item. Times are UTC.
type Item struct {
	Ref          string        `json:"ref"`
	URL          string        `json:"url,omitempty"`
	Kind         workitem.Kind `json:"kind,omitempty"`
	Title        string        `json:"title,omitempty"`
	Author       string        `json:"author,omitempty"`
	AuthorID     int64         `json:"authorId,omitempty"`
	Source       string        `json:"source,omitempty"`
	UpdatedAt    time.Time     `json:"updatedAt,omitzero"`
	CommentCount int           `json:"commentCount,omitempty"`
	// ReadAt is when the thread was last read from the tracker.
	ReadAt time.Time `json:"readAt,omitzero"`
	// FirstSeenAt is empty until the first sight was committed (X1).
	FirstSeenAt time.Time `json:"firstSeenAt,omitzero"`
	// Rev counts the commits on this item; a commit names the one it was decided
	// on (F7).
	Rev     uint64   `json:"rev"`
	Control *Control `json:"control,omitempty"`
	Spawn   Spawn    `json:"spawn,omitzero"`
	// Withheld is the author whose item was already reported as not startable by
	// the poller itself (A4: once per item and author).
	Withheld string          `json:"withheld,omitempty"`
	Graph    json.RawMessage `json:"graph,omitempty"`
	// Sections keeps how an imported record was written, so that export gives the
	// same document back.
	Sections json.RawMessage            `json:"sections,omitempty"`
	Extra    map[string]json.RawMessage `json:"extra,omitempty"`
	// OffListAt is when the item was found open but no longer listed (P8).
	OffListAt time.Time `json:"offListAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// LateUntil is the time of the newest comment row that was removed; a comment
	// at or below it without a row is baselined as late.
	LateUntil time.Time `json:"lateUntil,omitzero"`
	// InlineUntil is when an earlier release looked last that did not read inline
	// review comments: those up to then without a row are late as well.
	InlineUntil time.Time `json:"inlineUntil,omitzero"`
	Counts      Counts    `json:"counts,omitzero"`
}

// Late reports whether a comment without a row was dealt with before the ledger
// can tell.
func (i Item) Late(at time.Time, inline bool) bool {
	return !at.After(i.LateUntil) || inline && !at.After(i.InlineUntil)
}

// Known reports whether the item's first sight was committed.
func (i Item) Known() bool { return !i.FirstSeenAt.IsZero() }

// Ended reports whether the item has ended and its rows still stand.
func (i Item) Ended() bool { return !i.EndedAt.IsZero() && i.Known() }

// Sealed reports whether the item has ended and was forgotten but for its
// tombstone (P8).
func (i Item) Sealed() bool { return !i.EndedAt.IsZero() && !i.Known() }

// Counts says how many comment rows are in which state.
type Counts struct {
	Baselined int `json:"baselined,omitempty"`
	Pending   int `json:"pending,omitempty"`
	Delivered int `json:"delivered,omitempty"`
	Settled   int `json:"settled,omitempty"`
	GaveUp    int `json:"gaveUp,omitempty"`
}

// Control is the last command recorded for an item (X4). After an ending it is
// history and starts nothing (P8).
type Control struct {
	Command string `json:"command"`
	// Source is where the command came from: comment or cli.
	Source      string    `json:"source"`
	Actor       string    `json:"actor,omitempty"`
	ActorID     int64     `json:"actorId,omitempty"`
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	// Note is the link to the comment, empty for a command given here.
	Note string `json:"note,omitempty"`
	// Served is set once a session came up for an arming command; only an
	// unserved one is owed a session (X7).
	Served bool                       `json:"served,omitempty"`
	Extra  map[string]json.RawMessage `json:"extra,omitempty"`
}

// Arming reports whether the command lets a session run (X4). A nil control
// arms nothing.
func (c *Control) Arming() bool {
	if c == nil {
		return false
	}
	switch c.Command {
	case "start", "resume", "do", "contribute":
		return true
	}
	return false
}

// CleansUp reports whether the command is that the conversation is not gone on with
// once its session is closed (X4). A nil control says nothing.
func (c *Control) CleansUp() bool { return c != nil && c.Command == "cleanup" }

// Delivery is what the rows of comments and of spawns have in common: the
// attempts spent, and what is durable about the one in hand.
type Delivery struct {
	Attempts   int    `json:"attempts,omitempty"`
	DeliveryID string `json:"deliveryId,omitempty"`
	// Run is the process that spent the attempt in hand; empty when none is. One
	// that has not started is used again by the next decision, not counted again
	// (B1).
	Run string `json:"run,omitempty"`
	// StartedOn is the identity of the pane that the attempt was started on, or
	// OnNewPane; empty while it has not started (B8).
	StartedOn string `json:"startedOn,omitempty"`
	// Until is the deadline of the tmux call, in whole seconds (D3). No verdict
	// falls before it has passed.
	Until time.Time `json:"until,omitzero"`
	// MayRepeat says that an earlier attempt could not be shown to have failed.
	// Only proof of delivery clears it (B8, I11).
	MayRepeat bool `json:"mayRepeat,omitempty"`
	// Notice is owed or posted once the delivery was given up (B3), or settled as
	// too long (A5).
	Notice string `json:"notice,omitempty"`
}

// OnNewPane is the StartedOn of an attempt that makes its session.
const OnNewPane = "new"

// The values of Delivery.Notice.
const (
	NoticeOwed   = "owed"
	NoticePosted = "posted"
)

// InHand reports whether an attempt is spent that has no outcome yet.
func (d Delivery) InHand() bool { return d.Run != "" }

// Started reports whether the attempt in hand may have reached tmux.
func (d Delivery) Started() bool { return d.StartedOn != "" }

// InHand reports whether any attempt of the item is in hand: at its spawn, or at
// one of its comments.
func (r Record) InHand() bool {
	return r.Item.Spawn.Delivery.InHand() || slices.ContainsFunc(r.Comments.Pending(), func(c Comment) bool { return c.InHand() })
}

// Comment is the row of a comment that the poller has dealt with.
type Comment struct {
	ID      string `json:"id"`
	State   State  `json:"state"`
	Outcome string `json:"outcome,omitempty"`
	Delivery
	Author     string           `json:"author,omitempty"`
	AuthorID   int64            `json:"authorId,omitempty"`
	SHA256     string           `json:"sha256,omitempty"`
	URL        string           `json:"url,omitempty"`
	At         time.Time        `json:"at,omitzero"`
	Surface    workitem.Surface `json:"surface,omitempty"`
	DatabaseID int64            `json:"databaseId,omitempty"`
	// Version is the release that gave the comment up (B7), or that settled it with
	// a notice (A5).
	Version string `json:"version,omitempty"`
	// Ran is the control word that this row has already run (X6).
	Ran string `json:"ran,omitempty"`
	Seq uint64 `json:"seq"`
}

// Position returns where the comment stands in its thread (P2).
func (c Comment) Position() workitem.Position {
	return workitem.Position{At: c.At, Surface: c.Surface, DatabaseID: c.DatabaseID, ID: c.ID}
}

// Spawn is the budget of sessions that no comment asks for (B6).
type Spawn struct {
	Delivery
	GaveUp bool `json:"gaveUp,omitempty"`
	// N numbers the spawns of the item and is never reset, so that no delivery id
	// comes twice; what an item leaves that is forgotten keeps it (Session.Spawns).
	N uint64 `json:"n,omitempty"`
	// Version is the release that gave the spawn up.
	Version string `json:"version,omitempty"`
}

// Status is what a session row says of its conversation.
type Status string

// The states of a session row. Active with its pane gone is a session that
// ended by itself; the next delivery brings it back.
const (
	Active Status = "active"
	Paused Status = "paused"
	Shut   Status = "closed"
)

// Session is the handle to a conversation on one machine.
type Session struct {
	Harness          string `json:"harness"`
	HarnessSessionID string `json:"harnessSessionId,omitempty"`
	Cwd              string `json:"cwd,omitempty"`
	TmuxTarget       string `json:"tmuxTarget,omitempty"`
	// Pane is the tmux id (%N) and Identity the life of the pane that the session
	// was last seen in.
	Pane     string `json:"pane,omitempty"`
	Identity string `json:"identity,omitempty"`
	// Until is the deadline of a close that tmux did not answer.
	Until       time.Time `json:"until,omitzero"`
	Status      Status    `json:"status"`
	CreatedAt   time.Time `json:"createdAt,omitzero"`
	LastEventAt time.Time `json:"lastEventAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`
	// Announced is the delivery id whose announcement stands on the item, or, behind
	// the word "owed ", the one whose announcement is still to be posted (D12).
	Announced string `json:"announced,omitempty"`
	// Spawns is Spawn.N of an item that was forgotten: this row outlives it, and the
	// numbers go on with its next life (D5).
	Spawns uint64 `json:"spawns,omitempty"`
	// Host is the machine's id: a row of another machine counts as no session.
	Host  string                     `json:"host,omitempty"`
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Open reports whether the row names a conversation that is not closed. A nil
// session is not open.
func (s *Session) Open() bool { return s != nil && s.Status != Shut }

// spawns is how far the spawns of the item are numbered, in this life or before.
func (r Record) spawns() uint64 {
	if r.Session == nil {
		return r.Item.Spawn.N
	}
	return max(r.Item.Spawn.N, r.Session.Spawns)
}

// Bygone reports whether the session row is of a conversation from before the
// item's first sight: the item had ended, was forgotten and is open again. Such
// a conversation is never gone on with (P8).
func (r Record) Bygone() bool {
	s, seen := r.Session, r.Item.FirstSeenAt
	if s == nil || s.Status != Shut {
		return false
	}
	if s.EndedAt.IsZero() {
		return s.CreatedAt.Before(seen)
	}
	return !s.EndedAt.After(seen)
}

// Here reports whether the session row is of this machine, as far as either
// says. A row of another machine counts as none.
func (s *Session) Here(host string) bool {
	return s != nil && (s.Host == "" || host == "" || s.Host == host)
}

// Link says which item's session a pull request's comments go to (P3).
type Link struct {
	Target string    `json:"target"`
	Since  time.Time `json:"since,omitzero"`
	Source string    `json:"source,omitempty"`
	Ended  bool      `json:"ended,omitempty"`
}

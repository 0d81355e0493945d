package record

import (
	"time"

	"theloop/workitem"
)

// Change is one step on a record. Changes that name a comment take the id in
// Comment; for those that apply to spawns as well, an empty Comment means the
// item's spawn row.
type Change interface {
	apply(*Record) (changed bool, err error)
}

// Note is what a comment's row keeps of the comment itself.
type Note struct {
	ID         string
	Author     workitem.Author
	SHA256     string
	URL        string
	At         time.Time
	Surface    workitem.Surface
	DatabaseID int64
}

type (
	// Observe keeps what the tracker says of the item. A zero UpdatedAt keeps the
	// one that is there (P1: what may not be remembered).
	Observe struct {
		Item      workitem.Item
		UpdatedAt time.Time
		// ReadAt is when the thread was read. By itself it is no reason to write
		// (F6), unless Resync says that the full resync was due.
		ReadAt time.Time
		Resync bool
		// OffListAt is when the open item was last found not to be listed; zero for
		// one that is (P8).
		OffListAt time.Time
	}
	// FirstSeen commits the first sight of an item (X1).
	FirstSeen struct{ At time.Time }
	// Withhold notes that the item's author was reported as one whose items the
	// poller does not start by itself (A4).
	Withhold struct{ Author string }

	// Baseline marks a comment as seen and not to be sent.
	Baseline struct {
		Note    Note
		Outcome string
	}
	// Hold makes a comment's row pending: it is to be delivered, and nothing is
	// spent on it yet.
	Hold struct {
		Note Note
		// Command is the control word that goes with the words to be sent (X6).
		Command string
	}
	// Queue spends an attempt on a pending comment, or takes up again one that was
	// spent and never started (B1).
	Queue struct {
		Comment    string
		DeliveryID string
		Run        string
	}
	// Settle finishes with a comment on purpose. An attempt that has not started
	// comes back (X5).
	Settle struct {
		Note    Note
		Outcome string
		// Command is the control word that the comment ran, if any (X6).
		Command string
		// Version is the release that settles it with an outcome that is to be said on
		// the item: the notice is owed with the same change (A5). Empty for the others.
		Version string
	}
	// Revise keeps the new text of a pending comment that was edited (A6), and the
	// control word that the new text ran, if any.
	Revise struct {
		Note    Note
		Command string
	}
	// GiveUp ends a comment whose budget is spent and owes its notice (B2, B3).
	GiveUp struct {
		Comment string
		Version string
	}
	// Rearm makes a comment that another release gave up pending again, with a
	// full budget (B7).
	Rearm struct{ Comment string }

	// QueueSpawn spends an attempt on a session that is owed without a comment, or
	// takes up again one that never started (B6).
	QueueSpawn struct {
		DeliveryID string
		Run        string
	}
	// GiveUpSpawn ends the spawn budget and owes its notice (B6).
	GiveUpSpawn struct{ Version string }
	// ResetSpawn gives the spawn budget back because something new was said (B6).
	ResetSpawn struct{}

	// Start marks an attempt as started, the last thing before tmux (B8).
	Start struct {
		Comment string
		On      string
		Until   time.Time
	}
	// Unstart takes a start back after proof that nothing was sent (D3); with
	// GiveBack the attempt comes back as well (B4).
	Unstart struct {
		Comment  string
		GiveBack bool
	}
	// Deliver is the outcome of an attempt that is proved (D7).
	Deliver struct{ Comment string }
	// Fail ends an attempt without a delivery. MayRepeat says that it could not be
	// shown that nothing arrived.
	Fail struct {
		Comment   string
		MayRepeat bool
	}
	// Release gives an attempt back that has not started, if its delivery id is
	// still this one (B4). Anything else is left as it is.
	Release struct {
		Comment    string
		DeliveryID string
	}
	// PostNotice records that the notice which a row owes stands on the item (B3, A5).
	PostNotice struct{ Comment string }

	// Command records a control word (X4).
	Command struct{ Control Control }
	// Serve says that the recorded start had its session (X7).
	Serve struct{}
	// PutSession writes the session row.
	PutSession struct{ Session Session }
	// SetStatus changes the session row's status; At becomes EndedAt of a closed
	// one.
	SetStatus struct {
		Status Status
		At     time.Time
	}
	// DropSession removes the row of a closed session, so that nothing of the
	// conversation is gone on with (X4, cleanup).
	DropSession struct{}
	// Announce keeps which delivery's announcement stands on the item (D12).
	Announce struct{ DeliveryID string }
	// PutLink records which item's session a pull request belongs to (P3).
	PutLink struct{ Link Link }

	// End says that the item has ended: nothing new starts (P8).
	End struct{ At time.Time }
	// Forget removes an ended item's rows but for its tombstone (P8). The session
	// row stays.
	Forget struct{}
	// Import writes a record of an earlier release whole. It is illegal on an item
	// that is there, unless Overwrite says so. Nobody writes into its comments any
	// more.
	Import struct {
		Item      Item
		Comments  []Comment
		Session   *Session
		Link      *Link
		Overwrite bool
	}
)

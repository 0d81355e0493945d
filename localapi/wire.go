package localapi

import (
	"encoding/json"
	"time"

	"theloop/record"
)

// Time is a moment as the documents carry it: RFC 3339 in UTC, null when there
// is none.
type Time struct{ time.Time }

// timeForm is how a moment is written, with its quotes.
const timeForm = `"` + time.RFC3339 + `"`

// MarshalJSON writes the time in whole seconds, or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(timeForm)), timeForm), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Time) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		t.Time = time.Time{}
		return nil
	}
	return json.Unmarshal(data, &t.Time)
}

// Item is everything about one work item, as `ledger inspect` answers it.
type Item struct {
	Ref          string   `json:"ref"`
	URL          string   `json:"url"`
	Kind         string   `json:"kind"`
	Title        string   `json:"title"`
	Author       string   `json:"author"`
	State        string   `json:"state"`
	UpdatedAt    Time     `json:"updatedAt"`
	FirstSeenAt  Time     `json:"firstSeenAt"`
	LastPolledAt Time     `json:"lastPolledAt"`
	OffListAt    Time     `json:"offListAt"`
	EndedAt      Time     `json:"endedAt"`
	Control      *Control `json:"control"`
	Spawn        Spawn    `json:"spawn"`
	Session      *Session `json:"session"`
	Target       *string  `json:"target"`
	// Lapsed is the target that was recorded, when that takes nothing more.
	Lapsed   *string         `json:"lapsedTarget,omitempty"`
	Comments []Comment       `json:"comments"`
	Graph    json.RawMessage `json:"graph"`
}

// Control is the last command recorded for an item.
type Control struct {
	Command     string `json:"command"`
	Source      string `json:"source"`
	Actor       string `json:"actor"`
	RequestedAt Time   `json:"requestedAt"`
	Note        string `json:"note"`
	Served      bool   `json:"served"`
}

// Spawn is the budget of sessions that no comment asked for.
type Spawn struct {
	Attempts   int    `json:"attempts"`
	GaveUp     bool   `json:"gaveUp"`
	DeliveryID string `json:"deliveryId"`
}

// Session is the conversation of an item. Status is elsewhere when the row is
// another machine's.
type Session struct {
	Status           string `json:"status"`
	Harness          string `json:"harness"`
	HarnessSessionID string `json:"harnessSessionId"`
	TmuxTarget       string `json:"tmuxTarget"`
	Cwd              string `json:"cwd"`
	CreatedAt        Time   `json:"createdAt"`
	LastEventAt      Time   `json:"lastEventAt"`
}

// Comment is what has become of one comment.
type Comment struct {
	ID         string `json:"id"`
	State      string `json:"state"`
	Attempts   int    `json:"attempts"`
	DeliveryID string `json:"deliveryId"`
	Outcome    string `json:"outcome"`
	Author     string `json:"author"`
	URL        string `json:"url"`
	At         Time   `json:"at"`
	Version    string `json:"version"`
	MayRepeat  bool   `json:"mayRepeat"`
	Notice     string `json:"notice"`
}

// Elsewhere is the status of a session row that another machine made.
const Elsewhere = "elsewhere"

// Describe makes the document of a record. polled is when the item's source was
// last listed completely; host is this machine's id.
func Describe(rec record.Record, polled time.Time, host string) Item {
	i := rec.Item
	doc := Item{
		Ref: i.Ref, URL: i.URL, Kind: string(i.Kind), Title: i.Title, Author: i.Author, State: state(i),
		UpdatedAt: Time{i.UpdatedAt}, FirstSeenAt: Time{i.FirstSeenAt}, LastPolledAt: Time{later(i.ReadAt, polled)},
		OffListAt: Time{i.OffListAt}, EndedAt: Time{i.EndedAt},
		Spawn:    Spawn{Attempts: i.Spawn.Attempts, GaveUp: i.Spawn.GaveUp, DeliveryID: i.Spawn.DeliveryID},
		Comments: []Comment{}, Graph: i.Graph,
	}
	if len(doc.Graph) == 0 {
		doc.Graph = json.RawMessage("null")
	}
	if c := i.Control; c != nil {
		doc.Control = &Control{c.Command, c.Source, c.Actor, Time{c.RequestedAt}, c.Note, c.Served}
	}
	doc.Target = target(rec)
	doc.Session = describeSession(rec.Session, host)
	for _, row := range rec.Comments.All() {
		doc.Comments = append(doc.Comments, Comment{
			ID: row.ID, State: string(row.State), Attempts: row.Attempts, DeliveryID: row.DeliveryID,
			Outcome: row.Outcome, Author: row.Author, URL: row.URL, At: Time{row.At}, Version: row.Version,
			MayRepeat: row.MayRepeat, Notice: row.Notice,
		})
	}
	return doc
}

func target(rec record.Record) *string {
	if rec.Link == nil || rec.Link.Ended {
		return nil
	}
	return &rec.Link.Target
}

func describeSession(s *record.Session, host string) *Session {
	if s == nil {
		return nil
	}
	status := string(s.Status)
	if !s.Here(host) {
		status = Elsewhere
	}
	return &Session{
		Status: status, Harness: s.Harness, HarnessSessionID: s.HarnessSessionID, TmuxTarget: s.TmuxTarget,
		Cwd: s.Cwd, CreatedAt: Time{s.CreatedAt}, LastEventAt: Time{s.LastEventAt},
	}
}

func state(i record.Item) string {
	switch {
	case i.Sealed():
		return "sealed"
	case !i.EndedAt.IsZero():
		return "ended"
	case !i.OffListAt.IsZero():
		return "off-list"
	case !i.Known():
		return "not seen yet"
	}
	return "open"
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Summary is one line of `ledger list`.
type Summary struct {
	Ref     string `json:"ref"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Command string `json:"command"`
	Session string `json:"session"`
	// Target is the item that a pull request's comments go to (P3); null when they
	// go nowhere else.
	Target    *string `json:"target"`
	Pending   int     `json:"pending"`
	Delivered int     `json:"delivered"`
	GaveUp    int     `json:"gaveUp"`
	// SpawnGaveUp says that the start of its session was given up (B6).
	SpawnGaveUp bool `json:"spawnGaveUp"`
	UpdatedAt   Time `json:"updatedAt"`
}

// Summarize makes the line of a record.
func Summarize(rec record.Record, host string) Summary {
	s := Summary{
		Target: target(rec),
		Ref:    rec.Item.Ref, URL: rec.Item.URL, Title: rec.Item.Title, State: state(rec.Item), UpdatedAt: Time{rec.Item.UpdatedAt},
		Pending: rec.Item.Counts.Pending, Delivered: rec.Item.Counts.Delivered, GaveUp: rec.Item.Counts.GaveUp,
		SpawnGaveUp: rec.Item.Spawn.GaveUp,
	}
	if rec.Item.Control != nil {
		s.Command = rec.Item.Control.Command
	}
	if session := describeSession(rec.Session, host); session != nil {
		s.Session = session.Status
	}
	return s
}

// Summary is the line of the same item in a list. It counts the comments that the
// document holds: old ones may have been removed.
func (i Item) Summary() Summary {
	s := Summary{
		Ref: i.Ref, URL: i.URL, Title: i.Title, State: i.State, Target: i.Target, UpdatedAt: i.UpdatedAt,
		SpawnGaveUp: i.Spawn.GaveUp,
	}
	if i.Control != nil {
		s.Command = i.Control.Command
	}
	if i.Session != nil {
		s.Session = i.Session.Status
	}
	for _, c := range i.Comments {
		switch c.State {
		case string(record.Pending):
			s.Pending++
		case string(record.Delivered):
			s.Delivered++
		case string(record.GaveUp):
			s.GaveUp++
		}
	}
	return s
}

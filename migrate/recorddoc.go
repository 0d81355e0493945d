package migrate

import (
	"time"

	"theloop/record"
)

// The names of sections that have a row of their own in the ledger.
const (
	controlKey = "control"
	pollKey    = "poll"
	graphKey   = "graph"
	sealedKey  = "sealed"
)

// sections are those parts of a document that are looked into; nil is none.
type sections struct{ control, poll object }

func openSections(doc object) (s sections) {
	s.control, _ = asObject(doc[controlKey])
	s.poll, _ = asObject(doc[pollKey])
	return s
}

func (s sections) of(key string) object {
	switch key {
	case controlKey:
		return s.control
	case pollKey:
		return s.poll
	}
	return nil
}

// recordDoc is the document of a record as it would be written here. polledAt is
// when its tracker was last asked for it.
func recordDoc(rec record.Record, polledAt time.Time) object {
	doc, open := recordParts(rec, polledAt)
	for _, key := range [...]string{controlKey, pollKey} {
		if section := open.of(key); section != nil {
			doc[key] = encode(section)
		}
	}
	return doc
}

// recordParts is that document with its sections beside it, which are not written
// yet.
func recordParts(rec record.Record, polledAt time.Time) (doc object, open sections) {
	i := rec.Item
	doc = object{"ref": encode(i.Ref)}
	for key, value := range i.Extra {
		doc[key] = value
	}
	if i.URL != "" {
		doc["url"] = encode(i.URL)
	}
	if i.Control != nil {
		open.control = controlDoc(i.Ref, i.Control)
	}
	if i.Known() {
		open.poll = pollDoc(rec, polledAt)
	}
	if len(i.Graph) > 0 {
		doc[graphKey] = i.Graph
	}
	if i.Sealed() {
		doc[sealedKey] = encode(true)
	}
	return doc, open
}

// pollDoc is the poll section: every resolved comment is seen, every other one
// counts its attempts.
func pollDoc(rec record.Record, polledAt time.Time) object {
	seen, gaveUp, version := []string{}, []string{}, ""
	attempts := map[string]int{}
	for _, row := range rec.Comments.All() {
		switch row.State {
		case record.Pending:
			if row.Attempts > 0 {
				attempts[row.ID] = row.Attempts
			}
			continue
		case record.GaveUp:
			gaveUp, version = append(gaveUp, row.ID), row.Version
		}
		seen = append(seen, row.ID)
	}
	s := rec.Item.Spawn
	doc := object{
		"seenComments": encode(seen), "commentAttempts": encode(attempts), "gaveUp": encode(object{}),
		"spawn": encode(spawnDoc{s.Attempts, s.DeliveryID, s.GaveUp}),
	}
	if len(gaveUp) > 0 {
		given := map[string]any{"comments": gaveUp}
		if version != "" {
			given["version"] = version
		}
		doc["gaveUp"] = encode(given)
	}
	if !polledAt.IsZero() {
		doc["lastPolledAt"] = encode(timeText(polledAt))
	}
	return doc
}

// spawnDoc is what the poll section says of the session that is to be started.
type spawnDoc struct {
	Attempts   int    `json:"attempts"`
	DeliveryID string `json:"deliveryId"`
	GaveUp     bool   `json:"gaveUp"`
}

// formed is the document of a record in the form that it was imported in.
func formed(rec record.Record, polledAt time.Time) object {
	return readKept(rec.Item.Sections).Form.applyObject(recordDoc(rec, polledAt))
}

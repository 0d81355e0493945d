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

// recordDoc is the document of a record as it would be written here. polledAt is
// when its tracker was last asked for it.
func recordDoc(rec record.Record, polledAt time.Time) object {
	doc, sections := recordParts(rec, polledAt)
	for key, section := range sections {
		doc[key] = encode(section)
	}
	return doc
}

// recordParts are the parts of that document: those that nothing is looked up in are
// written already.
func recordParts(rec record.Record, polledAt time.Time) (doc object, sections map[string]object) {
	i := rec.Item
	doc, sections = object{"ref": encode(i.Ref)}, map[string]object{}
	for key, value := range i.Extra {
		doc[key] = value
	}
	if i.URL != "" {
		doc["url"] = encode(i.URL)
	}
	if i.Control != nil {
		sections[controlKey] = controlDoc(i.Ref, i.Control)
	}
	if i.Known() {
		sections[pollKey] = pollDoc(rec, polledAt)
	}
	if len(i.Graph) > 0 {
		doc[graphKey] = i.Graph
	}
	if i.Sealed() {
		doc[sealedKey] = encode(true)
	}
	return doc, sections
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

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
	i := rec.Item
	doc := object{"ref": encode(i.Ref)}
	for key, value := range i.Extra {
		doc[key] = value
	}
	if i.URL != "" {
		doc["url"] = encode(i.URL)
	}
	if i.Control != nil {
		doc[controlKey] = encode(controlDoc(i.Ref, i.Control))
	}
	if i.Known() {
		doc[pollKey] = encode(pollDoc(rec, polledAt))
	}
	if len(i.Graph) > 0 {
		doc[graphKey] = i.Graph
	}
	if i.Sealed() {
		doc[sealedKey] = encode(true)
	}
	return doc
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
		"spawn": encode(map[string]any{"attempts": s.Attempts, "gaveUp": s.GaveUp, "deliveryId": s.DeliveryID}),
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

// formed is the document of a record in the form that it was imported in.
func formed(rec record.Record, polledAt time.Time) object {
	return readKept(rec.Item.Sections).Form.applyObject(recordDoc(rec, polledAt))
}

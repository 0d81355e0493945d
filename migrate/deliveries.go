package migrate

import (
	"maps"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

func sortedKeys[T any](m map[string]T) []string {
	if len(m) == 0 { // most are
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

// deliveries notes what was delivered into a session and into those of its pull
// requests: proof that must not be lost, also of sessions that are left out.
func (c *collection) deliveries(h handle) {
	in := tracker(h.ref)
	if c.delivered[in] == nil {
		c.delivered[in] = map[string]bool{}
	}
	for _, delivery := range h.deliveries {
		id, ok := record.DeliveryComment(delivery)
		if ok && workitem.ValidCommentID(id) {
			c.delivered[in][sameComment(id)] = true
			c.given = append(c.given, given{h.ref, id})
		}
	}
	for _, p := range h.pulls {
		if !p.ref.Zero() {
			c.deliveries(p.handle)
		}
	}
}

// wasDelivered reports whether a session was given the comment.
func (c *collection) wasDelivered(ref workitem.Ref, id string) bool {
	if len(c.delivered) == 0 {
		return false
	}
	return c.delivered[tracker(ref)][sameComment(id)]
}

// resolve finds the deliveries that no record counts: a comment of a pull
// request is counted on it and delivered into an issue's session, but one that
// an earlier release had not written down yet is on neither. It counts on the
// session's own item, so that it is not sent once more.
func (c *collection) resolve() {
	if len(c.given) == 0 { // of most, there are only records
		return
	}
	counted := map[string]bool{}
	for _, key := range c.keys() {
		if ref, err := workitem.ParseRef(key); err != nil || len(c.delivered[tracker(ref)]) == 0 {
			continue
		}
		s, _ := c.take(key, maxFile)
		if s == nil {
			c.changed(c.lone[key])
			delete(c.lone, key)
			continue
		}
		p, _ := parsePoll(s.doc["poll"])
		for _, ids := range [][]string{p.seen, p.gaveUp, sortedKeys(p.attempts)} {
			for _, id := range ids {
				if c.wasDelivered(s.ref, id) {
					counted[tracker(s.ref)+" "+sameComment(id)] = true
				}
			}
		}
	}
	for _, g := range c.given {
		key := tracker(g.to) + " " + sameComment(g.id)
		if s := c.find(g.to.Key()); s != nil && !counted[key] && isObject(s.doc["poll"]) {
			counted[key] = true
			s.told = append(s.told, g.id)
		}
	}
}

package migrate

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"theloop/workitem"
)

// poll is the poll section of a record: what an earlier release had dealt with.
type poll struct {
	// seen are the comments it had finished with, in the order it did.
	seen []string
	// attempts counts deliveries of those it had not finished with.
	attempts map[string]int
	// gaveUp are those it finished with without success, version the release that
	// did.
	gaveUp  []string
	version string
	spawn   spawn
	// polledAt is the zero time when it is not said.
	polledAt time.Time
}

type spawn struct {
	attempts   int
	gaveUp     bool
	deliveryID string
}

// parsePoll reads a poll section. Every part may be absent or null.
func parsePoll(raw []byte) (poll, *fault) {
	section, bad := asObject(raw)
	if bad != nil {
		return poll{}, bad
	}
	return pollOf(section)
}

func pollOf(section object) (p poll, bad *fault) {
	if p.seen, bad = commentIDs(section["seenComments"]); bad != nil {
		return poll{}, bad.in("seenComments")
	}
	if p.attempts, bad = attemptsOf(section["commentAttempts"]); bad != nil {
		return poll{}, bad.in("commentAttempts")
	}
	if p.spawn, bad = spawnOf(section["spawn"]); bad != nil {
		return poll{}, bad.in("spawn")
	}
	if p.gaveUp, p.version, bad = gaveUpOf(section["gaveUp"]); bad != nil {
		return poll{}, bad.in("gaveUp")
	}
	if p.polledAt, bad = asTime(section["lastPolledAt"]); bad != nil {
		return poll{}, bad.in("lastPolledAt")
	}
	return p, nil
}

// commentIDs reads a list of comment ids, each by its grammar (P4).
func commentIDs(raw []byte) ([]string, *fault) {
	ids, bad := asTexts(raw)
	for i, id := range ids {
		if !workitem.ValidCommentID(id) {
			return nil, notAnID(id).in(i)
		}
	}
	return ids, bad
}

func notAnID(id string) *fault { return faultf("%s is not the id of a comment", echo(id)) }

func attemptsOf(raw []byte) (map[string]int, *fault) {
	counts, bad := asObject(raw)
	if bad != nil {
		return nil, bad
	}
	attempts := make(map[string]int, len(counts))
	for _, id := range sortedKeys(counts) {
		if !workitem.ValidCommentID(id) {
			return nil, notAnID(id).in(id)
		}
		if attempts[id], bad = asCount(counts[id]); bad != nil {
			return nil, bad.in(id)
		}
	}
	return attempts, nil
}

func spawnOf(raw []byte) (s spawn, bad *fault) {
	section, bad := asObject(raw)
	if bad != nil {
		return spawn{}, bad
	}
	if s.attempts, bad = asCount(section["attempts"]); bad != nil {
		return spawn{}, bad.in("attempts")
	}
	if s.gaveUp, bad = asFlag(section["gaveUp"]); bad != nil {
		return spawn{}, bad.in("gaveUp")
	}
	if s.deliveryID, bad = asText(section["deliveryId"]); bad != nil {
		return spawn{}, bad.in("deliveryId")
	}
	return s, nil
}

func gaveUpOf(raw []byte) (ids []string, version string, bad *fault) {
	section, bad := asObject(raw)
	if bad != nil {
		return nil, "", bad
	}
	if ids, bad = commentIDs(section["comments"]); bad != nil {
		return nil, "", bad.in("comments")
	}
	if version, bad = asText(section["version"]); bad != nil {
		return nil, "", bad.in("version")
	}
	return ids, version, nil
}

// sameComment is a key that two ids share when they name one comment: trackers
// changed how they write them (P4).
func sameComment(id string) string {
	if kind, n, ok := workitem.DatabaseID(id); ok {
		return kind + " " + strconv.FormatInt(n, 10)
	}
	return id
}

// tracker is what comment ids are unique in: ids of two hosts may be equal.
func tracker(ref workitem.Ref) string { return ref.Provider + ":" + strings.ToLower(ref.Host) }

// mergePolls joins two poll sections of one item: what either had finished with
// is finished with, in the order of the newer one, which wins where they differ.
// What the older one gave up counts as finished with: the newer one may have got
// further.
func mergePolls(newer, older object) object {
	merged := object{}
	maps.Copy(merged, without(older, "spawn", "gaveUp"))
	maps.Copy(merged, newer)
	n, _ := parsePoll(encode(newer)) // both were read before
	o, _ := parsePoll(encode(older))
	known := map[string]bool{}
	for _, id := range n.seen {
		known[sameComment(id)] = true
	}
	for _, id := range o.seen {
		if !known[sameComment(id)] {
			known[sameComment(id)] = true
			n.seen = append(n.seen, id)
		}
	}
	attempts := map[string]int{}
	maps.Copy(attempts, o.attempts)
	maps.Copy(attempts, n.attempts)
	merged["seenComments"] = encode(n.seen)
	merged["commentAttempts"] = encode(attempts)
	return merged
}

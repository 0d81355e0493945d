package store_test

import (
	"encoding/json"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"theloop/record"
	"theloop/workitem"
)

// refs are items whose keys are prefixes of each other.
func refs() []workitem.Ref { return []workitem.Ref{ref(1), ref(15), ref(150)} }

// commentIDs has two ids of one comment in it: both generations of GitHub's.
func commentIDs() []string {
	return []string{"IC_1", "IC_15", "MDEyOklzc3VlQ29tbWVudDE1", "10001", "z"}
}

func differ(want, got record.Record) string { return cmp.Diff(want, got, alike()) }

// drawRef spells items differently: GitHub compares them without case (D6).
func drawRef(t *rapid.T) workitem.Ref {
	r := rapid.SampledFrom(refs()).Draw(t, "ref")
	r.Owner = rapid.SampledFrom([]string{"octo", "OCTO"}).Draw(t, "owner")
	return r
}

func deliveryID(comment string, rec record.Record) string {
	if comment != "" {
		return record.CommentDeliveryID(comment)
	}
	return rec.Item.Spawn.DeliveryID
}

func drawChanges(t *rapid.T, r workitem.Ref, rec record.Record) []record.Change {
	all := changes(t, r, rec)
	var drawn []record.Change
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		c := rapid.SampledFrom(all).Draw(t, "change")
		// Most steps are tried first: a list with one illegal step in it is refused
		// whole, and little would ever happen.
		_, _, err := record.Apply(rec, append(append([]record.Change{}, drawn...), c))
		if err == nil || rapid.IntRange(0, 9).Draw(t, "illegal") == 0 {
			drawn = append(drawn, c)
		}
	}
	return drawn
}

// changes has one of every kind of step, for a random comment or the spawn.
func changes(t *rapid.T, r workitem.Ref, rec record.Record) []record.Change {
	id := rapid.SampledFrom(commentIDs()).Draw(t, "comment")
	either := rapid.SampledFrom([]string{id, id, ""}).Draw(t, "comment or spawn")
	at := noon.Add(time.Duration(rapid.IntRange(-4, 4).Draw(t, "hour")) * time.Hour)
	n := note(id)
	n.At, n.DatabaseID = at, int64(at.Hour())
	spawnID := record.SpawnDeliveryID(r, rec.Item.Spawn.N+1)
	command := rapid.SampledFrom([]string{"start", "stop", "resume", "pause"}).Draw(t, "command")
	status := rapid.SampledFrom([]record.Status{record.Active, record.Paused, record.Shut}).Draw(t, "status")
	return []record.Change{
		observe(r, rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "source")), record.FirstSeen{At: at},
		record.Withhold{Author: command},
		record.Baseline{Note: n, Outcome: record.FirstSight}, record.Settle{Note: n, Outcome: record.TooLong, Command: command},
		record.Hold{Note: n, Command: command}, record.Revise{Note: n},
		record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: command}, record.GiveUp{Comment: id, Version: "1"}, record.Rearm{Comment: id},
		record.QueueSpawn{DeliveryID: spawnID, Run: "run-1"}, record.GiveUpSpawn{Version: "1"}, record.ResetSpawn{},
		record.Start{Comment: either, On: "1/2/3", Until: at}, record.Unstart{Comment: either, GiveBack: at.After(noon)},
		record.Deliver{Comment: either}, record.Fail{Comment: either, MayRepeat: at.After(noon)},
		record.Release{Comment: either, DeliveryID: deliveryID(either, rec)}, record.PostNotice{Comment: either},
		record.Command{Control: record.Control{Command: command, Source: "cli", RequestedAt: at, Served: at.After(noon)}}, record.Serve{},
		record.PutSession{Session: record.Session{Harness: "claude", Status: status, CreatedAt: at, EndedAt: at}},
		record.SetStatus{Status: status, At: at}, record.DropSession{}, record.Announce{DeliveryID: spawnID},
		record.PutLink{Link: record.Link{Target: ref(15).String(), Since: at}},
		record.End{At: at}, record.Forget{},
		drawImport(t, r, at),
	}
}

// drawImport is a whole record of an earlier release.
func drawImport(t *rapid.T, r workitem.Ref, at time.Time) record.Change {
	var rows []record.Comment
	for i, id := range commentIDs() {
		state := rapid.SampledFrom([]record.State{"", record.Baselined, record.Pending, record.GaveUp}).Draw(t, "state")
		if state != "" {
			rows = append(rows, record.Comment{ID: id, State: state, Seq: uint64(10 - i), At: at})
		}
	}
	return record.Import{
		Item: record.Item{
			Ref: r.String(), FirstSeenAt: at, Source: "s1", Graph: json.RawMessage("null"),
			Sections: json.RawMessage(`{"order":["<control>"]}`),
			Extra:    map[string]json.RawMessage{"x": json.RawMessage(`{"n":12345678901234567890}`)},
		},
		Comments: rows, Overwrite: at.After(noon),
	}
}

package record

import (
	"testing"
	"time"
)

// B2, B8, D5: what a look at the pane says of an attempt in hand.
func TestJudge(t *testing.T) {
	const id = "poll-comment-c"
	mark := Mark(id)
	until := at.Add(10 * time.Second)
	past, before := until.Add(time.Nanosecond), until
	queued := Delivery{DeliveryID: id, Run: "r", Attempts: 1}
	started := queued
	started.StartedOn, started.Until = "life-1", until
	fresh := started
	fresh.StartedOn = OnNewPane
	// Attempts at a spawn, whose number an earlier life of the pane may have had.
	const spawnID = "poll-spawn-a-1"
	spawned := Mark(spawnID)
	unspawned, spawn, respawn := queued, fresh, started
	unspawned.DeliveryID, spawn.DeliveryID, respawn.DeliveryID = spawnID, spawnID, spawnID
	for name, tt := range map[string]struct {
		row  Delivery
		pane Pane
		now  time.Time
		want Proof
	}{
		"never started": {queued, Pane{State: PaneLive}, past, NeverStarted},
		"never started, and yet its mark is there":         {queued, Pane{State: PaneLive, Ring: []string{mark}}, past, ProvedSent},
		"mark on a live pane":                              {started, Pane{State: PaneLive, Identity: "life-1", Ring: []string{mark}}, before, ProvedSent},
		"mark on a dead pane":                              {started, Pane{State: PaneDead, Identity: "life-1", Ring: []string{mark}}, past, ProvedSent},
		"provisional mark on a live pane":                  {fresh, Pane{State: PaneLive, Ring: []string{"_" + mark}}, past, ProvedSent},
		"provisional mark on a dead pane":                  {fresh, Pane{State: PaneDead, Ring: []string{"_" + mark}}, past, Unproved},
		"provisional mark, dead in its own life":           {started, Pane{State: PaneDead, Identity: "life-1", Ring: []string{"_" + mark}}, past, Unproved},
		"a provisional mark of an earlier attempt, pasted": {started, Pane{State: PaneLive, Identity: "life-1", Ring: []string{"_" + mark}}, past, ProvedUnsent},
		"a provisional mark of an earlier attempt, queued": {queued, Pane{State: PaneLive, Identity: "life-1", Ring: []string{"_" + mark}}, past, NeverStarted},
		"a provisional mark, started in a dead pane":       {started, Pane{State: PaneLive, Identity: "life-2", Ring: []string{"_" + mark}}, before, ProvedSent},
		"a plain mark on a pane that is gone":              {started, Pane{State: PaneAbsent, Ring: []string{mark}}, past, Unproved},
		"another's mark alone":                             {started, Pane{State: PaneLive, Identity: "life-1", Ring: []string{Mark("x")}}, past, ProvedUnsent},
		"its pane lives on without it":                     {started, Pane{State: PaneLive, Identity: "life-1"}, past, ProvedUnsent},
		"the deadline has not passed":                      {started, Pane{State: PaneLive, Identity: "life-1"}, before, Undecided},
		"the deadline has not passed, the pane is gone":    {started, Pane{State: PaneAbsent}, before, Undecided},
		"tmux does not answer":                             {started, Pane{State: PaneUnknown}, past, Undecided},
		"another life":                                     {started, Pane{State: PaneLive, Identity: "life-2"}, past, Unproved},
		"the pane is gone":                                 {started, Pane{State: PaneAbsent}, past, Unproved},
		"somebody else's session":                          {started, Pane{State: PaneForeign, Ring: []string{mark}}, past, Unproved},
		"a new session that is not there":                  {fresh, Pane{State: PaneAbsent}, past, Unproved},
		"a mark is not read from an unknown pane":          {started, Pane{State: PaneUnknown, Ring: []string{mark}}, past, Undecided},
		"a queued comment's mark on a dead pane":           {queued, Pane{State: PaneDead, Ring: []string{mark}}, past, ProvedSent},
		"a queued spawn's number on a dead pane":           {unspawned, Pane{State: PaneDead, Ring: []string{spawned}}, past, NeverStarted},
		"a queued spawn's number on a live pane":           {unspawned, Pane{State: PaneLive, Ring: []string{spawned}}, past, ProvedSent},
		"a spawn's mark on its pane that has died":         {spawn, Pane{State: PaneDead, Identity: "life-1", Ring: []string{spawned}}, past, ProvedSent},
		"a spawn's mark on the dead pane it found":         {respawn, Pane{State: PaneDead, Identity: "life-1", Ring: []string{spawned}}, past, ProvedUnsent},
		"a spawn's mark on the dead pane it began again":   {respawn, Pane{State: PaneDead, Identity: "life-2", Ring: []string{spawned}}, past, ProvedSent},
		"nothing was looked at":                            {queued, Pane{State: PaneNone}, past, NeverStarted},
	} {
		if got := Judge(tt.row, tt.pane, tt.now); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

package main

import (
	"context"
	"slices"
	"strings"

	"theloop/localapi"
	"theloop/session/tmux"
	"theloop/view"
	"theloop/workitem"
)

// lostSession is a session that its row says is there, and that is not.
type lostSession struct {
	localapi.Summary
	TmuxTarget string `json:"tmuxTarget"`
	// Lost is absent, dead or foreign.
	Lost string `json:"lost"`
}

// lostWords say what is wrong.
var lostWords = map[string]string{
	"absent":  "its tmux session is gone",
	"dead":    "its agent has ended",
	"foreign": "something else has its name",
}

// lost are those of the rows whose agent is not there any more: what a reboot
// leaves behind. It is one look at tmux, and one for each that is not found by
// its mark.
func (d *deps) lost(ctx context.Context, g *Global, r reader, rows []localapi.Summary) ([]lostSession, error) {
	server, err := d.tmux(g)
	if err != nil {
		return nil, err
	}
	all, err := server.LookAll(ctx)
	if err != nil {
		return nil, err
	}
	found := []lostSession{}
	for _, row := range rows {
		ref, err := workitem.ParseRef(row.Ref)
		if err != nil || row.Session != "active" && row.Session != "paused" {
			continue
		}
		doc, err := r.Item(ctx, ref)
		if err != nil {
			return nil, err
		}
		if doc.Session == nil {
			continue // forgotten since
		}
		state := marked(ref.Key(), all)
		if named := doc.Session.TmuxTarget; state == "absent" && named != "" {
			l := server.Look(ctx, tmux.Target{Name: named})
			if l.State == tmux.Silent {
				return nil, l.Err
			}
			state = unmarked(*doc.Session, l)
		}
		if state != "" {
			found = append(found, lostSession{Summary: row, TmuxTarget: doc.Session.TmuxTarget, Lost: state})
		}
	}
	return found, nil
}

// marked says how a session is lost, by the panes that carry its item's mark;
// empty when its agent is there.
func marked(key string, all []tmux.Look) string {
	state := "absent"
	for _, l := range all {
		if !strings.HasSuffix(l.Owner, "-"+tmux.Mark(key)) || strings.HasPrefix(l.Owner, tmux.LeftMark("")) {
			continue
		}
		if l.State == tmux.Live {
			return ""
		}
		state = "dead"
	}
	return state
}

// unmarked says the same by what has the session's name: one of an earlier
// release that is not taken over yet has the id of the conversation in its command
// line (D5).
func unmarked(s localapi.Session, l tmux.Look) string {
	ours := l.Owner == "" && s.HarnessSessionID != "" && strings.Contains(l.StartCommand, s.HarnessSessionID)
	switch {
	case l.State == tmux.Absent:
		return "absent"
	case !ours:
		return "foreign"
	case l.State == tmux.Dead:
		return "dead"
	}
	return ""
}

func lostTable(rows []lostSession) view.Table {
	t := view.Table{Columns: []view.Column{
		{Title: "ITEM"}, {Title: "SESSION"}, {Title: "TMUX"}, {Title: "WHAT IS WRONG"}, {Title: "TITLE", Flexible: true},
	}}
	for _, s := range rows {
		t.Rows = append(t.Rows, []view.Cell{
			{Text: s.Ref}, {Text: s.Session}, {Text: dash(s.TmuxTarget)}, {Text: lostWords[s.Lost], Tone: view.Bad}, {Text: s.Title},
		})
	}
	return t
}

// runLost prints one line for each session that is lost.
func (c *sessionsListCmd) runLost(ctx context.Context, d *deps, g *Global) error {
	var rows []lostSession
	err := d.withLedger(ctx, g, func(ctx context.Context, r reader) error {
		var all []localapi.Summary
		err := r.Items(ctx, func(s localapi.Summary) error {
			if s.Session != "" && (c.Status == "" || c.Status == s.Session) {
				all = append(all, s)
			}
			return nil
		})
		if err == nil {
			rows, err = d.lost(ctx, g, r, all)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return d.printJSON(rows)
	case len(rows) == 0:
		return d.print("no session is lost\n")
	}
	return d.print(lostTable(rows).Render(d.style(), d.width()))
}

// statuses are those that a session's row can have.
func statuses(lost bool) []string {
	if lost {
		return []string{"", "active", "paused"}
	}
	return []string{"", "active", "paused", "closed", localapi.Elsewhere}
}

func (c *sessionsListCmd) check() error {
	if known := statuses(c.Lost); !slices.Contains(known, c.Status) {
		return usage("--status %q: give %s", c.Status, strings.Join(known[1:len(known)-1], ", ")+" or "+known[len(known)-1])
	}
	return nil
}

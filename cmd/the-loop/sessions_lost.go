package main

import (
	"context"
	"slices"
	"strings"

	"theloop/localapi"
	"theloop/session"
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
	instance, err := r.Marks(ctx)
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
		state, err := session.Find(ctx, server, all, tmux.OwnerMark(instance, ref.Key()), doc.Session.TmuxTarget, doc.Session.HarnessSessionID)
		if err != nil {
			return nil, err
		}
		if lostWords[string(state)] != "" {
			found = append(found, lostSession{Summary: row, TmuxTarget: doc.Session.TmuxTarget, Lost: string(state)})
		}
	}
	return found, nil
}

// lostTable has a line for each. Links in it lead to these hosts alone (A8).
func lostTable(rows []lostSession, hosts []string) view.Table {
	t := view.Table{Columns: []view.Column{
		{Title: "ITEM"}, {Title: "SESSION"}, {Title: "TMUX"}, {Title: "WHAT IS WRONG"}, {Title: "TITLE", Flexible: true},
	}}
	for _, s := range rows {
		t.Rows = append(t.Rows, []view.Cell{
			{Text: s.Ref}, {Text: s.Session}, {Text: dash(s.TmuxTarget)}, {Text: lostWords[s.Lost], Tone: view.Bad}, {Text: view.Links(s.Title, hosts)},
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
	return d.print(lostTable(rows, d.hosts(g)).Render(d.style(), d.width()))
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

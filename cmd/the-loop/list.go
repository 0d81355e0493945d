package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"theloop/localapi"
	"theloop/view"
)

// list prints the items that are wanted while they are read, as text or as one JSON
// document; none is said in its own words.
func (d *deps) list(ctx context.Context, g *Global, f format, none string, want func(localapi.Summary) bool) (err error) {
	out := newOutbox(d.stdout)
	defer func() { err = errors.Join(err, out.Close()) }()
	rows := d.rows(out, f, d.hosts(g), none)
	err = d.withLedgerFor(ctx, g, wholeTime, func(ctx context.Context, r reader) error {
		return patiently(ctx, answerTime, func(ctx context.Context, hold func(func() error) error) error {
			return r.Items(ctx, func(s localapi.Summary) error {
				return hold(func() error {
					if !want(s) {
						return nil
					}
					return rows.add(s)
				})
			})
		})
	})
	if err != nil && rows.n == 0 {
		return err // nothing was answered
	}
	return errors.Join(err, rows.end())
}

// patiently gives up what does not go on for a while. Time within hold, when somebody
// else is waited for, does not count.
func patiently(ctx context.Context, limit time.Duration, f func(ctx context.Context, hold func(func() error) error) error) error {
	silent := fmt.Errorf("the list did not go on for %s and was given up; 'the-loop poll status' says how the poller is", view.Duration(limit))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(silent) })
	defer timer.Stop()
	err := f(ctx, func(do func() error) error {
		timer.Stop()
		defer timer.Reset(limit)
		return do()
	})
	if err != nil && errors.Is(context.Cause(ctx), silent) {
		return silent
	}
	return err
}

// listRows is one list on its way out.
type listRows struct {
	n   int
	add func(localapi.Summary) error
	end func() error
}

func (d *deps) rows(out io.Writer, f format, hosts []string, none string) *listRows {
	l := &listRows{}
	if f.json() {
		doc := view.NewList(out)
		l.add, l.end = func(s localapi.Summary) error { l.n++; return doc.Add(s) }, doc.End
		return l
	}
	v := listView{now: d.now(), width: d.width(), hosts: hosts}
	columns := v.columns()
	table := view.NewStream(out, titlesOf(columns), d.style(), v.width)
	var row []view.Cell
	l.add = func(s localapi.Summary) error {
		l.n++
		row = appendRow(row[:0], v, columns, s)
		return table.Add(row...)
	}
	l.end = func() error {
		rows, err := table.End()
		if rows == 0 && err == nil {
			_, err = io.WriteString(out, none)
		}
		return err
	}
	return l
}

// listView is how a list of items is shown.
type listView struct {
	now   time.Time
	width int
	hosts []string
}

// From these widths on, a terminal has room for the numbers, and for the links.
const (
	numbersWidth = 140
	linksWidth   = 200
)

// listColumn is a column, and what an item has in it.
type listColumn struct {
	view.Column
	cell func(listView, localapi.Summary) view.Cell
}

// columns are as many as the terminal has room for; a pipe gets all of them.
func (v listView) columns() []listColumn {
	item := listColumn{view.Column{Title: "ITEM"}, func(_ listView, s localapi.Summary) view.Cell { return view.Cell{Text: s.Ref} }}
	state := listColumn{view.Column{Title: "STATE"}, func(_ listView, s localapi.Summary) view.Cell { return view.Cell{Text: s.State} }}
	command := listColumn{view.Column{Title: "COMMAND"}, func(_ listView, s localapi.Summary) view.Cell { return view.Cell{Text: dash(s.Command)} }}
	session := listColumn{view.Column{Title: "SESSION"}, func(_ listView, s localapi.Summary) view.Cell { return view.Cell{Text: dash(s.Session)} }}
	updated := listColumn{view.Column{Title: "UPDATED"}, func(v listView, s localapi.Summary) view.Cell {
		return view.Cell{Text: dash(updated(s.UpdatedAt, v.now))}
	}}
	link := listColumn{view.Column{Title: "LINK"}, func(v listView, s localapi.Summary) view.Cell {
		return view.Cell{Text: dash(linkOf(s.Ref, s.URL, v.hosts))}
	}}
	why := listColumn{view.Column{Title: "WHY", Flexible: true}, func(_ listView, s localapi.Summary) view.Cell {
		return view.Cell{Text: whyWords(s), Tone: bad(s.GaveUp > 0 || s.SpawnGaveUp)}
	}}
	title := listColumn{view.Column{Title: "TITLE", Flexible: true}, func(v listView, s localapi.Summary) view.Cell {
		return view.Cell{Text: view.Links(s.Title, v.hosts)}
	}}
	if 0 < v.width && v.width < numbersWidth {
		return []listColumn{item, state, session, updated, why, title}
	}
	all := []listColumn{
		item, state, command, session, counted("PENDING", pendingOf), counted("DELIVERED", deliveredOf), counted("GAVE UP", gaveUpOf), updated,
	}
	if v.width == 0 || v.width >= linksWidth {
		all = append(all, link)
	}
	return append(all, why, title)
}

func counted(title string, of func(localapi.Summary) int) listColumn {
	return listColumn{view.Column{Title: title, Right: true}, func(_ listView, s localapi.Summary) view.Cell {
		return view.Cell{Text: strconv.Itoa(of(s))}
	}}
}

func pendingOf(s localapi.Summary) int   { return s.Pending }
func deliveredOf(s localapi.Summary) int { return s.Delivered }
func gaveUpOf(s localapi.Summary) int    { return s.GaveUp }

func appendRow(row []view.Cell, v listView, columns []listColumn, s localapi.Summary) []view.Cell {
	for _, c := range columns {
		row = append(row, c.cell(v, s))
	}
	return row
}

func titlesOf(columns []listColumn) []view.Column {
	titles := make([]view.Column, len(columns))
	for i, c := range columns {
		titles[i] = c.Column
	}
	return titles
}

// updated is empty while it is not known: a time is remembered only once
// nothing more can come with it (P1).
func updated(at localapi.Time, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return view.Age(now, at.Time)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"theloop/localapi"
	"theloop/store"
	"theloop/view"
)

// historyRows is how many cycles are listed where no width says how many fit: an
// hour of one a minute.
const historyRows = 60

// history returns the last n cycles of a state root, the oldest first: from the
// poller that runs, or from the file. Without a ledger there is none.
func (d *deps) history(ctx context.Context, root string, n int) (cycles []localapi.Cycle, err error) {
	if _, err := os.Lstat(filepath.Join(root, store.File)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = d.withLedgerAt(ctx, root, answerTime, func(ctx context.Context, r reader) (err error) {
		cycles, err = r.Cycles(ctx, n)
		return err
	})
	slices.Reverse(cycles)
	return cycles, err
}

// historyText draws the cycles on a terminal, and lists them elsewhere.
func historyText(cycles []localapi.Cycle, now time.Time, style view.Style, width int) string {
	switch {
	case len(cycles) == 0:
		return "no cycle recorded yet\n"
	case width > 0:
		return spark(cycles, now, style, width)
	}
	return historyTable(cycles).Render(style, width)
}

// historyTable has a row a cycle.
func historyTable(cycles []localapi.Cycle) view.Table {
	t := view.Table{Columns: []view.Column{
		{Title: "STARTED"}, {Title: "TOOK", Right: true}, {Title: "SEEN", Right: true}, {Title: "SPAWNED", Right: true},
		{Title: "FORWARDED", Right: true}, {Title: "ENDED", Right: true}, {Title: "GAVE UP", Right: true},
		{Title: "ERRORS", Right: true}, {Title: "NOTE"},
	}}
	for _, c := range cycles {
		note := ""
		if c.Interrupted {
			note = "interrupted"
		}
		t.Rows = append(t.Rows, []view.Cell{
			{Text: c.At.UTC().Format(time.RFC3339)}, {Text: view.Duration(took(c))}, {Text: fmt.Sprint(c.ItemsSeen)},
			{Text: fmt.Sprint(c.Spawns)}, {Text: fmt.Sprint(c.CommentsForwarded)}, {Text: fmt.Sprint(c.Closures)},
			{Text: fmt.Sprint(c.Failures), Tone: bad(c.Failures > 0)}, {Text: fmt.Sprint(c.Errors), Tone: bad(c.Errors > 0)},
			{Text: note},
		})
	}
	return t
}

func took(c localapi.Cycle) time.Duration { return time.Duration(c.DurationMS) * time.Millisecond }

// bars are the heights of a sparkline.
const bars = "▁▂▃▄▅▆▇█"

// spark draws the newest cycles that fit: how much each did, and below it which
// had errors or were interrupted.
func spark(cycles []localapi.Cycle, now time.Time, style view.Style, width int) string {
	const label = len("errors:  ")
	cycles = cycles[max(0, len(cycles)-max(1, width-label)):]
	most := 1
	for _, c := range cycles {
		most = max(most, work(c))
	}
	var done, wrong strings.Builder
	errs, cut := 0, 0
	for _, c := range cycles {
		done.WriteRune(bar(work(c), most))
		switch {
		case c.Errors > 0:
			errs++
			wrong.WriteRune('!')
		case c.Interrupted:
			cut++
			wrong.WriteRune('~')
		default:
			wrong.WriteRune(' ')
		}
	}
	text := fmt.Sprintf("%s, the oldest %s; the highest bar is %s\nwork:    %s\n",
		view.Count(len(cycles), "cycle", "cycles"), view.Age(now, cycles[0].At.Time), view.Count(most, "thing done", "things done"), done.String())
	if errs+cut > 0 {
		text += "errors:  " + style.Paint(view.Bad, strings.TrimRight(wrong.String(), " ")) + "\n" +
			fmt.Sprintf("! %s with errors, ~ %s interrupted\n", view.Count(errs, "cycle", "cycles"), view.Count(cut, "cycle", "cycles"))
	}
	return text
}

// work is what a cycle did beside looking.
func work(c localapi.Cycle) int { return c.Spawns + c.CommentsForwarded + c.Closures }

// bar is the height of n of most; only nothing at all is flat.
func bar(n, most int) rune {
	heights := []rune(bars)
	if n <= 0 {
		return heights[0]
	}
	top := len(heights) - 1
	return heights[max(1, n*top/most)]
}

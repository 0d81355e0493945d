package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"theloop/migrate"
	"theloop/view"
)

// progressEvery keeps a bar from flickering, and a slow terminal from slowing the
// work down.
const progressEvery = 100 * time.Millisecond

// barWidth is what a bar takes of its line. Where that and the words beside it do
// not fit, the numbers are left out; below barColumns that is so.
const (
	barWidth   = 30
	barColumns = 80
)

// progress is a bar on the last line of a terminal. The zero value, for pipes and
// files, draws nothing.
type progress struct {
	to   *os.File
	wide bool
	bar  *progressbar.ProgressBar
	step migrate.Step
}

// progress draws on stderr, which answers never go to.
func (d *deps) progress() *progress {
	file, ok := d.stderr.(*os.File)
	if !ok || d.env("TERM") == "dumb" {
		return &progress{}
	}
	columns, tty := view.Terminal(file)
	if !tty {
		return &progress{}
	}
	return &progress{to: file, wide: columns >= barColumns}
}

// tell shows how far a step is; a new one has a new bar. What cannot be drawn is
// not worth an error.
func (p *progress) tell(step migrate.Step, done, total int) {
	if p.to == nil || total <= 0 {
		return
	}
	if p.step != step {
		p.end()
		p.step = step
		p.bar = p.newBar(total)
	}
	_ = p.bar.Set(done)
}

// end takes the bar away: the report, or an error, says the rest.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.bar, p.step = nil, ""
}

// newBar knows its length from the start: a bar that does not has a goroutine that
// nobody ends.
func (p *progress) newBar(total int) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.to),
		progressbar.OptionSetDescription(string(p.step)),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(progressEvery),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(p.wide),
	}
	if p.wide {
		options = append(options, progressbar.OptionShowCount())
	}
	return progressbar.NewOptions(total, options...)
}

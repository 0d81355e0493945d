package view

import "theloop/escape"

// Tone is what a colour is to tell the reader. Every tone also has to be clear
// from the words alone: colours are often off.
type Tone int

// The tones. Plain is the zero value.
const (
	Plain Tone = iota
	Strong
	Dim
	Good
	Warn
	Bad
)

// Style says how text is decorated. The zero value decorates nothing.
type Style struct {
	Colour bool
}

// StyleFor is the style for one output: coloured only on a terminal that can
// do it, and when the user has not asked for none. noColor and term are the
// values of NO_COLOR and TERM; the caller reads them.
func StyleFor(isTTY bool, noColor, term string) Style {
	return Style{Colour: isTTY && noColor == "" && term != "dumb"}
}

// Paint makes s one safe line (A8) in the colour of tone. What it gives back
// must not go through [escape.Line] or Paint again: its colour would be shown escaped.
func (st Style) Paint(tone Tone, s string) string {
	s = escape.Line(s)
	if !st.colours(tone, s) {
		return s
	}
	return string(st.paint(nil, tone, s))
}

func (st Style) colours(tone Tone, s string) bool { return st.Colour && tone.code() != "" && s != "" }

// paint appends what Paint makes of a text that is safe.
func (st Style) paint(to []byte, tone Tone, s string) []byte {
	if !st.colours(tone, s) {
		return append(to, s...)
	}
	return append(append(append(append(append(to, "\x1b["...), tone.code()...), 'm'), s...), "\x1b[0m"...)
}

// code is the SGR parameter of a tone; the sixteen basic colours follow the
// theme of the terminal.
func (t Tone) code() string {
	switch t {
	case Strong:
		return "1"
	case Dim:
		return "2"
	case Good:
		return "32"
	case Warn:
		return "33"
	case Bad:
		return "31"
	}
	return ""
}

package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"theloop/workitem"
)

const (
	// MaxText is the bytes of a comment that are obeyed whole; a longer one is
	// settled as too long (A5). See also TooLong.
	MaxText = 64 << 10
	// MaxPrompt is the bytes of a prompt. Linux takes 128 KiB in one argument, and
	// a first prompt is one (D8).
	MaxPrompt = 120 << 10
	// maxEscaped is what an obeyed text may take once it is escaped, so that a
	// prompt has room for it whole whatever it is made of.
	maxEscaped = 96 << 10
	// maxTitle, maxLink and maxName bound fields that trackers keep far shorter.
	maxTitle = 2 << 10
	maxLink  = 2 << 10
	maxName  = 256
	// leastCut is the least of a context text that is worth quoting.
	leastCut = 256
	// maxPullTitle leaves the room to what is said (A5).
	maxPullTitle = 256
)

// TooLong reports whether a comment cannot be delivered whole (A5): it is longer
// than MaxText, or so full of characters that have to be escaped that no prompt
// holds it.
func TooLong(text string) bool { return len(text) > MaxText || escapedLen(text) > maxEscaped }

// excerpt is the data of a prompt. What is obeyed comes first.
type excerpt struct {
	WorkItem safe  `json:"workItem"`
	Event    *text `json:"event,omitempty"`
	Item     *text `json:"item,omitempty"`
	// PullRequest is where the event was said, when that is not the item.
	PullRequest *text    `json:"pullRequest,omitempty"`
	Thread      []text   `json:"thread,omitempty"`
	Withheld    int      `json:"withheld,omitempty"`
	Omitted     *omitted `json:"omitted,omitempty"`
}

// text is one text of the tracker, each of which stands in an excerpt once.
type text struct {
	Author     safe   `json:"author"`
	Authorized bool   `json:"authorized"`
	At         string `json:"at,omitempty"`
	URL        safe   `json:"url,omitempty"`
	Path       safe   `json:"path,omitempty"`
	Line       int    `json:"line,omitempty"`
	Title      safe   `json:"title,omitempty"`
	Text       safe   `json:"text"`
	// OmittedBytes is how much of Text is left out at its end.
	OmittedBytes int `json:"omittedBytes,omitempty"`
}

// omitted says what of the thread's beginning found no room.
type omitted struct {
	Comments int `json:"comments"`
	Bytes    int `json:"bytes"`
}

func textOf(c workitem.Comment, authorized bool) text {
	return text{
		Author: name(c.Author), Authorized: authorized, At: stamp(c.CreatedAt),
		URL: safe(cut(c.URL, maxLink)), Path: safe(cut(c.Path, maxLink)), Line: c.Line, Text: safe(c.Body),
	}
}

func itemText(i workitem.Item, authorized bool) text {
	return text{
		Author: name(i.Author), Authorized: authorized, At: stamp(i.CreatedAt),
		URL: safe(cut(i.URL, maxLink)), Title: safe(cut(i.Title, maxTitle)), Text: safe(i.Body),
	}
}

// pullText names a pull request; its description is for who wants to read it.
func pullText(i workitem.Item, authorized bool) text {
	t := itemText(i, authorized)
	t.Title, t.Text, t.OmittedBytes = safe(cut(i.Title, maxPullTitle)), "", len(i.Body)
	return t
}

func name(a workitem.Author) safe { return safe(cut(a.Login, maxName)) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// fit cuts the context (the item's body, the thread) until the excerpt takes at
// most limit bytes. The event is never cut: without room for it there is an
// error. The item has up to half of the room before the thread, or all of it
// when there is no event: then it is what the session is about. Of the thread
// the newest comments stay.
func (e excerpt) fit(limit int) (excerpt, error) {
	body, thread := safe(""), e.Thread
	if e.Item != nil {
		item := *e.Item
		body, item.Text, e.Item = item.Text, "", &item
		item.OmittedBytes = len(body)
	}
	e.Thread = nil
	e.Omitted = &omitted{Comments: len(thread), Bytes: size(thread)}
	room := limit - len(e.render()) - len(`"thread": [],`) - 8
	if room < 0 {
		return e, fmt.Errorf("the prompt has %d bytes more than the %d that fit", -room, limit)
	}
	share := escapedLen(string(body))
	if e.Event != nil {
		share = min(share, room/2)
	}
	var used int
	e.Thread, used = newest(thread, room-min(share, room))
	if e.Item != nil {
		e.Item.Text = safe(cut(string(body), room-used))
		e.Item.OmittedBytes = len(body) - len(e.Item.Text)
	}
	e.Omitted = left(thread, e.Thread)
	return e, nil
}

// newest returns the end of the thread that takes at most room bytes; its first
// comment may be cut.
func newest(thread []text, room int) (kept []text, used int) {
	from := len(thread)
	for ; from > 0; from-- {
		cost := thread[from-1].cost()
		if used+cost > room {
			break
		}
		used += cost
	}
	kept = append(kept, thread[from:]...)
	if from == 0 {
		return kept, used
	}
	t := thread[from-1]
	whole := t.Text
	t.Text, t.OmittedBytes = "", len(whole)
	if space := room - used - t.cost(); space >= leastCut {
		t.Text = safe(cut(string(whole), space))
		t.OmittedBytes = len(whole) - len(t.Text)
		kept, used = append([]text{t}, kept...), used+t.cost()
	}
	return kept, used
}

// cost is what a comment of the thread takes in the rendered excerpt.
func (t text) cost() int { return len(render(t, "    ")) + len("    ,\n") }

func size(thread []text) int {
	n := 0
	for _, t := range thread {
		n += len(t.Text)
	}
	return n
}

// left says what of the thread is not there, nil when all of it is.
func left(thread, kept []text) *omitted {
	gone := thread[:len(thread)-len(kept)]
	if len(gone) == 0 {
		return nil
	}
	return &omitted{Comments: len(gone), Bytes: size(gone)}
}

func (e excerpt) render() string { return render(e, "") }

// render cannot fail: the types hold nothing that JSON does not have.
func render(v any, prefix string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return "{}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fence puts the excerpt into a code fence that no run of backticks in it can
// close (A5).
func fence(data string) string {
	ticks := strings.Repeat("`", max(3, longestRun(data)+1))
	return ticks + "json\n" + data + "\n" + ticks
}

func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

package session

import (
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"theloop/workitem"
)

// The built-in texts. They are templates like the operator's own.
var (
	//go:embed text/first.md
	firstTemplate string
	//go:embed text/event.md
	eventTemplate string
	//go:embed text/resume.md
	resumeTemplate string
	//go:embed text/data-first.md
	firstPreamble string
	//go:embed text/data-pull.md
	pullPreamble string
	//go:embed text/data-event.md
	eventPreamble string
	//go:embed text/data-start.md
	startPreamble string
	//go:embed text/repeat.md
	repeatNote string
	//go:embed text/work-item.md
	askOnItem string
	//go:embed text/cli.md
	askInTerminal string
)

// AskInTerminal is the Interaction of a session that asks its questions in its
// terminal; any other value sends them onto the work item (D10).
const AskInTerminal = "cli"

// Story is what a first prompt tells beside the event (D10), as of the decision
// to send it.
type Story struct {
	Item workitem.Item
	// Pull is the pull request that the event stands on, when the item is the one
	// that it belongs to (P3); else nil.
	Pull *workitem.Item
	// Thread is the comments whose rows are resolved, in thread order. Those of
	// authors who are not authorised (any more) are counted, not carried, unless
	// Settings.QuoteOthers says so.
	Thread []workitem.Comment
	// Withheld counts the comments of others that are not in Thread.
	Withheld int
}

// ask is what one prompt is made of.
type ask struct {
	ref        workitem.Ref // whose event it is
	session    workitem.Ref // whose conversation it goes into
	deliveryID string
	comment    *workitem.Comment  // nil: a session that no comment asks for
	cause      *workitem.Comment  // what started the item, if a comment did: in that comment's place, or beside it
	earlier    []workitem.Comment // starts before that one which no session has heard
	story      Story
	mayRepeat  bool
}

// prompter writes prompts. It remembers which template it has complained of.
type prompter struct {
	authorized func(workitem.Author) bool
	log        *slog.Logger

	mu   sync.Mutex
	said map[string]bool
}

// first is the first prompt of a conversation that knows nothing yet (D10).
func (p *prompter) first(a ask, s Settings) (string, error) {
	e := excerpt{WorkItem: safe(a.ref.String()), Event: p.event(a), Withheld: a.story.Withheld}
	item := itemText(a.story.Item, p.authorized(a.story.Item.Author))
	e.Item = &item
	preamble := firstPreamble
	if pull := a.story.Pull; pull != nil {
		at := pullText(*pull, p.authorized(pull.Author))
		e.WorkItem, e.PullRequest = safe(a.session.String()), &at
		preamble += pullPreamble
	}
	for _, c := range a.story.Thread {
		if known := p.authorized(c.Author); known || s.QuoteOthers {
			e.Thread = append(e.Thread, textOf(c, known))
		} else {
			e.Withheld++
		}
	}
	return p.fill(p.template(s.SpawnPromptTemplate, firstTemplate), preamble, a, s, e)
}

// news is the prompt for a conversation that knows the item: the event alone
// (D10).
func (p *prompter) news(a ask, s Settings) (string, error) {
	if last := len(a.earlier) - 1; a.said() == nil && last >= 0 { // the operator's start says nothing itself
		a.cause, a.earlier = &a.earlier[last], a.earlier[:last]
	}
	e := excerpt{WorkItem: safe(a.ref.String()), Event: p.event(a)}
	if e.Event == nil { // nobody said anything: the conversation goes on
		template := resumeTemplate
		if a.mayRepeat {
			template += "\n" + repeatNote
		}
		return p.fill(template, "", a, s, e)
	}
	preamble := eventPreamble
	for _, c := range a.before() { // a start counts as long as its author is authorised (A7)
		e.Thread = append(e.Thread, textOf(c, true))
	}
	if len(e.Thread) > 0 {
		preamble += startPreamble
	}
	return p.fill(p.template(s.PromptTemplate, eventTemplate), preamble, a, s, e)
}

func (p *prompter) event(a ask) *text {
	c := a.said()
	if c == nil {
		return nil
	}
	t := textOf(*c, true) // it was admitted as an authorised author's (A7)
	return &t
}

// before are the starts that a conversation which goes on is told beside the event, in
// thread order.
func (a ask) before() []workitem.Comment {
	starts := slices.Clone(a.earlier)
	if a.comment != nil && a.cause != nil {
		starts = append(starts, *a.cause)
	}
	workitem.SortThread(starts)
	return starts
}

// said is what the prompt is about: the comment, or the one that started the item.
func (a ask) said() *workitem.Comment {
	if a.comment != nil {
		return a.comment
	}
	return a.cause
}

// fill puts the data and its preamble into the template, within MaxPrompt.
func (p *prompter) fill(template, preamble string, a ask, s Settings, e excerpt) (string, error) {
	if a.mayRepeat {
		preamble = repeatNote + "\n" + preamble
	}
	values := a.values(s)
	values["payload_excerpt"] = ""
	const fences = 2*(maxTicks+1) + 16
	frame := len(expand(template, values)) + len(preamble) + fences
	fitted, err := e.fit(MaxPrompt - frame)
	if err != nil {
		return "", fmt.Errorf("write the prompt for %s: %w", a.deliveryID, err)
	}
	values["payload_excerpt"] = preamble + "\n" + fence(fitted.render())
	prompt := strings.TrimRight(squeeze(expand(template, values)), "\n")
	if strings.HasPrefix(prompt, "-") {
		prompt = "\n" + prompt // as an argument it must not pass for an option
	}
	if len(prompt) > MaxPrompt {
		return "", fmt.Errorf("write the prompt for %s: it has %d bytes, more than %d", a.deliveryID, len(prompt), MaxPrompt)
	}
	return prompt, nil
}

// values are what the placeholders stand for, but for the data. None of it is
// the words of a tracker: refs, ids and names of our own, which hold nothing that
// hides or types keys even if somebody's grammar let it through.
func (a ask) values(s Settings) map[string]string {
	asked := a
	asked.comment = a.said()
	event, action := asked.kind()
	directive := askOnItem
	if s.Interaction == AskInTerminal {
		directive = askInTerminal
	}
	return map[string]string{
		"work_item":             safeText(a.session.String(), maxLink),
		"event":                 event,
		"action":                action,
		"repository":            safeText(a.ref.Owner+"/"+a.ref.Repo, maxLink),
		"delivery_id":           plain(a.deliveryID),
		"interaction_directive": strings.TrimSpace(directive),
		"graph_context":         "",
	}
}

// plain keeps of an id what ids are made of: a comment's id is the tracker's.
func plain(id string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (wordByte(byte(r)) || r == '.' || r == ':' || r == '=' || r == '/' || r == '+') {
			return r
		}
		return '-'
	}, cut(id, maxName))
}

// kind names the event as GitHub's webhooks do, which is what templates and
// those who read the event log know.
func (a ask) kind() (event, action string) {
	switch {
	case a.comment == nil && a.story.Item.Kind == workitem.PullRequest:
		return "pull_request", "labeled"
	case a.comment == nil:
		return "issues", "labeled"
	case a.comment.Surface == workitem.Review:
		return "pull_request_review", "submitted"
	case a.comment.Surface == workitem.Inline:
		return "pull_request_review_comment", "created"
	}
	return "issue_comment", "created"
}

// squeeze closes the gaps that empty placeholders leave, above the data alone.
func squeeze(prompt string) string {
	head, data, _ := strings.Cut(prompt, "\n```")
	if data == "" {
		return prompt
	}
	for strings.Contains(head, "\n\n\n") {
		head = strings.ReplaceAll(head, "\n\n\n", "\n\n")
	}
	return head + "\n```" + data
}

// template returns the operator's template, or the built-in one when there is
// none or it cannot be used; that is said once (D10).
func (p *prompter) template(path, builtIn string) string {
	if path == "" {
		return builtIn
	}
	own, err := readTemplate(path)
	if err == nil {
		return own
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.said[path] {
		p.said[path] = true
		p.log.Warn("the prompt template cannot be used; the built-in one is", "path", path, "error", err)
	}
	return builtIn
}

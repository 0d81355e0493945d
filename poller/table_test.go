package poller

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"theloop/record"
)

// The table of decisions. It has parts, each of which answers one question about
// every situation: a decision is what one row of each part says, and nothing else.
// The axes are in table_axes_test.go, the words of the conditions in
// table_conditions_test.go, the rows in table_comment_test.go and
// table_item_test.go. docs/behaviour.md is made of it.

// rule is one row of the table.
type rule struct {
	// name is the situation, as a sentence; text what happens, change how to change
	// it.
	name, text, change string
	when               when
	// rest takes what no other rule of the part is about.
	rest bool

	// What becomes of the comment: at most one of these.
	baseline, settle    string
	hold, rearm, giveUp bool
	// deliver queues it, where deliverIf holds.
	deliver   bool
	deliverIf when
	// records says that its command is recorded.
	records bool
	// waits says that its row is pending afterwards and nothing is queued, where
	// waitsIf holds.
	waits   bool
	waitsIf when

	item, session  string
	drop, occupied bool
	// events are told of, where eventsIf holds.
	events   []string
	eventsIf when
}

// part is one question, answered for every situation.
type part struct {
	title, intro string
	rules        []rule
	// of leaves of an outcome what the part is about.
	of func(outcome) outcome
	// try does more about a situation than to look at what Decide says.
	try func(*testing.T, cell)
}

var table = []part{
	{
		title: "The item", rules: itemRules,
		intro: "What becomes of the work item itself.",
		of:    func(o outcome) outcome { return outcome{item: o.item} },
	},
	{
		title: "What is said", rules: commentRules,
		intro: "What becomes of one comment, and of the command in it.",
		of: func(o outcome) outcome {
			return outcome{comment: o.comment, command: o.command, deliver: o.deliver, notice: o.notice}
		},
	},
	{
		title: "The session", rules: sessionRules,
		intro: "What is done about the item's session beside deliveries.",
		of:    func(o outcome) outcome { return outcome{session: o.session} },
	},
	{
		title: "What a cleanup leaves", rules: cleanupRules, intro: "When the row of a session goes.",
		of: func(o outcome) outcome { return outcome{drop: o.drop} },
	},
	{
		title: "Whose item it is", rules: openerRules, intro: "When the author of an item is spoken of.",
		of: func(outcome) outcome { return outcome{} },
	},
	{
		title: "The name of the session", rules: nameRules, intro: "When something else has it.",
		of: func(o outcome) outcome { return outcome{occupied: o.occupied} },
	},
	{
		title: "The commit", rules: commitRules, intro: "A decision is one transaction.",
		of: func(outcome) outcome { return outcome{} }, try: tryCommit,
	},
}

func (r rule) delivers() when {
	switch {
	case !r.deliver:
		return nil
	case r.deliverIf != nil:
		return all(r.when, r.deliverIf)
	}
	return r.when
}

func (r rule) waiting() when {
	if r.waitsIf != nil {
		return all(r.when, r.waitsIf)
	}
	return r.when
}

// wants is what a rule says of a situation, without the events.
func (r rule) wants(c cell) outcome {
	o := outcome{item: r.item, session: r.session, drop: r.drop, occupied: r.occupied, notice: r.giveUp}
	o.deliver = r.delivers().holds(c)
	fresh := c.get(byDelivery) == "none"
	switch {
	case r.baseline != "":
		o.comment = "baselined " + r.baseline
	case r.settle != "":
		o.comment = "settled " + r.settle
	case r.hold && fresh:
		o.comment = "pending"
	case r.rearm:
		o.comment = "armed again"
	case r.giveUp:
		o.comment = "given up"
	}
	if r.records {
		o.command, _, _ = strings.Cut(c.get(byBody), " ")
	}
	return o
}

// tells is which events a rule says are told of.
func (r rule) tells(c cell) (events []string) {
	if r.eventsIf != nil && !r.eventsIf.holds(c) {
		return nil
	}
	for _, e := range r.events {
		if e != "poll.comment_forwarded" || r.delivers().holds(c) {
			events = append(events, e)
		}
	}
	return events
}

// row finds the rule of a part that a situation has; nil when there is none like
// it.
func (p part) row(c cell) *rule {
	if impossible.holds(c) {
		return nil
	}
	var rest *rule
	for i, r := range p.rules {
		switch {
		case r.rest:
			rest = &p.rules[i]
		case r.when.holds(c):
			return &p.rules[i]
		}
	}
	return rest
}

// claims are the boxes of the rules, and of what is impossible.
func (p part) claims() (claims []claim) {
	for _, b := range impossible {
		claims = append(claims, claim{len(p.rules), b})
	}
	for i, r := range p.rules {
		for _, b := range r.when {
			claims = append(claims, claim{i, b})
		}
	}
	return claims
}

// Every situation there is has one row in each part of the table, and one alone.
func TestTheTableHasOneRowForEachSituation(t *testing.T) {
	for _, p := range table {
		t.Run(p.title, func(t *testing.T) {
			rest := slices.ContainsFunc(p.rules, func(r rule) bool { return r.rest })
			wrong := 0
			cells := walk(everything, p.claims(), func(at box, rows []int) {
				if len(rows) == 0 && rest {
					return
				}
				if wrong++; wrong > 5 {
					return
				}
				names := make([]string, len(rows))
				for i, row := range rows {
					names[i] = append(p.rules, rule{name: "impossible"})[row].name
				}
				t.Errorf("%d situations have %d rows %q, among them: %s", at.size(), len(rows), names, at.draw(func(int) int { return 0 }))
			})
			if cells != everything.size() {
				t.Errorf("%d of %d situations were looked at", cells, everything.size())
			}
			t.Logf("%d situations, %d rules", cells, len(p.rules))
		})
	}
}

// each is how many situations of a row are tried, at least one of each of its boxes.
const each = 200

// Each row of the table is what Decide does.
func TestTheTable(t *testing.T) {
	for i, p := range table {
		for _, r := range p.rules {
			t.Run(p.title+"/"+r.name, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				tried, enough := 0, max(each, len(r.when))
				for n := 0; tried < enough && n < 100*enough && !t.Failed(); n++ {
					c := everything.draw(random.IntN)
					if !r.rest {
						c = r.when[n%len(r.when)].draw(random.IntN)
					}
					switch got := p.row(c); {
					case got != nil && got.name == r.name:
						tried++
						checkRow(t, p, c)
					case !r.rest:
						t.Fatalf("%s is another row's", c)
					}
				}
				if tried < enough {
					t.Errorf("only %d situations were tried", tried)
				}
			})
		}
	}
}

// checkRow holds a situation of a row against all that the table says of it.
func checkRow(t *testing.T, p part, c cell) {
	t.Helper()
	checkCell(t, c)
	if p.try != nil {
		p.try(t, c)
	}
}

func decideIn(c cell) (Decision, error) {
	s := situate(c)
	return Decide(s.item, s.thread, s.rec, s.facts)
}

// A decision is what the rows say, and nothing else: drawn from all situations.
func TestADecisionIsWhatItsRowsSay(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 10_000 * soak() {
		c := everything.draw(random.IntN)
		if checkCell(t, c); t.Failed() {
			return
		}
	}
}

func checkCell(t *testing.T, c cell) {
	t.Helper()
	var events, rows []string
	for _, p := range table {
		r := p.row(c)
		if r == nil {
			return
		}
		events = append(events, r.tells(c)...)
		rows = append(rows, r.name)
	}
	d, err := decideIn(c)
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	got := outcomeOf(d)
	for i, p := range table {
		if is, want := p.of(got), p.row(c).wants(c); is.String() != want.String() {
			t.Errorf("%s\n%s:\n got %s\nwant %s", c, rows[i], is, want)
		}
	}
	if slices.Sort(events); !slices.Equal(got.events, events) {
		t.Errorf("%s\n%s:\n told %q\nwant %q", c, strings.Join(rows, "\n"), got.events, events)
	}
	checkLegal(t, c, d)
}

// checkLegal holds the changes of a decision against the ledger's own rules, and
// its effects against its changes: what is delivered is pending and paid for.
func checkLegal(t *testing.T, c cell, d Decision) {
	t.Helper()
	s := situate(c)
	rec, applied, err := record.Apply(s.rec, d.Changes)
	if err != nil || len(applied) != len(d.Changes) {
		t.Errorf("%s: %d of %d changes apply: %v", c, len(applied), len(d.Changes), err)
	}
	if _, _, err := record.Apply(s.facts.Target.Record, d.OfTarget); err != nil {
		t.Errorf("%s: %v", c, err)
	}
	for _, e := range d.Effects {
		if e.Kind != DoDeliver {
			continue
		}
		row, _ := rec.Comments.Get(e.Comment.ID)
		if row.State != record.Pending || !row.InHand() || row.Attempts < 1 || row.Attempts > 3 {
			t.Errorf("%s: sends a comment whose row is %+v", c, row)
		}
	}
}

// The walk finds what no row claims and what two do, and misses no situation.
func TestTheWalkFindsGapsAndOverlaps(t *testing.T) {
	var claims []claim
	for row, w := range []when{
		all(itself, byPane.is("live")), all(itself, byPane.isNot("live", "dead")), either(byTarget.is("linked"), all(byPane.is("live"), listed)),
	} {
		for _, b := range w {
			claims = append(claims, claim{row, b})
		}
	}
	gaps, overlaps := 0, 0
	cells := walk(everything, claims, func(at box, rows []int) {
		switch {
		case len(rows) == 0:
			gaps += at.size()
		case slices.Equal(rows, []int{0, 2}):
			overlaps += at.size()
		default:
			t.Errorf("%d situations have the rows %v", at.size(), rows)
		}
	})
	half := everything.size() / 2
	if cells != 2*half || gaps != half/5 || overlaps != half/5/4 {
		t.Errorf("%d situations, %d in no row, %d in two", cells, gaps, overlaps)
	}
	if !not(all(itself, listed)).holds(cell{0, 0, 1}) || not(all(itself, listed)).holds(cell{}) {
		t.Error("not is wrong")
	}
}

package poller

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// crowded is a situation of the table with everything in it that a map keeps or an
// order could depend on: more comments, several of them in flight, notices owed and
// tried, several things that a pull request points at.
func crowded(c cell, random *rand.Rand) situation {
	s := situate(c)
	var rows []record.Comment
	s.thread = nil
	for n := range 12 {
		for _, a := range []*axis{byAuthor, byBody, byDelivery, byAttempts} {
			c[a.at] = random.IntN(len(a.values))
		}
		said := c.comment()
		said.ID, said.DatabaseID = fmt.Sprintf("IC_%d", n), int64(n)
		s.thread = append(s.thread, said)
		if row, ok := c.row(said); ok {
			row.ID, row.DatabaseID, row.Seq = said.ID, said.DatabaseID, uint64(n+1)
			row.DeliveryID = record.CommentDeliveryID(said.ID)
			if row.State == record.GaveUp && n%2 == 0 {
				row.Notice = record.NoticeOwed
			}
			rows = append(rows, row)
		}
	}
	s.rec.Comments = record.NewThread(rows)
	return s
}

// reordered is the same situation in other maps, filled in another order.
func (s situation) reordered(random *rand.Rand) situation {
	rows := s.rec.Comments.All()
	s.facts.Held, s.facts.Noticed = map[string]bool{}, map[string]bool{}
	for _, i := range random.Perm(len(rows)) {
		if rows[i].InHand() {
			s.facts.Held[rows[i].DeliveryID] = true
		}
		s.facts.Noticed[noticeID(s.rec, rows[i].ID)] = i%3 == 0
	}
	mixed := make([]record.Comment, len(rows))
	for to, from := range random.Perm(len(rows)) {
		mixed[to] = rows[from]
	}
	s.rec.Comments = record.NewThread(mixed)
	return s
}

// The same inputs give the same decision, byte for byte, however often it is made
// and whatever order the maps in them have.
func TestTheSameInputsGiveTheSameDecision(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	many := 0
	for range 300 * soak() {
		c := everything.draw(random.IntN)
		s := crowded(c, random)
		first := ""
		for n := range 10 {
			s = s.reordered(random)
			d, err := Decide(s.item, s.thread, s.rec, s.facts)
			if err != nil && !impossible.holds(c) {
				t.Fatalf("%s: %v", c, err)
			}
			if len(d.Effects) > 1 && len(d.Changes) > 2 {
				many++
			}
			switch said := fmt.Sprintf("%#v", d); {
			case n == 0:
				first = said
			case said != first:
				t.Fatalf("%s: two decisions differ:\n%s\n%s", c, first, said)
			}
		}
	}
	if many < 100 {
		t.Errorf("only %d decisions had several changes and effects", many)
	}
}

// The same for whose session takes what is said on a pull request.
func TestTheSameLinksGiveTheSameTarget(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		r := Routing{
			Item:   workitem.Item{Ref: issue(99), Kind: workitem.PullRequest, State: workitem.Open},
			Policy: policyOf(policy.Options{}), Host: "here", Now: noon,
		}
		for _, n := range random.Perm(8) {
			r.Links.Closes = append(r.Links.Closes, issue(n+1))
		}
		first := ""
		for range 10 {
			r.Items = map[string]record.Record{}
			for _, n := range random.Perm(8) {
				rec := known(withSession(record.Active))
				rec.Item.Ref = issue(n + 1).String()
				r.Items[issue(n+1).Key()] = rec
			}
			to, link := Route(r)
			said := fmt.Sprintf("%s %+v", to.Ref, *link)
			if first == "" {
				first = said
			}
			if said != first {
				t.Fatalf("%q and %q", first, said)
			}
		}
	}
}

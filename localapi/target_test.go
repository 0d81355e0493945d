package localapi

import (
	"context"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// A document, and the line in the list, name the target that routing would choose (P3):
// none when what was recorded takes nothing more.
func TestTheTargetThatTakesWhatIsSaid(t *testing.T) {
	ends := record.End{At: at}
	own := record.PutSession{Session: record.Session{Harness: "claude", Status: record.Active, TmuxTarget: "loop-y", Host: "here"}}
	cases := map[string]struct {
		link       record.Link
		target     []record.Change
		pull       []record.Change
		to, lapsed string
	}{
		"open":                 {link: record.Link{Target: ref(15).String()}, to: ref(15).String()},
		"ended":                {link: record.Link{Target: ref(15).String()}, target: []record.Change{ends}, lapsed: ref(15).String()},
		"its last words":       {link: record.Link{Target: ref(15).String()}, target: []record.Change{ends}, pull: []record.Change{ends}, to: ref(15).String()},
		"never seen":           {link: record.Link{Target: ref(7).String()}, lapsed: ref(7).String()},
		"itself":               {link: record.Link{Target: ref(150).String()}},
		"itself, in capitals":  {link: record.Link{Target: "github:Octo/Repo#150"}},
		"its own session":      {link: record.Link{Target: ref(15).String(), Source: "event"}, pull: []record.Change{own}},
		"a person's, with own": {link: record.Link{Target: ref(15).String(), Source: "link-pr"}, pull: []record.Change{own}, to: ref(15).String()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			local := ledger(t)
			change(t, local, 15, c.target...)
			change(t, local, 150, append([]record.Change{record.PutLink{Link: c.link}}, c.pull...)...)
			doc, err := local.Item(t.Context(), ref(150))
			if err != nil {
				t.Fatal(err)
			}
			if got := text(doc.Target); got != c.to {
				t.Errorf("target %q, want %q", got, c.to)
			}
			if got := text(doc.Lapsed); got != c.lapsed {
				t.Errorf("lapsed %q, want %q", got, c.lapsed)
			}
			err = local.Items(t.Context(), func(s Summary) error {
				if s.Ref == doc.Ref && text(s.Target) != c.to {
					t.Errorf("in the list: target %q, want %q", text(s.Target), c.to)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func change(t *testing.T, local Local, n int, changes ...record.Change) {
	t.Helper()
	ledger := local.Ledger.(interface {
		Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error)
	})
	rec, err := local.Ledger.Record(t.Context(), ref(n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Commit(t.Context(), ref(n), rec.Item.Rev, changes); err != nil {
		t.Fatal(err)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

package workitem

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// refs draws every kind of ref that there is.
func refs() *rapid.Generator[Ref] {
	return rapid.Custom(func(t *rapid.T) Ref {
		r, err := NewRef(
			rapid.SampledFrom([]string{"github", "jira", "inbox", "x-2"}).Draw(t, "provider"),
			rapid.SampledFrom([]string{"", "github.com", "GHE.corp.example", "localhost", "localhost:8080", "ghe:1"}).Draw(t, "host"),
			rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9_-]{0,8}`).Draw(t, "owner"),
			rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9._-]{0,8}`).Draw(t, "repo"),
			rapid.IntRange(1, 1<<30).Draw(t, "number"),
		)
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

func TestRefRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := refs().Draw(t, "ref")
		if got, err := ParseRef(r.String()); err != nil || got != r {
			t.Fatalf("ParseRef(%q) = %+v, %v; want %+v", r.String(), got, err, r)
		}
		text, err := r.MarshalText()
		var got Ref
		if err != nil || got.UnmarshalText(text) != nil || got != r {
			t.Fatalf("%+v as text is %q, %v, and back %+v", r, text, err, got)
		}
	})
}

func TestKeyIsOneForEverySpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := refs().Draw(t, "ref")
		spelled := r
		spelled.Host, spelled.Owner, spelled.Repo = mixed(t, r.Host), mixed(t, r.Owner), mixed(t, r.Repo)
		if spelled.Key() != r.Key() || spelled.SlugHash() != r.SlugHash() {
			t.Fatalf("%s and %s have the keys %q and %q", r, spelled, r.Key(), spelled.Key())
		}
		again, err := ParseRef(r.Key())
		if err != nil || again.Key() != r.Key() || again.String() != r.Key() {
			t.Fatalf("the key %q is no ref of that key: %v", r.Key(), err)
		}
		other := refs().Draw(t, "other")
		if (other.Key() == r.Key()) != strings.EqualFold(other.String(), r.String()) {
			t.Fatalf("%s and %s", r, other)
		}
	})
}

// mixed draws another way to write s in capitals and small letters.
func mixed(t *rapid.T, s string) string {
	upper := rapid.SliceOfN(rapid.Bool(), len(s), len(s)).Draw(t, "upper")
	out := []byte(strings.ToLower(s))
	for i, up := range upper {
		if up && 'a' <= out[i] && out[i] <= 'z' {
			out[i] -= 'a' - 'A'
		}
	}
	return string(out)
}

func TestAddressRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := refs().Draw(t, "ref")
		for _, address := range r.URLs() {
			got, err := ParseRefOrURL(address + rapid.SampledFrom([]string{"", "/", "#issuecomment-1", "?a=b"}).Draw(t, "end"))
			if err != nil || got != r {
				t.Fatalf("%s is at %s, which is %+v, %v", r, address, got, err)
			}
		}
	})
}

func FuzzParseRef(f *testing.F) { // P4
	for _, s := range []string{
		"github:octo/repo#15", "github:ghe.corp.example/octo/repo#15", "github:octo/repo/sub#18", "jira:acme/core#204", "inbox:local/demo#1",
		"github:localhost:8080/o/r#1", "https://github.com/octo/repo/pull/15#issuecomment-1", "github:\u043Ecto/repo#1", "a:b/c#9007199254740993", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRefOrURL(s)
		if err != nil {
			if !plain(err.Error()) || len(err.Error()) > 1000 || r != (Ref{}) {
				t.Errorf("ParseRefOrURL(%q) = %+v, %v", s, r, err)
			}
			return
		}
		if again, err := ParseRef(r.String()); err != nil || again != r {
			t.Errorf("%q is %+v, which is read back as %+v, %v", s, r, again, err)
		}
		if key, err := ParseRef(r.Key()); err != nil || key.Key() != r.Key() {
			t.Errorf("%q has the key %q: %v", s, r.Key(), err)
		}
		if slug := r.Slug(); slug != slugged(slug) || strings.ContainsAny(slug, `/\:`) || strings.HasPrefix(slug, ".") {
			t.Errorf("%q has the slug %q", s, slug)
		}
		Near(s, []string{r.String()}, 1)
	})
}

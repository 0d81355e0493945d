package eventlog

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docsRow is one row of the table in docs/events.md.
var docsRow = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (\\w+) \\| ([^|]+) \\| ([^|]*) \\|$")

// R2: what is documented is what is declared: each event, its level, its fields,
// the words of its lists.
func TestEventsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range docsRow.FindAllStringSubmatch(string(text), -1) {
		name, level, fields := row[1], row[2], strings.NewReplacer("`", "", ",", "").Replace(row[4])
		documented = append(documented, name)
		at := slices.IndexFunc(catalogue, func(d declaration) bool { return d.name == name })
		if at < 0 {
			t.Errorf("docs/events.md has %s, which is not declared", name)
			continue
		}
		if d := catalogue[at]; d.level.String() != level || !slices.Equal(strings.Fields(d.fields), strings.Fields(fields)) {
			t.Errorf("docs/events.md says of %s: %s, %q; declared is %s, %q", name, level, fields, d.level, d.fields)
		}
	}
	if names := Names(); !slices.Equal(documented, names) {
		t.Errorf("docs/events.md lists %d events in its order, the catalogue %d in another:\n%v\n%v", len(documented), len(names), documented, names)
	}
	for key, words := range closed {
		for _, word := range strings.Fields(words) {
			if !strings.Contains(string(text), "`"+word+"`") {
				t.Errorf("docs/events.md lacks %s of %s", word, key)
			}
		}
	}
}

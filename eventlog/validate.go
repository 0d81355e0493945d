package eventlog

import (
	"fmt"
	"slices"
	"strings"
)

// Validate says what is wrong with e: a name that is not in the catalogue, a
// field that is not declared for it, a value of the wrong kind, or a word
// outside of a closed list (R2). It is for tests; [Log.Append] writes what it
// is given, since a decision with a misspelt field is better than none.
func Validate(e Event) error {
	row, ok := index()[e.Name]
	if !ok {
		return fmt.Errorf("event %q is not in the catalogue", e.Name)
	}
	for name, v := range e.Fields {
		if err := validateField(e.Name, row, name, v); err != nil {
			return err
		}
	}
	return nil
}

func validateField(event string, row declared, name string, v any) error {
	if !slices.Contains(row.fields, name) {
		return fmt.Errorf("event %s: field %q is not declared; it has %s", event, name, strings.Join(row.fields, ", "))
	}
	got := classify(v)
	if got.empty {
		return nil
	}
	if got.kind&kinds[name] == 0 {
		return fmt.Errorf("event %s: field %s does not hold a %T", event, name, v)
	}
	words, ok := closed[event+" "+name]
	if ok && !slices.Contains(strings.Fields(words), got.text) {
		return fmt.Errorf("event %s: %s %q is not one of %s", event, name, got.text, words)
	}
	return nil
}

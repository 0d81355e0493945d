package theloop_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// varying is what differs from one run of the demo to the next.
var varying = regexp.MustCompile(`\d{8}T\d{6}Z|\d+[smhd] ago|just now|[ \t]+`)

func steady(line string) string { return strings.TrimSpace(varying.ReplaceAllString(line, " ")) }

// The transcript in the README is what `make demo` shows, twice in a row.
func TestTheDemoIsAsTheREADMEShowsIt(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```console\n")
	transcript, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("README.md has no transcript")
	}
	for range 2 {
		out, err := exec.Command("make", "demo").CombinedOutput()
		if err != nil {
			t.Fatalf("make demo: %v\n%s", err, out)
		}
		shown := strings.Split(string(out), "\n")
		for _, want := range strings.Split(transcript, "\n") {
			if steady(want) == "" {
				continue
			}
			for len(shown) > 0 && !strings.HasPrefix(steady(shown[0]), steady(want)) {
				shown = shown[1:]
			}
			if len(shown) == 0 {
				t.Fatalf("the demo does not show, or not in this order: %q\n%s", want, out)
			}
			shown = shown[1:]
		}
	}
}

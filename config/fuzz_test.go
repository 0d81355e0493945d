package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzParse: whatever is in the file, reading ends, and every problem has a
// place in the file or is about all of it, on one line that is safe to print.
func FuzzParse(f *testing.F) {
	shipped, err := os.ReadFile("../testdata/config/cli-config-python-defaults.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped)
	f.Add([]byte(Starter(true)))
	for _, c := range wrong {
		f.Add([]byte(c.file))
	}
	for _, file := range []string{"", "\ufeff", "---\n", "? ? a\n: b\n", "a: &x [*x]\n", "&a\n", "!!map\n", "[[[", "a:\n- - b\n", "<<: *a\n", "? [a]\n: b\n"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		begin := time.Now()
		c, warnings, err := Parse("f", data)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%d bytes took %s", len(data), took)
		}
		problems := warnings
		if err != nil {
			var invalid *InvalidError
			if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
				t.Fatalf("an error without problems: %v", err)
			}
			problems = append(problems, invalid.Problems...)
		} else {
			soundConfig(t, c)
		}
		for _, p := range problems {
			soundProblem(t, p)
		}
	})
}

func soundProblem(t *testing.T, p Problem) {
	t.Helper()
	if (p.Line > 0) != (p.Column > 0) || p.Line < 0 {
		t.Errorf("no place: %+v", p)
	}
	if p.Message == "" && p.Found == "" {
		t.Errorf("nothing said: %+v", p)
	}
	if strings.IndexFunc(p.String(), func(c rune) bool { return !unicode.IsPrint(c) }) >= 0 {
		t.Errorf("not safe to print: %q", p.String())
	}
}

// soundConfig is what the rest of the program relies on without looking (A5, P9).
func soundConfig(t *testing.T, c Config) {
	t.Helper()
	if c.State.Root == "" || c.EventLog.Path == "" || c.Polling.Interval <= 0 || c.Polling.MaxRetries < 1 {
		t.Errorf("a value is missing: %+v", c)
	}
	for _, s := range c.Polling.Sources {
		if s.Label == "" || s.Line == 0 {
			t.Errorf("half a source: %+v", s)
		}
		switch s.Provider {
		case ProviderGitHub:
			if len(s.Repos) == 0 || !isHost(s.Host) || !isBaseURL(s.BaseURL) {
				t.Errorf("half a source: %+v", s)
			}
			for _, r := range s.Repos {
				if _, ok := parseRepo(r.String()); !ok || r.Line == 0 {
					t.Errorf("no repository: %+v", r)
				}
			}
		case ProviderInbox:
			if _, ok := parseRepo(s.Name); !ok || s.Path == "" {
				t.Errorf("half a source: %+v", s)
			}
		default:
			t.Errorf("no provider: %+v", s)
		}
	}
}

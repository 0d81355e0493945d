package github

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// P9: which variable serves which host, and what is said when none does.
func TestFindToken(t *testing.T) {
	tests := []struct {
		name, host string
		tokenEnv   []string
		env        map[string]string
		login      string
		secret     string
		from       string
		wrong      []string
	}{
		{name: "the first that is set", tokenEnv: []string{"A", "B"}, env: map[string]string{"A": "1", "B": "2"}, secret: "1", from: "A"},
		{name: "an empty one is not set", tokenEnv: []string{"A", "B"}, env: map[string]string{"A": " ", "B": "2"}, secret: "2", from: "B"},
		{name: "github.com spelled out", host: "GitHub.com", tokenEnv: []string{"A"}, env: map[string]string{"A": "1"}, secret: "1", from: "A"},
		{name: "a variable wins over the login", tokenEnv: []string{"A"}, env: map[string]string{"A": "1"}, login: "9", secret: "1", from: "A"},
		{name: "the login", tokenEnv: []string{"A"}, login: "9\n", secret: "9", from: "gh auth login"},
		{name: "only the named ones", tokenEnv: []string{"A"}, env: map[string]string{"GH_TOKEN": "1"}, wrong: []string{"A is not set", "gh auth login --hostname github.com"}},
		{name: "enterprise has its own", host: "ghe.corp.example", tokenEnv: []string{"A"}, env: map[string]string{"A": "1", "GITHUB_ENTERPRISE_TOKEN": "2"}, secret: "2", from: "GITHUB_ENTERPRISE_TOKEN"},
		{name: "github.com's is not for enterprise", host: "ghe.corp.example", tokenEnv: []string{"GH_TOKEN"}, env: map[string]string{"GH_TOKEN": "1"}, wrong: []string{"GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN are not set", "--hostname ghe.corp.example"}},
		{name: "nor enterprise's for github.com", tokenEnv: []string{"A"}, env: map[string]string{"GH_ENTERPRISE_TOKEN": "1"}, wrong: []string{"A is not set"}},
		{name: "none named", wrong: []string{"tokenEnv names no variable"}},
		{name: "a line break inside", tokenEnv: []string{"A"}, env: map[string]string{"A": "sec\nret"}, wrong: []string{"from A", "byte 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := finder{
				env:   func(name string) string { return tt.env[name] },
				login: func(context.Context, string) string { return tt.login },
			}
			token, err := f.find(t.Context(), tt.host, tt.tokenEnv)
			if len(tt.wrong) == 0 {
				if err != nil || token.reveal() != tt.secret || token.From != tt.from {
					t.Errorf("%q from %s, %v", token.reveal(), token.From, err)
				}
				return
			}
			for _, part := range tt.wrong {
				if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "ret") {
					t.Errorf("error %v, want %q in it and no secret", err, part)
				}
			}
		})
	}
}

// The file of gh is read anew: a login may have happened since.
func TestLoginFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GH_CONFIG_DIR", dir)
	for _, want := range []string{"", "first", "second"} {
		if want != "" {
			text := "github.com:\n  user: octocat\n  oauth_token: " + want + "\n"
			if err := os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := ghFile("github.com"); got != want {
			t.Errorf("token %q, want %q", got, want)
		}
		if got := ghFile("ghe.corp.example"); got != "" {
			t.Errorf("token of another host: %q", got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte("- not\n  a map:"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ghFile("github.com"); got != "" {
		t.Errorf("token from a broken file: %q", got)
	}
}

// A keyring that waits for somebody does not keep us, nor does a child that
// holds the pipe open.
func TestKeyring(t *testing.T) {
	script := func(body string) string {
		path := filepath.Join(t.TempDir(), "gh")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	asks := script(`[ "$*" = "auth token --secure-storage --hostname github.com" ] && echo kept`)
	if got := ghKeyring(t.Context(), asks, "github.com", time.Minute); strings.TrimSpace(got) != "kept" {
		t.Errorf("token %q", got)
	}
	start := time.Now()
	if got := ghKeyring(t.Context(), script("sleep 60"), "github.com", 100*time.Millisecond); got != "" {
		t.Errorf("token %q from a keyring that hangs", got)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := ghKeyring(t.Context(), "", "github.com", time.Minute); got != "" {
		t.Errorf("token %q without gh", got)
	}
}

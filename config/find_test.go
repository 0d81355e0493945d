package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFindTakesTheFirstThatIsNamedOrThere(t *testing.T) {
	root := t.TempDir()
	cwd, home := filepath.Join(root, "project"), filepath.Join(root, "home")
	inCwd, inHome := filepath.Join(cwd, fileName), filepath.Join(home, fileName)
	for _, path := range []string{inCwd, inHome, filepath.Join(cwd, "mine.yaml"), filepath.Join(home, "its.yaml")} {
		rewrite(t, path, "")
	}
	env := map[string]string{"SUB": "project", "ROOT": root}
	getenv := func(name string) string { return env[name] }
	find := func(flag, variable string) string {
		env[EnvFile] = variable
		path, err := Find(flag, getenv, cwd, home)
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ flag, variable, want string }{
		{"mine.yaml", "~/its.yaml", filepath.Join(cwd, "mine.yaml")},
		{"", "~/its.yaml", filepath.Join(home, "its.yaml")},
		{"${ROOT}/$SUB/mine.yaml", "", filepath.Join(cwd, "mine.yaml")},
		{"", "$ROOT/home/../project/mine.yaml", filepath.Join(cwd, "mine.yaml")},
		{"", "", inCwd},
	} {
		if got := find(c.flag, c.variable); got != c.want {
			t.Errorf("Find(%q, %q) = %s, want %s", c.flag, c.variable, got, c.want)
		}
	}
	if err := os.Remove(inCwd); err != nil {
		t.Fatal(err)
	}
	if got := find("", ""); got != inHome {
		t.Errorf("without a file here: %s, want %s", got, inHome)
	}
}

func TestFindSaysWhereItLookedAndWhatToDo(t *testing.T) {
	cwd, home := t.TempDir(), t.TempDir()
	rewrite(t, filepath.Join(home, fileName), "")
	none := func(string) string { return "" }
	named := func(name string) string {
		if name == EnvFile {
			return "gone.yaml"
		}
		return ""
	}
	for _, c := range []struct {
		name, flag string
		env        func(string) string
		home       string
		want       string
	}{
		{"nothing anywhere", "", none, cwd + "/nohome", "no configuration file: looked for CWD/.the-loop/cli-config.yaml and CWD/nohome/.the-loop/cli-config.yaml; " +
			"make one with 'the-loop config init', or name one with --config FILE or $THE_LOOP_CLI_CONFIG"},
		{"no home", "", none, "", "no configuration file: looked for CWD/.the-loop/cli-config.yaml; " +
			"make one with 'the-loop config init', or name one with --config FILE or $THE_LOOP_CLI_CONFIG"},
		// What is named and missing is never replaced by another one.
		{"flag", "a/b.yaml", none, home, "no configuration file at CWD/a/b.yaml, which --config names: correct the path, or make the file with 'the-loop config init --to FILE'"},
		{"variable", "", named, home, "no configuration file at CWD/gone.yaml, which $THE_LOOP_CLI_CONFIG names: correct the path, or make the file with 'the-loop config init --to FILE'"},
	} {
		_, err := Find(c.flag, c.env, cwd, c.home)
		var missing *NotFoundError
		if !errors.As(err, &missing) || strings.ReplaceAll(err.Error(), cwd, "CWD") != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Find("$NOWHERE/x", none, cwd, home); err == nil || !strings.Contains(err.Error(), "$NOWHERE is not set") {
		t.Errorf("unset variable: %v", err)
	}
	if _, err := Find("~/x", none, cwd, ""); err == nil || !strings.Contains(err.Error(), "home directory is not known") {
		t.Errorf("no home: %v", err)
	}
}

// A closed folder might hide the file that counts: it is not passed over.
func TestFindStopsAtWhatItCannotLookAt(t *testing.T) {
	if os.Geteuid() == 0 {
		loop := t.TempDir()
		if err := os.Symlink(".the-loop", filepath.Join(loop, ".the-loop")); err != nil {
			t.Fatal(err)
		}
		if _, err := Find("", func(string) string { return "" }, loop, t.TempDir()); err == nil || errors.As(err, new(*NotFoundError)) {
			t.Errorf("a link to itself is passed over: %v", err)
		}
		return
	}
	cwd := t.TempDir()
	rewrite(t, filepath.Join(cwd, fileName), "")
	if err := os.Chmod(filepath.Join(cwd, ".the-loop"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(cwd, ".the-loop"), 0o700) })
	if _, err := Find("", func(string) string { return "" }, cwd, t.TempDir()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// What Resolve gives is absolute, clean, and stays what it is.
func TestResolveIsFinal(t *testing.T) {
	env := func(name string) string { return map[string]string{"A": "x/y", "B": "/abs"}[name] }
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`(~/|\$A/|\$\{B\}/|/|\./|\.\./)?([a-z.]{1,4}/){0,3}[a-z]{1,3}`).Draw(t, "path")
		once, err := Resolve(path, env, "/cwd", "/home/me")
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Resolve(once, env, "/elsewhere", "/nobody")
		if err != nil || once != twice || !filepath.IsAbs(once) || filepath.Clean(once) != once {
			t.Fatalf("%q → %q → %q, %v", path, once, twice, err)
		}
	})
}

func TestLoadReadsRegularFilesOnly(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		if _, _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+": it is not a file") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := Check(path); err == nil {
			t.Errorf("check %s: no error", path)
		}
	}
	if _, _, err := Load(filepath.Join(t.TempDir(), "no.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

package tmux

import (
	"slices"
	"strings"
)

// allowed are the variables that tmux and the sessions may see (D8): a tmux server keeps its first client's environment
// for life and hands it to every pane, so a token that got in would be everywhere and never be renewed.
var allowed = [...]string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "XDG_RUNTIME_DIR"}

// filterEnv keeps the allow-list, LC_* and what the user passes on by name. No TMUX variable gets through by pass:
// $TMUX would send our calls to another server.
func filterEnv(environ, pass []string) []string {
	var kept []string
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		fine := slices.Contains(allowed[:], name) || strings.HasPrefix(name, "LC_") || slices.Contains(pass, name)
		if ok && fine && !isTmuxVar(name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

func isTmuxVar(name string) bool { return strings.HasPrefix(name, "TMUX") }

// clientEnv is filterEnv and the one TMUX variable without which the server is not found.
func clientEnv(environ, pass []string) []string {
	env := filterEnv(environ, pass)
	for _, kv := range environ {
		if strings.HasPrefix(kv, "TMUX_TMPDIR=") {
			env = append(env, kv)
		}
	}
	return env
}

// mergeEnv puts extra over base, by name; TMUX variables are dropped from both.
func mergeEnv(base, extra []string) []string {
	var env []string
	at := map[string]int{}
	for _, kv := range slices.Concat(base, extra) {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || isTmuxVar(name) {
			continue
		}
		if i, seen := at[name]; seen {
			env[i] = kv
			continue
		}
		at[name] = len(env)
		env = append(env, kv)
	}
	return env
}

func withoutEnv(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

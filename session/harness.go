package session

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"theloop/workitem"
)

// The placeholders of a harness's command line.
const (
	promptArg    = "{{prompt}}"
	sessionIDArg = "{{sessionId}}"
	workItemArg  = "{{workItem}}"
)

// Harness is how a coding agent is started: command lines, element by element,
// never a shell's. {{prompt}}, {{sessionId}} and {{workItem}} in them are
// replaced, each element in one pass; a command line without {{prompt}} gets it
// as its last argument.
type Harness struct {
	Name string
	// Command starts a fresh conversation. Without {{sessionId}} in it the
	// harness picks an id of its own, which nobody learns.
	Command []string
	// Resume goes on with a conversation; empty when the harness cannot.
	Resume []string
	// Args are put before the prompt of both.
	Args []string
	// asksForTrust says that it asks whether a folder may be trusted, in a dialog,
	// and keeps the answer in the file that Settings.Trust names (D11).
	asksForTrust bool
}

// builtIn returns the harnesses that need no configuration.
func builtIn(name string) (Harness, bool) {
	switch name {
	case "claude":
		return Harness{
			Name:         name,
			Command:      []string{"claude", "--session-id", sessionIDArg, promptArg},
			Resume:       []string{"claude", "--resume", sessionIDArg, promptArg},
			asksForTrust: true,
		}, true
	case "cursor":
		return Harness{
			Name:    name,
			Command: []string{"cursor-agent", promptArg},
			Resume:  []string{"cursor-agent", "--resume", sessionIDArg, promptArg},
		}, true
	}
	return Harness{}, false
}

// harness finds a harness by name: the configured one, else the built-in.
func (s Settings) harness(name string) (Harness, error) {
	h, ok := s.Harnesses[name]
	if !ok || len(h.Command) == 0 {
		if h, ok = builtIn(name); !ok {
			return Harness{}, fmt.Errorf("there is no harness %q: name it under routing.harnesses, or use claude or cursor", name)
		}
	}
	h.Name = name
	h.Args = slices.Concat(h.Args, s.HarnessArgs[name])
	return h, nil
}

// Knows errs when no harness of that name is configured or built in.
func (s Settings) Knows(name string) error {
	_, err := s.harness(name)
	return err
}

// names reports whether the harness can be told the id of a fresh conversation.
func (h Harness) namesSession() bool {
	return slices.ContainsFunc(h.Command, func(s string) bool { return strings.Contains(s, sessionIDArg) })
}

// argv is a command line with everything in it but the prompt where that is an
// element of its own: it travels apart (D8).
func (h Harness) argv(command []string, sessionID, prompt string, ref workitem.Ref) []string {
	argv := slices.Clone(command)
	at := slices.Index(argv, promptArg)
	if at < 0 && !slices.ContainsFunc(argv, func(s string) bool { return strings.Contains(s, promptArg) }) {
		at = len(argv)
		argv = append(argv, promptArg)
	}
	if at < 0 {
		at = len(argv)
	}
	argv = slices.Insert(argv, at, h.Args...)
	fill := strings.NewReplacer(promptArg, prompt, sessionIDArg, sessionID, workItemArg, safeText(ref.String(), maxLink))
	for i, element := range argv {
		if element != promptArg {
			argv[i] = fill.Replace(element)
		}
	}
	return argv
}

// newSessionID returns a random UUID (version 4), which is what harnesses take
// for the id of a conversation.
func newSessionID(random io.Reader) (string, error) {
	var b [16]byte
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a session id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// usableSessionID keeps ids of a strange form out of command lines: rows can be
// imported or read from a pane, and "--help" is no conversation.
func usableSessionID(id string) bool {
	const longest = 128
	if id == "" || len(id) > longest || id[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
	})
}

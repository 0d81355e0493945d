package tmux

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// PromptArg is the element of Argv that Prompt takes the place of.
	PromptArg = "{{prompt}}"
	// MaxPrompt is how long a first prompt may be, in bytes: one argument of a program may have 128 KiB on Linux (D8).
	MaxPrompt = 120 << 10
	// maxOrder bounds an order as a whole: arguments and environment together may fill a quarter of a 8 MiB stack.
	maxOrder = 1 << 20
)

var errNoProgram = errors.New("the order names no program")

// ErrPromptTooLong is returned for a first prompt of more than MaxPrompt bytes.
var ErrPromptTooLong = errors.New("the first prompt is too long")

// Order is what session-exec runs in a pane. Its strings may hold any byte but NUL: nothing of it becomes an argument of
// tmux (D8).
type Order struct {
	Dir    string   // absolute; the program starts there
	Env    []string // "NAME=value", over the allow-listed environment
	Argv   []string // the program, found in PATH of that environment or a path, and its arguments
	Prompt string   // replaces the elements of Argv that are PromptArg; they go when it is empty
}

// wire is an Order as it travels. Byte slices, because JSON strings would change what is not UTF-8 (a path, say).
type wire struct {
	Dir  []byte   `json:"dir"`
	Env  [][]byte `json:"env"`
	Argv [][]byte `json:"argv"`
}

// letter is what goes into the buffer: the path of this program, on a line of its own for the shell that starts it, and
// the order.
func (s *Server) letter(o Order) ([]byte, error) {
	argv, err := o.argv()
	if err != nil {
		return nil, err
	}
	w := wire{Dir: []byte(o.Dir), Env: byteSlices(mergeEnv(s.paneEnv, o.Env)), Argv: byteSlices(argv)}
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	if len(body) > 2*maxOrder {
		return nil, fmt.Errorf("the order for %s is too long: %d bytes; shorten the arguments or the environment", argv[0], len(body))
	}
	return slices.Concat([]byte(s.exe), []byte("\n"), body), nil
}

// argv checks the order and puts the prompt in.
func (o Order) argv() ([]string, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return nil, errNoProgram
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("working directory %q: it must be absolute", o.Dir)
	}
	if len(o.Prompt) > MaxPrompt {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrPromptTooLong, len(o.Prompt), MaxPrompt)
	}
	if o.Prompt != "" && !slices.Contains(o.Argv, PromptArg) {
		return nil, fmt.Errorf("the arguments of %s have no %s for the first prompt", o.Argv[0], PromptArg)
	}
	var argv []string
	for _, a := range o.Argv {
		if a != PromptArg {
			argv = append(argv, a)
		} else if o.Prompt != "" {
			argv = append(argv, o.Prompt)
		}
	}
	for _, text := range slices.Concat([]string{o.Dir}, o.Env, argv) {
		if strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("the order for %s holds a NUL byte in %.40q", o.Argv[0], text)
		}
	}
	return argv, nil
}

func readLetter(text []byte) (wire, error) {
	_, body, ok := strings.Cut(string(text), "\n")
	var w wire
	if err := json.Unmarshal([]byte(body), &w); !ok || err != nil || len(w.Argv) == 0 {
		return w, fmt.Errorf("the order cannot be read (%d bytes): %w", len(text), err)
	}
	return w, nil
}

func byteSlices(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func stringsOf(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

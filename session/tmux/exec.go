package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sessionExec is the hidden command that a pane runs to become its harness; Look.Ours knows our panes by it.
const sessionExec = "session-exec"

// bootstrap is the command of a pane: a shell that becomes this program, which becomes the harness, so that the pane's
// process is the harness itself. The path of this program may hold any character, so it is the first line of the
// buffer. tmux runs a command of several words without the user's shell. It is asked by the binary of the running
// server where the system shows it (PATH in there may hold another tmux, or none), else by the one in PATH.
func bootstrap(id arg) arg {
	return `/bin/sh -c '` +
		`p=${TMUX%,*}; p=/proc/${p##*,}/exe; [ -x "$p" ] || p=tmux; ` +
		`e=$("$p" save-buffer -b loop-"$0" - | { IFS= read -r l; printf %s "$l"; }); ` +
		`[ -n "$e" ] || { echo "the-loop: the order for this pane is gone from tmux; the next delivery starts it again" >&2; exit 127; }; ` +
		`exec "$e" ` + sessionExec + ` "$0"` +
		`' ` + id
}

// orderTimeout is how long session-exec waits for the server whose pane it is in.
const orderTimeout = 10 * time.Second

// Exec is the hidden command "session-exec <hex>", run in a pane made by Spawn: it takes the order out of its tmux
// buffer, which is deleted with that, drops every TMUX variable, goes to the folder and becomes the program (D8). It
// returns only when it cannot; the error says what was not found and where it was looked for, and is to be printed,
// with a nonzero exit. Nothing is written to disk.
func Exec(ctx context.Context, hex string) error {
	id, err := word("the argument of session-exec", hex)
	if err != nil {
		return err
	}
	if os.Getenv("TMUX") == "" {
		return errors.New("session-exec is run by tmux, in a pane that the-loop made; there is none here")
	}
	order, err := takeOrder(ctx, bufferPrefix+id)
	if err != nil {
		return fmt.Errorf("take the order %s from tmux: %w", hex, err)
	}
	return order.become()
}

func takeOrder(ctx context.Context, buffer arg) (wire, error) {
	ctx, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	args := []arg{"save-buffer", "-b", buffer, "-", ";", "delete-buffer", "-b", buffer}
	out, err := runCommand(ctx, exec.CommandContext(ctx, paneTmux(os.Getenv("TMUX")), texts(args)...), nil)
	if err != nil {
		return wire{}, err
	}
	return readLetter([]byte(out))
}

// paneTmux is bootstrap's choice of the binary. TMUX is "<socket>,<server pid>,<session>".
func paneTmux(env string) string {
	parts := strings.Split(env, ",")
	if len(parts) >= 3 {
		exe := "/proc/" + parts[len(parts)-2] + "/exe"
		if info, err := os.Stat(exe); err == nil && info.Mode()&0o111 != 0 {
			return exe
		}
	}
	return "tmux"
}

// become turns this process into the program.
func (w wire) become() error {
	env, argv, dir := w.environ(), stringsOf(w.Argv), string(w.Dir)
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("go to the working directory of the session: %w", err)
	}
	path, err := findProgram(argv[0], valueOf(env, "PATH"))
	if err != nil {
		return err
	}
	return fmt.Errorf("start %s in %s: %w", path, dir, replaceProcess(path, argv, env))
}

// environ is the order's, with the terminal's own TERM: the one of the daemon is of another terminal, or of none.
func (w wire) environ() []string {
	extra := []string{"PWD=" + string(w.Dir)}
	if term := os.Getenv("TERM"); term != "" {
		extra = append(extra, "TERM="+term)
	}
	return mergeEnv(mergeEnv(nil, stringsOf(w.Env)), extra)
}

// Runnable tells whether the order's program is where a pane would look for it; the error names it, and PATH.
func (s *Server) Runnable(o Order) error {
	if len(o.Argv) == 0 {
		return errNoProgram
	}
	program := o.Argv[0]
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		program = filepath.Join(o.Dir, program)
	}
	_, err := findProgram(program, valueOf(mergeEnv(s.paneEnv, o.Env), "PATH"))
	return err
}

// findProgram looks in the PATH that the program will have, not in the one of the tmux server.
func findProgram(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("find the harness: %w", err)
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, name)
		if info, err := os.Stat(candidate); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("find the harness %q: no such program in PATH=%s; install it, or give its full path in the configuration", name, path)
}

package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

var (
	// ErrNoAnswer is returned when tmux did not answer before the deadline: the effect may or may not have happened (D4).
	ErrNoAnswer = errors.New("tmux did not answer in time")
	// ErrRefused is returned when the guard of a sequence did not hold: nothing was done. The pane is gone, dead, another
	// one, or not ours; Look says which.
	ErrRefused = errors.New("the pane is no longer what it was")
	// ErrNotReady is returned when a pane's terminal did not leave line mode in time (D4).
	ErrNotReady = errors.New("the program in the pane is not ready for input")

	errNoServer = errors.New("no tmux server is running")
)

const (
	// maxOutput bounds what is kept of tmux's answer; a thousand panes are about 300 KiB.
	maxOutput = 8 << 20
	// outputWait is how long after the end of a call its pipes are waited for. The client hands them to the server, which
	// closes its copies when it sees the client go; what the client had to say is complete by then, but has to be read
	// yet: on a machine where that takes longer an answer would count as none, which holds the session for ten seconds.
	outputWait = 2 * time.Second
	// killedWait is the same for a client that was killed: it has no answer to wait for.
	killedWait = 250 * time.Millisecond
)

// call is one tmux process.
type call struct {
	args  []arg
	stdin []byte
	dir   string    // working directory of the client, which a new session takes over; never an argument
	until time.Time // an earlier deadline than the server's timeout; zero for none
	bare  bool      // without -L and -u
}

// run starts one tmux process, in its own process group, and returns what it printed.
func (s *Server) run(ctx context.Context, c call) (string, error) {
	timeout := s.timeout
	if left := c.until.Sub(s.now()); !c.until.IsZero() && left < timeout {
		timeout = max(left, 0)
	}
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	args := c.args
	if !c.bare {
		args = append(append([]arg(nil), s.base...), args...)
	}
	cmd := exec.CommandContext(timed, s.binary, texts(args)...)
	cmd.Env, cmd.Dir = s.env, c.dir
	return runCommand(ctx, cmd, c.stdin)
}

// runCommand runs cmd to its end and tells apart: an answer, no server, no answer in time, and what tmux complained of.
func runCommand(ctx context.Context, cmd *exec.Cmd, stdin []byte) (string, error) {
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, outputWait
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	ownGroup(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch complaint := strings.TrimSpace(stderr.String()); {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("run tmux: %w", ctx.Err())
	case errors.As(err, &exit) && exit.Exited() && saysNoServer(complaint):
		return "", fmt.Errorf("%w: %s", errNoServer, complaint)
	case errors.As(err, &exit) && exit.Exited():
		return stdout.String(), fmt.Errorf("tmux: %s (exit status %d)", complaint, exit.ExitCode())
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay), errors.Is(err, context.DeadlineExceeded):
		return stdout.String(), fmt.Errorf("%w (%v)", ErrNoAnswer, err)
	default:
		return "", fmt.Errorf("run %s: %w", cmd.Path, err)
	}
}

// saysNoServer knows the two ways in which a client says that nobody listens. Its wording is all that tmux gives.
func saysNoServer(complaint string) bool {
	return strings.HasPrefix(complaint, "no server running on ") ||
		strings.HasPrefix(complaint, "error connecting to ") && strings.HasSuffix(complaint, "(No such file or directory)")
}

func texts(args []arg) []string {
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = string(a)
	}
	return list
}

// sequence is one step of the server: nothing else of it happens between the first and the last command of body.
type sequence struct {
	id    arg    // names the buffer that stdin is loaded into, and the option that carries body
	start bool   // start the server when none runs
	stdin []byte // loaded into the buffer first when not nil
	dir   string
	until time.Time // the guard in body refuses from here on
	body  arg
}

// apply runs a sequence and returns the line that it printed for us: "OK <id>…" or "SKIP <id>".
//
// The body goes into an option that is then run as a hook. Commands of a hook run without hooks, so that a user's
// after-new-session or after-set-option can neither come between a session and its marks nor split the pane that the
// marks are meant for. Beside that, an option holds a whole script with one level of quoting.
func (s *Server) apply(ctx context.Context, q sequence) (Outcome, string, error) {
	var args []arg
	if q.start {
		args = append(args, "start-server", ";")
	}
	args = append(args, "set-option", "-g", "@loop_now", "%s", ";")
	if q.stdin != nil {
		args = append(args, "load-buffer", "-b", bufferPrefix+q.id, "-", ";")
	}
	option := "@loop_" + q.id
	args = append(args, "set-option", "-g", option, q.body, ";", "set-hook", "-R", option, ";", "set-option", "-gu", option)
	out, err := s.run(ctx, call{args: args, stdin: q.stdin, dir: q.dir, until: q.until.Add(answerWait)})
	return readOutcome(out, q.id, err)
}

// answerWait is how long after the deadline the answer may still come; from the deadline on it can only be SKIP.
const answerWait = time.Second

func readOutcome(out string, id arg, err error) (Outcome, string, error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "OK "+string(id)); ok {
			return OK, rest, nil
		}
		if line == "SKIP "+string(id) {
			return Skip, "", nil
		}
	}
	switch {
	case errors.Is(err, errNoServer):
		return Skip, "", err
	case err == nil:
		err = fmt.Errorf("%w: it printed %q", ErrNoAnswer, out)
	}
	return Unknown, "", err
}

// bounded keeps the first maxOutput bytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxOutput-b.Len()))])
	return len(p), nil
}

// dirOr is dir when it is a folder, else the root: a client cannot start in a folder that is gone, session-exec says so.
func dirOr(dir string) string {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return "/"
}

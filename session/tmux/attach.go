package tmux

import (
	"fmt"
	"slices"
	"strings"
)

// Attach hands this process's terminal over to the session of a pane: the process becomes tmux. It returns only when it
// cannot. Inside the very server the client there is switched to the session, since tmux nests only unwillingly; a
// read-only one is nested all the same, because a client of the user's is not made read-only behind his back.
func (s *Server) Attach(l Look, readOnly bool, env []string) error {
	args, err := s.attachArgs(l, readOnly, valueOf(env, "TMUX"))
	if err != nil {
		return fmt.Errorf("attach to tmux session %q: %w", l.Name, err)
	}
	environ := s.env
	if args[len(s.base)] == switchClient { // the one call that has to know where it is
		environ = append(slices.Clone(environ), "TMUX="+valueOf(env, "TMUX"), "TMUX_PANE="+valueOf(env, "TMUX_PANE"))
	}
	argv := append([]string{s.binary}, args...)
	return fmt.Errorf("attach to tmux session %q: run %s: %w", l.Name, s.binary, replaceProcess(s.binary, argv, environ))
}

const switchClient = "switch-client"

// attachArgs are the arguments of that tmux. within is the value of TMUX: "<socket>,<server pid>,<session>".
func (s *Server) attachArgs(l Look, readOnly bool, within string) ([]string, error) {
	target, err := l.place()
	if err != nil {
		return nil, err
	}
	server, _, _ := strings.Cut(l.Identity, "/")
	parts := strings.Split(within, ",")
	if !readOnly && len(parts) >= 3 && server != "" && parts[len(parts)-2] == server {
		return texts(append(slices.Clone(s.base), switchClient, "-t", target)), nil
	}
	args := append(slices.Clone(s.base), "attach-session", "-t", target)
	if readOnly {
		args = append(args, "-r")
	}
	return texts(args), nil
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

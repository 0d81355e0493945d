package tmux

import (
	"context"
	"fmt"
)

// Capture is the text of the pane, with up to 200 lines that have scrolled away, for people. It holds what the program
// printed: escape it before it is shown. ErrRefused when it is not the pane that was looked at.
func (s *Server) Capture(ctx context.Context, l Look) (string, error) {
	target, err := l.place()
	if err != nil {
		return "", err
	}
	who, err := identity(l.Identity)
	if err != nil {
		return "", err
	}
	out, err := s.run(ctx, call{args: []arg{"if-shell", "-F", "-t", target, all(isAt(target), equal(isPane, who)),
		"capture-pane -p -J -S -200 -t " + target, "display-message -p ''"}})
	if err != nil {
		return "", fmt.Errorf("read %s of tmux session %q: %w", l.PaneID, l.Name, err)
	}
	if out == "\n" || out == "" {
		return "", settled(Skip, nil, "read", l)
	}
	return out, nil
}

package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bufferAge is how old a buffer of ours must be before it is swept: longer than any deadline and than a pane takes to
// fetch its order.
const bufferAge = time.Minute

// Sweep deletes the buffers that killed processes of this instance left behind and that are older than a minute; they
// hold what people wrote. Other instances' and users' buffers are not touched. No server: nothing to do.
func (s *Server) Sweep(ctx context.Context) error {
	out, err := s.run(ctx, call{args: []arg{"list-buffers", "-F", "#{buffer_created} #{buffer_name}"}})
	if errors.Is(err, errNoServer) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list tmux buffers: %w", err)
	}
	for line := range strings.Lines(out) {
		created, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		buffer, ok := s.leftover(created, name)
		if !ok {
			continue
		}
		if _, err := s.run(ctx, call{args: []arg{"delete-buffer", "-b", buffer}}); errors.Is(err, ErrNoAnswer) || ctx.Err() != nil {
			return fmt.Errorf("delete tmux buffer %s: %w", name, err)
		}
	}
	return nil
}

// leftover recognises an old buffer of ours: the prefix, 16 hex digits, and "-cr" perhaps.
func (s *Server) leftover(created, name string) (arg, bool) {
	seconds, err := strconv.ParseInt(created, 10, 64)
	random, ok := strings.CutPrefix(name, s.prefix)
	if err != nil || !ok || !isMark(strings.TrimSuffix(random, "-cr")) || s.now().Sub(time.Unix(seconds, 0)) < bufferAge {
		return "", false
	}
	buffer, err := word("buffer name", name)
	return buffer, err == nil
}

package tmux

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrControl is returned for a text with control characters (or bytes that are not UTF-8): they would end the bracketed
// paste and type keys. The caller cleans texts; this is the last gate.
var ErrControl = errors.New("the text holds control characters or is not UTF-8")

// Paste is one delivery (D3).
type Paste struct {
	Look  Look   // the pane as it was looked at; its identity is part of the guard
	Owner string // the owner mark that it must carry
	Mark  string // of the delivery; refused when the ring has it
	Text  []byte // UTF-8; of C0 only \n and \t; may be empty: then only the submit is sent
	// Loaded is the Text in its buffer; zero when it is still to be loaded.
	Loaded Loaded
	Span
}

// Loaded is a text that waits in a buffer of its own for one Paste. The zero value is none.
type Loaded struct{ id arg }

// LookAndLoad is Look, and loads a text over stdin for the Paste that follows, in the same tmux process: looking, loading
// and pasting are two. Nothing is loaded when the text may not be pasted; Paste says why. What was loaded and is not pasted
// is to be dropped.
func (s *Server) LookAndLoad(ctx context.Context, t Target, text []byte) (Look, Loaded) {
	id, err := s.newID()
	if err != nil || len(text) == 0 || !clean(text) {
		return s.Look(ctx, t), Loaded{}
	}
	l := s.look(ctx, t, call{args: []arg{"load-buffer", "-b", bufferPrefix + id, "-", ";"}, stdin: text})
	if l.State == Silent { // it would not answer to a drop, either; the next start sweeps
		return l, Loaded{}
	}
	return l, Loaded{id}
}

// Drop deletes the buffer of a text that is not going to be pasted. One that stays is swept at the next start.
func (s *Server) Drop(ctx context.Context, l Loaded) {
	if l.id != "" {
		_, _ = s.run(ctx, call{args: []arg{"delete-buffer", "-b", bufferPrefix + l.id}})
	}
}

// Paste sends a text into a pane and submits it: once while the pane lives (D3, D7). It takes two tmux processes: one
// loads the text, over stdin, into a buffer of its own (unless it is loaded); one leaves copy mode, pastes, submits and
// marks the ring, under one guard. Unknown comes with an error and means: nothing else may happen to this session until
// Until has passed.
func (s *Server) Paste(ctx context.Context, p Paste) (Outcome, error) {
	p.Span = s.span(p.Span)
	outcome, err := s.paste(ctx, p)
	if err != nil {
		err = fmt.Errorf("paste into %s of tmux session %q: %w", p.Look.PaneID, p.Look.Name, err)
	}
	return outcome, err
}

func (s *Server) paste(ctx context.Context, p Paste) (Outcome, error) {
	id, body, err := s.prepare(ctx, p)
	if err != nil { // nothing was sent
		s.Drop(ctx, p.Loaded)
		return Skip, err
	}
	outcome, _, err := s.apply(ctx, sequence{id: id, body: body, until: p.Until})
	return outcome, err
}

// prepare makes the guarded step and loads what it pastes.
func (s *Server) prepare(ctx context.Context, p Paste) (id, body arg, err error) {
	if id = p.Loaded.id; id == "" {
		if id, err = s.newID(); err != nil {
			return id, "", err
		}
	}
	if !clean(p.Text) {
		return id, "", ErrControl
	}
	if body, err = p.body(id); err != nil {
		return id, "", err
	}
	if !s.now().Before(p.Until) {
		return id, "", fmt.Errorf("paste the text: %w", context.DeadlineExceeded)
	}
	return id, body, s.load(ctx, id, p)
}

// load puts the text into the buffer, unless it is there. An empty text makes no buffer.
func (s *Server) load(ctx context.Context, buffer arg, p Paste) error {
	if len(p.Text) == 0 || p.Loaded.id != "" {
		return nil
	}
	_, err := s.run(ctx, call{args: []arg{"load-buffer", "-b", bufferPrefix + buffer, "-"}, stdin: p.Text, until: p.Until})
	if err != nil {
		return fmt.Errorf("load the text: %w", err)
	}
	return nil
}

// body is the guarded step. The mark comes after the paste: a step that stops in the middle must not leave the mark of
// something that was not sent. -p keeps the brackets, -r keeps line feeds, -d deletes the buffer.
func (p Paste) body(id arg) (arg, error) {
	target, guard, err := p.Look.guard(p.Owner, p.Span)
	if err != nil {
		return "", err
	}
	mark, err := markWord(p.Mark)
	if err != nil {
		return "", err
	}
	buffer := bufferPrefix + id
	text, drop := "paste-buffer -p -r -d -b "+buffer+" -t "+target+" ; ", "delete-buffer -b "+buffer+" ; "
	if len(p.Text) == 0 {
		text, drop = "", ""
	}
	script := "copy-mode -q -t " + target + " ; " + text +
		"set-buffer -b " + buffer + `-cr "\r" ; paste-buffer -r -d -b ` + buffer + "-cr -t " + target + " ; " +
		remember(target, mark)
	return choice(target, all(guard, alive, takesIn, not(inRing(mark))), script, drop, id), nil
}

// clean tells whether a text may be pasted: UTF-8 without C0 (but \n and \t), DEL and C1.
func clean(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
			return false
		}
		i += size
	}
	return true
}

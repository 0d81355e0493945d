package daemon

import (
	"context"

	"theloop/webterm"
)

// webOptions are those of the web terminal, but for what it shows.
func (s *service) webOptions() webterm.Options {
	w := s.cfg.Routing.WebTerminal
	return webterm.Options{Host: w.Host, Port: w.Port, Writable: w.Writable, Log: s.o.Log}
}

// checkWeb refuses a start whose web terminal could not be started (R3).
func (s *service) checkWeb() error {
	if !s.cfg.Routing.WebTerminal.Enabled {
		return nil
	}
	return s.webOptions().Check()
}

// openWeb shows the sessions in a browser, when that is wanted.
func (s *service) openWeb(ctx context.Context) error {
	if !s.cfg.Routing.WebTerminal.Enabled {
		return nil
	}
	o := s.webOptions()
	o.Env = s.tmux.Environ()
	o.Command = []string{s.o.Exe, "session-view", "--instance=" + s.ledger.Instance()}
	if name := s.cfg.Routing.Tmux.SocketName; name != "" {
		o.Command = append(o.Command, "--socket="+name)
	}
	if o.Writable {
		o.Command = append(o.Command, "--writable")
	}
	o.Command = append(o.Command, "--") // what stands in the address is no option
	t, err := webterm.Start(ctx, o)
	if err != nil {
		return err
	}
	s.onClose(t.Close)
	return nil
}

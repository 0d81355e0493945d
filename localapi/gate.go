package localapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
)

// maxConns is how many clients are answered at once. There are people and their
// scripts at the other end; the rest waits in the socket's queue.
const maxConns = 16

// PeerError is returned when the process at the other end of the socket is
// another user's.
type PeerError struct {
	Path string
	// Peer is the other user, Own this one.
	Peer, Own int
}

// Error names both users and what to do.
func (e *PeerError) Error() string {
	return fmt.Sprintf("the control socket %s leads to a process of user %d and this one is of user %d: run it as the user who runs the poller",
		e.Path, e.Peer, e.Own)
}

// checkPeer refuses a connection to another user's process. The folder's mode
// keeps others away as it is; this holds for whoever may pass that as well, and
// for a client that is led to a socket of somebody else.
func checkPeer(c net.Conn, path string, own int) error {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return errors.New("ask who is at the other end: no socket")
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return fmt.Errorf("ask who is at the other end: %w", err)
	}
	uid, asked := 0, error(nil)
	if err := control.Control(func(fd uintptr) { uid, asked = peerUID(int(fd)) }); err != nil {
		asked = err
	}
	switch {
	case asked != nil:
		return fmt.Errorf("ask who is at the other end of %s: %w", path, os.NewSyscallError("getsockopt", asked))
	case uid != own:
		return &PeerError{Path: path, Peer: uid, Own: own}
	}
	return nil
}

// gate lets in the user who runs the poller, and so many connections at a time.
type gate struct {
	net.Listener
	own    int
	log    *slog.Logger
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

func newGate(l net.Listener, own int, log *slog.Logger) *gate {
	return &gate{Listener: l, own: own, log: log, places: make(chan struct{}, maxConns), closed: make(chan struct{})}
}

// Accept returns the next connection that may come in.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.places <- struct{}{}:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			<-g.places
			return nil, err
		}
		if err := checkPeer(c, g.Addr().String(), g.own); err != nil {
			g.log.Warn("a connection to the control socket was refused", "error", err)
			_ = c.Close()
			continue
		}
		return &guest{Conn: c, leave: sync.OnceFunc(func() { <-g.places })}, nil
	}
}

// Close closes the socket; an Accept that waits for a place ends as well.
func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.Listener.Close()
}

// guest is a connection that gives its place back.
type guest struct {
	net.Conn
	leave func()
}

func (c *guest) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

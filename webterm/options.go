package webterm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// DefaultBinary is looked for in PATH.
const DefaultBinary = "ttyd"

// maxClients bounds who looks at once; each is a tmux client.
const maxClients = "16"

// Options are what a Terminal is made of.
type Options struct {
	// Binary is ttyd, found in PATH unless it holds a "/"; DefaultBinary when empty.
	Binary string
	// Host is an address of this machine, and Port where it listens there.
	Host string
	Port int
	// Writable lets those who look type as well.
	Writable bool
	// Command is what a browser sees.
	Command []string
	// Env is all that ttyd and the command see.
	Env []string
	// Log gets what happens to it; slog.Default when nil.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Binary == "" {
		o.Binary = DefaultBinary
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (o Options) address() string { return net.JoinHostPort(o.Host, strconv.Itoa(o.Port)) }

// find finds ttyd; the error says where it was looked for (R3).
func (o Options) find() (string, error) {
	path, err := exec.LookPath(o.Binary)
	if err != nil {
		return "", fmt.Errorf("routing.webTerminal.enabled is on, and %s is not there (PATH=%s): install it, or turn the web terminal off",
			o.Binary, os.Getenv("PATH"))
	}
	return path, nil
}

// resolve makes an address of the host, since ttyd takes no names.
func (o Options) resolve() (Options, error) {
	at, err := net.ResolveTCPAddr("tcp", o.address())
	if err != nil {
		return o, fmt.Errorf("routing.webTerminal.host: %w", err)
	}
	o.Host = at.IP.String()
	return o, nil
}

// free errs when the port is somebody's; the error names it (R3).
func (o Options) free() error {
	l, err := net.Listen("tcp", o.address())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("the web terminal cannot listen on %s: somebody else does (find out who with: ss -ltnp 'sport = :%d'); "+
			"choose another routing.webTerminal.port", o.address(), o.Port)
	case err != nil:
		return fmt.Errorf("the web terminal cannot listen on %s (routing.webTerminal.host, .port): %w", o.address(), err)
	}
	return l.Close()
}

// helpTime bounds the question which options a ttyd has.
const helpTime = 5 * time.Second

// Check errs when a Terminal could not be started: ttyd is missing, or the port is
// somebody's. Nothing is started.
func (o Options) Check() error {
	o = o.withDefaults()
	if _, err := o.find(); err != nil {
		return err
	}
	o, err := o.resolve()
	if err != nil {
		return err
	}
	return o.free()
}

// argv is ttyd's command line. Up to 1.7.3 it takes what a browser sends unless
// it is told not to, later ones only when they are told to; its own help says
// which it is, and one that says neither is refused.
func (o Options) argv(ctx context.Context, binary string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, helpTime)
	defer cancel()
	help := exec.CommandContext(ctx, binary, "--help")
	help.Env = o.Env
	text, _ := help.CombinedOutput() // some exit with 1
	argv := []string{binary, "--port", strconv.Itoa(o.Port), "--url-arg", "--check-origin", "--max-clients", maxClients}
	ip := net.ParseIP(o.Host)
	if !ip.IsUnspecified() {
		argv = append(argv, "--interface", o.Host)
	}
	if ip != nil && ip.To4() == nil {
		argv = append(argv, "--ipv6")
	}
	asksToWrite, asksToRead := bytes.Contains(text, []byte("--writable")), bytes.Contains(text, []byte("--readonly"))
	switch {
	case !asksToWrite && !asksToRead:
		return nil, fmt.Errorf("%s --help names neither --writable nor --readonly: it cannot be kept from typing into the sessions; install ttyd 1.6 or newer", binary)
	case asksToWrite && o.Writable:
		argv = append(argv, "--writable")
	case !asksToWrite && !o.Writable:
		argv = append(argv, "--readonly")
	}
	return append(argv, o.Command...), nil
}

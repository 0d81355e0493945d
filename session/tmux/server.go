package tmux

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultCallTimeout is how long one tmux process may take. tmux answers in milliseconds; a server that does not in
	// ten seconds is stopped or swapped out, and the answer is Unknown.
	DefaultCallTimeout = 10 * time.Second
	// DeadlineAfter is how long after its start a tmux sequence may still take effect (D3).
	DeadlineAfter = 10 * time.Second
	// bufferPrefix starts the name of every buffer of ours; 32 hex digits follow.
	bufferPrefix = "loop-"
	// The oldest tmux whose formats and flags are used here (arithmetic in formats, named hooks run at once).
	minMajor, minMinor = 3, 2
)

// Options say which tmux server, and for whom. The zero value of a field is its default where one is named.
type Options struct {
	Binary      string           // "tmux" when empty; looked up once, in PATH unless it holds a "/"
	Socket      string           // server name (tmux -L), [A-Za-z0-9_-]; empty is the user's default server
	Instance    string           // the ledger's instance, [A-Za-z0-9_-]: part of owner marks; names our buffers
	Exe         string           // absolute path of this program, run in panes as "<Exe> session-exec <hex>"
	PassEnv     []string         // variables let through beside the allow-list (D8)
	Environ     []string         // what the allow-list is applied to; os.Environ() when nil
	Now         func() time.Time // time.Now when nil
	CallTimeout time.Duration    // DefaultCallTimeout when 0
}

// Server calls one tmux server. It is safe for concurrent use and holds no state of its own.
type Server struct {
	binary   string
	version  string
	base     []arg  // -u, -L name
	prefix   string // of the names of our buffers: "loop-" and 16 hex digits of the instance
	instance string
	exe      string
	env      []string // of tmux itself
	paneEnv  []string // of harnesses, before what a spawn adds
	now      func() time.Time
	timeout  time.Duration
}

// New finds the binary and checks its version and the options. It calls no server. Descriptors that this process
// inherited are made close-on-exec first: a tmux server would keep them, and a lock on one, for its lifetime (L6).
func New(o Options) (*Server, error) {
	closeInherited()
	s := &Server{base: []arg{"-u"}, instance: o.Instance, exe: o.Exe, now: o.Now, timeout: o.CallTimeout}
	if s.now == nil {
		s.now = time.Now
	}
	if s.timeout <= 0 {
		s.timeout = DefaultCallTimeout
	}
	if err := s.setNames(o); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(o.Exe) || strings.ContainsAny(o.Exe, "\n\x00") {
		return nil, fmt.Errorf("path of this program %q: it must be absolute and without line breaks; install the-loop under another path", o.Exe)
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	s.env, s.paneEnv = clientEnv(environ, o.PassEnv), withoutEnv(filterEnv(environ, o.PassEnv), "TERM")
	return s, s.findBinary(o.Binary)
}

func (s *Server) setNames(o Options) error {
	if o.Socket != "" {
		socket, err := word("tmux socket name", o.Socket)
		if err != nil {
			return err
		}
		s.base = append(s.base, "-L", socket)
	}
	if _, err := word("ledger instance", o.Instance); err != nil {
		return err
	}
	s.prefix = bufferPrefix + Mark(o.Instance)
	return nil
}

func (s *Server) findBinary(name string) (err error) {
	if name == "" {
		name = "tmux"
	}
	if s.binary, err = exec.LookPath(name); err != nil {
		return fmt.Errorf("find %q in PATH=%s: %w; install tmux %d.%d or newer", name, os.Getenv("PATH"), err, minMajor, minMinor)
	}
	if s.binary, err = filepath.Abs(s.binary); err != nil {
		return fmt.Errorf("find %q: %w", name, err)
	}
	out, err := s.run(context.Background(), call{args: []arg{"-V"}, bare: true})
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", s.binary, err)
	}
	s.version = strings.TrimSpace(strings.TrimPrefix(out, "tmux "))
	if !newEnough(s.version) {
		return fmt.Errorf("%s is version %s; tmux %d.%d or newer is needed", s.binary, s.version, minMajor, minMinor)
	}
	return nil
}

var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)`)

// newEnough takes "3.3a" and "next-3.5"; what has no number ("master", a distribution's own) is trusted, but for
// OpenBSD's, which counts by its own release.
func newEnough(version string) bool {
	m := versionNumber.FindStringSubmatch(version)
	if m == nil || strings.HasPrefix(version, "openbsd") {
		return true
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > minMajor || major == minMajor && minor >= minMinor
}

// Version is that of the binary, such as "3.3a". A running server may be older.
func (s *Server) Version() string { return s.version }

// Binary is the absolute path of the tmux that is run.
func (s *Server) Binary() string { return s.binary }

// Environ is the environment that tmux is run with: the allow-list (D8), and where its socket is.
func (s *Server) Environ() []string { return slices.Clone(s.env) }

// newID is 32 hex digits: whose it is, and 16 at random. It names a buffer and is the argument of session-exec.
func (s *Server) newID() (arg, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a buffer name: %w", err)
	}
	return word("buffer name", strings.TrimPrefix(s.prefix, bufferPrefix)+hex.EncodeToString(b[:]))
}

package localapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A process of another user gets in at neither end, whatever the modes of socket
// and folder are, and is told whose the other end is.
func TestAnotherUserIsRefusedAtBothEnds(t *testing.T) {
	root := t.TempDir()
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan error, 1)
	go func() {
		c, err := newGate(l, os.Geteuid()+1, slog.New(slog.DiscardHandler)).Accept()
		if err == nil {
			c.Close()
		}
		accepted <- err
	}()
	c, err := dial(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server let another user in: %d bytes, %v", n, err)
	}
	l.Close()
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the refused connection was handed on: %v", err)
	}

	var other *PeerError
	err = checkPeer(c, SocketPath(root), os.Geteuid()+1)
	if !errors.As(err, &other) || other.Peer != os.Geteuid() || !strings.Contains(err.Error(), SocketPath(root)) {
		t.Errorf("the client: %v", err)
	}
}

const askerEnv = "LOCALAPI_TEST_ASK"

// asker is this test binary as the client of another user.
func asker(root string) int {
	_, err := NewClient(root).Status(context.Background())
	fmt.Println(err)
	var other *PeerError
	if errors.As(err, &other) {
		return 0
	}
	return 1
}

// The same with a real process of another user, where the tests may make one.
func TestARealOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // nobody else's process can be made; the test above stands for it
	}
	root, err := os.MkdirTemp("/tmp", "tl")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	client := serve(t, root, ledger(t))
	if _, err := client.Item(t.Context(), ref(15)); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{root: 0o755, SocketPath(root): 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(root, "asker")
	copyFile(t, exe)
	cmd := exec.Command(exe)
	cmd.Dir = root
	cmd.Env = []string{askerEnv + "=" + root, "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "leads to a process of user 0 and this one is of user 65534") {
		t.Errorf("%v: %s", err, out)
	}
}

// copyFile puts this test binary where another user can run it.
func copyFile(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(to, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Connections that say nothing use up their places for a bounded time, and the
// end of the server ends the wait for one.
func TestConnectionsAreBounded(t *testing.T) {
	root := t.TempDir()
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 300 * time.Millisecond
	s := serveFor(l, ledger(t), slog.New(slog.DiscardHandler), limit)
	for range maxConns + 4 {
		c, err := dial(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := NewClient(root).Item(ctx, ref(15)); err != nil {
		t.Errorf("behind %d silent connections: %v", maxConns+4, err)
	}
	if err := s.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// A gate whose places are all taken ends with its listener.
func TestAFullGateCloses(t *testing.T) {
	l, err := Listen(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(l, os.Geteuid(), slog.New(slog.DiscardHandler))
	for range maxConns {
		g.places <- struct{}{}
	}
	done := make(chan error, 1)
	go func() { _, err := g.Accept(); done <- err }()
	g.Close()
	select {
	case err := <-done:
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for ever")
	}
}

// A body that is too long is refused, and not read to its end.
func TestBodiesAreBounded(t *testing.T) {
	client := serve(t, t.TempDir(), ledger(t))
	for path, most := range map[string]int{"/v1/command": maxHeader, "/v1/forget": maxForget} {
		body := &counted{}
		body.left.Store(int64(most + 8<<20)) // more than a socket holds
		resp, err := client.http.Post("http://poller"+path, "application/json", body)
		if err != nil {
			continue // cut while it was still being sent
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", path, resp.Status)
		}
		if body.left.Load() == 0 {
			t.Errorf("%s was read to its end", path)
		}
	}
}

// counted is a JSON string of a length.
type counted struct {
	left  atomic.Int64 // the client may read on while its caller looks
	begun bool
}

func (c *counted) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		return copy(p, `{"command":"`), nil
	}
	left := int(c.left.Load())
	if left == 0 {
		return copy(p, `"}`), io.EOF
	}
	n := min(len(p), left)
	for i := range n {
		p[i] = 'x'
	}
	c.left.Add(int64(-n))
	return n, nil
}

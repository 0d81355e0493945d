package localapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// SocketName is the socket's file in the state root.
const SocketName = "poll.sock"

// SocketPath returns where the socket of a state root is.
func SocketPath(root string) string { return filepath.Join(root, SocketName) }

// maxSocketPath is the longest path that fits a socket address everywhere: 104
// bytes with the closing zero on macOS, 108 on Linux.
const maxSocketPath = 103

// Listen makes the socket of a state root. The caller holds the run lock, so a
// socket that is there already was left by a process that is gone and is
// replaced; anything else of that name is an error. A path too long for an
// address is bound through a shorter way to the same folder.
func Listen(root string) (net.Listener, error) {
	path := SocketPath(root)
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("make the control socket: %s is in the way and is no socket; move it away", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace the control socket of a poller that is gone: %w", err)
		}
	}
	short, done, err := shorten(root)
	if err != nil {
		return nil, fmt.Errorf("make the control socket %s: %w", path, err)
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make the control socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // by the real path, in Close
	if err := os.Chmod(short, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("close the control socket %s to others: %w", path, err)
	}
	made, err := os.Lstat(short)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("look at the control socket %s: %w", path, err)
	}
	return &listener{UnixListener: l, path: path, made: made}, nil
}

// listener removes its socket when it is closed, and nobody else's: when the state
// root was moved away there may be another poller's at the path.
type listener struct {
	*net.UnixListener
	path string
	made fs.FileInfo
}

func (l *listener) Close() error {
	err := l.UnixListener.Close()
	short, done, unreachable := shorten(filepath.Dir(l.path))
	if unreachable != nil {
		return err
	}
	defer done()
	if now, gone := os.Lstat(short); gone == nil && os.SameFile(now, l.made) {
		_ = os.Remove(short)
	}
	return err
}

// dial connects to the socket of a state root.
func dial(ctx context.Context, root string) (net.Conn, error) {
	short, done, err := shorten(root)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", short)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(c, SocketPath(root), os.Geteuid()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

//go:build !linux

package localapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// shorten returns a name for the socket that fits a socket address: the path
// itself, or one in a short folder of the user's own that is named after the
// state root.
func shorten(root string) (name string, done func(), err error) {
	path := SocketPath(root)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := shortFolder(root)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir, SocketName), func() {}, nil
}

func shortFolder(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(abs))
	dir := fmt.Sprintf("/tmp/the-loop-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6]))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s must be a folder that only you can use (chmod 700 %s)", dir, dir)
	}
	return dir, nil
}

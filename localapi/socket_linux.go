package localapi

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shorten returns a name for the socket that fits a socket address: the path
// itself, or the way through this process's descriptor of the folder. done
// releases it once the socket is bound or dialled.
func shorten(root string) (name string, done func(), err error) {
	path := SocketPath(root)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, SocketName), func() { unix.Close(fd) }, nil
}

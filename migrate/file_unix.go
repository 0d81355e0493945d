//go:build unix

package migrate

import "syscall"

// openFlags let nothing wait that has become a pipe since it was found.
const openFlags = syscall.O_NONBLOCK

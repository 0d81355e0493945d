//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tmux

import "golang.org/x/sys/unix"

const readTermios = unix.TIOCGETA

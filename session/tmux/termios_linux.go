package tmux

import "golang.org/x/sys/unix"

const readTermios = unix.TCGETS

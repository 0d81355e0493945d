//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package tmux

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// There is no tmux here: New finds none. These make the package compile.

type harness struct{}

func ownGroup(*exec.Cmd)                              {}
func closeInherited()                                 {}
func replaceProcess(string, []string, []string) error { return errors.ErrUnsupported }
func openHarness(Look) (*harness, error)              { return nil, errors.ErrUnsupported }
func (*harness) terminate()                           {}
func (*harness) gone() bool                           { return true }
func (*harness) kill()                                {}
func nudge(int)                                       {}
func lostSocket(string) error                         { return nil }
func survivor(string, time.Time) int                  { return 0 }

// Ready is not supported on this platform.
func (s *Server) Ready(context.Context, Look, time.Duration) error { return errors.ErrUnsupported }

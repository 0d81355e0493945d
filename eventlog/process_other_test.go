//go:build !unix

package eventlog

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }

func play(string) int { return 1 }

//go:build !unix

package store_test

import "testing"

func fifo(t *testing.T, _ string) { t.Skip("there are no FIFOs on this platform") }

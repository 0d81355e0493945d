//go:build !unix

package eventlog

import "os"

// guardFlags has nothing to add here: FIFOs are not files.
const guardFlags = 0

// readFlags has nothing to add either.
const readFlags = 0

// writeOnce leaves it to the system in how many pieces a line is written.
func writeOnce(f *os.File, line []byte) (int, error) {
	return f.Write(line)
}

// removed cannot be told here.
func removed(*os.File) bool {
	return false
}

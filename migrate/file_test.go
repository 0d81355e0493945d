package migrate

import (
	"strings"
	"testing"
	"testing/iotest"
)

// A file is read whole, whether it has grown or shrunk since it was looked at.
func TestReadAll(t *testing.T) {
	const text = "what stands in it"
	for _, size := range []int{0, 1, len(text) - 1, len(text), len(text) + 1, 4096} {
		if data, err := readAll(strings.NewReader(text), size); err != nil || string(data) != text {
			t.Errorf("taken for %d bytes: %q, %v", size, data, err)
		}
	}
	if data, err := readAll(iotest.OneByteReader(strings.NewReader(text)), len(text)); err != nil || string(data) != text {
		t.Errorf("piece by piece: %q, %v", data, err)
	}
	if _, err := readAll(strings.NewReader(strings.Repeat("y", maxFile+1)), 1); err != errLarge {
		t.Errorf("more than is read: %v", err)
	}
}

package eventlog

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// R2: a file that may not be written is warned of once.
func TestReadOnlyFile(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "events.jsonl"))
	if err := os.WriteFile(f.path, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	asNobody(t, filepath.Dir(f.path), func() {
		f.Append(detail("a"))
		f.Append(detail("b"))
	})
	if f.Dropped() != 2 || f.warned() != 1 || fileSize(f.path) != 0 {
		t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
	}
}

// asNobody runs do with the file permissions of an ordinary user, also when
// the tests run as root, whom no mode stops.
func asNobody(t *testing.T, folder string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	for _, dir := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // the id below is the thread's own
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(65534); err != nil {
		t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(0)
	do()
}

// R2: whoever waits at the other end of a FIFO is not woken up.
func TestFIFOIsNotEvenOpened(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "events.jsonl"))
	if err := makeFIFO(f.path); err != nil {
		t.Fatal(err)
	}
	reader, err := unix.Open(f.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(reader)
	f.Append(detail("a"))
	// The kernel reports a hang-up only after somebody had it open for writing.
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(reader), Events: unix.POLLIN}}, 0); n != 0 || err != nil {
		t.Errorf("%d events at the other end, %v", n, err)
	}
	if f.Dropped() != 1 {
		t.Errorf("%d dropped", f.Dropped())
	}
}

// R2: a link that takes the place of the file between the look at it and the
// opening is not followed either.
func TestGuardFlagsRefuseALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(link, os.O_RDWR|guardFlags, 0); err == nil {
		f.Close()
		t.Error("it was followed")
	}
}

//go:build unix

package heartbeat

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// limitEnv makes the test binary write a beat to the path in it, where no file may grow, and exit 0 when that fails.
const limitEnv = "HEARTBEAT_TEST_LIMIT"

func TestMain(m *testing.M) {
	if path := os.Getenv(limitEnv); path != "" {
		os.Exit(writeWithoutRoom(path))
	}
	os.Exit(m.Run())
}

func writeWithoutRoom(path string) int {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
		return 3
	}
	if err := Write(path, Beat{StartedAt: At(noon.Add(time.Hour))}); !errors.Is(err, syscall.EFBIG) {
		return 4
	}
	return 0
}

// U3, U4: a write that ends in the middle, as on a full disk, leaves the beat before whole and no other file.
func TestAWriteThatIsCutLeavesTheLastBeat(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), limitEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the write was not cut: %v %s", err, out)
	}
	got, ok := Read(path)
	if diff := cmp.Diff(sample(), got); !ok || diff != "" {
		t.Errorf("read %t (-want +got):\n%s", ok, diff)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// A pipe in its place does not make a reader wait for ever.
func TestReadOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, 1)
	go func() {
		_, ok := Read(path)
		done <- ok
	}()
	select {
	case ok := <-done:
		if ok {
			t.Error("a beat was read")
		}
	case <-time.After(5 * time.Second):
		t.Error("the read waits for the pipe's other end")
	}
}

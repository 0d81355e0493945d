//go:build unix

package eventlog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }

// play is what this binary does when it is started as another process; it
// gives the exit code.
func play(role string) int {
	args := strings.Fields(role)
	l := Open(Options{Path: args[1], Source: "poll", Enabled: true})
	switch args[0] {
	case "append":
		n, _ := strconv.Atoi(args[2])
		for i := range n {
			l.Append(sized(i))
		}
	case "forever":
		for i := 0; ; i++ {
			l.Append(sized(i))
		}
	case "limited":
		return playLimited(l, args[2])
	}
	return int(l.Dropped())
}

// sized is the i-th of a row of events between 100 bytes and the longest line.
func sized(i int) Event {
	return detail(strings.Repeat("x", i*997%5000))
}

// playLimited writes until files may not grow any more, then once without that
// limit. It prints how many events were dropped.
func playLimited(l *Log, limit string) int {
	bytes, _ := strconv.ParseUint(limit, 10, 64)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return 1
	}
	setRlimit(bytes, was)
	for l.Dropped() < 3 {
		l.Append(detail("limited " + strings.Repeat("x", 100)))
	}
	setRlimit(uint64(was.Max), was)
	l.Append(detail("free again"))
	fmt.Println(l.Dropped())
	return 0
}

// setRlimit lowers or raises the soft limit.
func setRlimit(bytes uint64, was syscall.Rlimit) {
	is := was
	is.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &is); err != nil {
		panic(err)
	}
}

// command is another process in a role.
func command(t *testing.T, role ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"="+strings.Join(role, " "))
	cmd.Stderr = os.Stderr
	return cmd
}

// rounds is n, or more of them when SOAK asks for it.
func rounds(t *testing.T, n int) int {
	t.Helper()
	if s := os.Getenv("SOAK"); s != "" {
		soak, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("SOAK is a number of rounds: %v", err)
		}
		return max(n, soak)
	}
	return n
}

// R2: lines of several processes do not mix.
func TestFourProcessesAppendWholeLines(t *testing.T) {
	const processes = 4
	each := rounds(t, 250)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var running []*exec.Cmd
	for range processes {
		cmd := command(t, "append", path, strconv.Itoa(each))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, skipped := entries(t, path, Filter{})
	if len(got) != processes*each || skipped != 0 {
		t.Errorf("%d entries and %d torn lines of %d", len(got), skipped, processes*each)
	}
}

// R2: a kill tears at most the line that was being written.
func TestKillsTearAtMostOneLineEach(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "events.jsonl"))
	n := rounds(t, 8)
	for i := range n {
		cmd := command(t, "forever", f.path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Killed at some moment after it has begun to write, which is never the same.
		size := fileSize(f.path)
		waitFor(t, func() bool { return fileSize(f.path) > size+int64(i%5)*3000 })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // says that it was killed
		f.Append(Event{Name: "poller.started"})
	}
	got, skipped := entries(t, f.path, Filter{Type: "poller.started"})
	if len(got) != n || skipped > n || f.Dropped() != 0 {
		t.Errorf("%d of %d own lines readable, %d torn, %d dropped", len(got), n, skipped, f.Dropped())
	}
}

// R2: a file that may not grow costs the events that did not fit, which are
// counted, and nothing after them.
func TestFullDiskIsSurvived(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	out, err := command(t, "limited", path, "10000").Output()
	if err != nil || strings.TrimSpace(string(out)) != "3" {
		t.Fatalf("dropped %q, %v; want 3", out, err)
	}
	all, skipped := entries(t, path, Filter{})
	if skipped != 1 || len(all) < 20 {
		t.Errorf("%d entries, %d torn lines", len(all), skipped)
	}
	if last := all[len(all)-1].Fields["detail"]; last != "free again" {
		t.Errorf("the last line is %q", last)
	}
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("did not come about within 10 s")
		}
	}
}

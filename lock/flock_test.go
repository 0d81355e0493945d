//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// manual is a clock that only waiting moves; at is called at every wait.
type manual struct {
	now time.Time
	at  func(waited time.Duration)
}

func (m *manual) flocker() flocker {
	begun := m.now
	return flocker{
		flock: unix.Flock,
		now:   func() time.Time { return m.now },
		pause: func(_ context.Context, d time.Duration) error {
			m.now = m.now.Add(d)
			if m.at != nil {
				m.at(m.now.Sub(begun))
			}
			return nil
		},
	}
}

// L7: a start beside a stop gets the lock, and never beside the holder.
func TestStartsRaceStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	var all []*child
	for range 4 {
		all = append(all, startChild(t, path))
	}
	n := rounds(t, raceRounds)
	for _, c := range all {
		c.begin("churn %d", n)
	}
	for _, c := range all {
		if a := c.end(); !a.OK || a.Bad > 0 {
			t.Errorf("child %d: %d of %d rounds with a second holder: %s", c.pid, a.Bad, a.Count, a.Err)
		}
	}
}

// L7: what was locked has to be what the name leads to.
func TestAStaleInodeIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	mustWrite(t, path, "1\n")
	k, replaced := newFlocker(), 0
	k.flock = func(fd, how int) error {
		if how&unix.LOCK_EX != 0 && replaced < 3 {
			replaced++
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
		return unix.Flock(fd, how)
	}
	l, err := k.claim(background, path, "poll start", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if s := mustProbe(t, path); !s.Held || s.PID != os.Getpid() {
		t.Errorf("after %d replacements: %+v", replaced, s)
	}
}

// L7: boundedly.
func TestAPidfileThatIsAlwaysReplacedEndsTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	k, calls := newFlocker(), 0
	k.flock = func(fd, how int) error {
		if how&unix.LOCK_UN == 0 {
			calls++
			os.Remove(path)
		}
		return unix.Flock(fd, how)
	}
	if _, err := k.claim(background, path, "poll start", nil); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), path) {
		t.Errorf("acquire: got %v, want ErrReplaced that names %s", err, path)
	}
	if calls > maxReplaced+1 {
		t.Errorf("it was tried %d times", calls)
	}
}

// L7: a child between fork and exec has a copy of the descriptor, which closing ours does not close.
func TestReleaseUnlocksBesideACopyOfTheDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	k, copies := newFlocker(), []int{}
	k.flock = func(fd, how int) error {
		if how != unix.LOCK_UN {
			c, err := unix.Dup(fd)
			if err != nil {
				t.Error(err)
			}
			copies = append(copies, c)
		}
		return unix.Flock(fd, how)
	}
	defer func() {
		for _, c := range copies {
			unix.Close(c)
		}
	}()
	l, err := k.claim(background, path, "poll start", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("after release the lock is still held: %v", err)
	}

	// L8: the same for a probe, which gives back what it took at once.
	mustWrite(t, path, "1\n")
	if _, err := k.ask(path); err != nil {
		t.Fatal(err)
	}
	after, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if err := unix.Flock(int(after.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("after a probe its lock is still held: %v", err)
	}
}

// L5, L6: the lock goes with the process, and what the process started does not have it.
func TestAKilledHolderLeavesTheLockFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	holder := startChild(t, path)
	holder.mustAcquire("poll start")
	sleeper := holder.do("sleeper")
	if !sleeper.OK {
		t.Fatal(sleeper.Err)
	}
	defer syscall.Kill(sleeper.PID, syscall.SIGKILL)
	if s := mustProbe(t, path); s.PID != holder.pid || s.Holder() != Poller {
		t.Fatalf("while it lives: %+v", s)
	}
	holder.kill()
	if !alive(sleeper.PID) {
		t.Fatal("the holder's child has ended too, which proves nothing")
	}
	if s := mustProbe(t, path); s.Held || !s.Stale || s.RecordedPID != holder.pid {
		t.Errorf("after SIGKILL: %+v", s) // U5
	}
	l, err := newFlocker().exclusive(background, path, false)
	if err != nil {
		t.Fatalf("the child of a killed holder keeps the lock: %v", err)
	}
	l.Close()
	if l := mustAcquire(t, path, "poll start"); l.StalePID != holder.pid {
		t.Errorf("took over pid %d, want %d", l.StalePID, holder.pid)
	}
}

// L6
func TestTheDescriptorIsCloseOnExec(t *testing.T) {
	k := newFlocker()
	k.flock = func(fd, how int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor flags %#x (%v): not close-on-exec", flags, err)
		}
		return unix.Flock(fd, how)
	}
	l, err := k.claim(background, filepath.Join(t.TempDir(), File), "poll start", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// L8: probes are not mistaken for a holder, by each other or by a start.
func TestAStormOfProbes(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	mustWrite(t, path, "2147483647\n")
	var all []*child
	for range 4 {
		c := startChild(t, path)
		c.do("storm")
		all = append(all, c)
	}
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		if s := mustProbe(t, path); s.Held {
			t.Fatal("another probe was taken for a holder")
		}
	}
	for _, c := range all {
		if a := c.do("calm"); a.Count < 100 || a.Bad > 0 {
			t.Errorf("child %d: of %d probes %d saw a holder", c.pid, a.Count, a.Bad)
		}
		c.do("storm")
	}
	for range rounds(t, raceRounds) {
		l, err := Acquire(background, path, "poll start", nil)
		if err != nil {
			t.Fatalf("refused because of probes: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, path, "2147483647\n") // keep the probes on a file
	}
}

// L8: nobody holds the lock, but for longer than a holder is tried for somebody always asks.
func TestProbesAreWaitedForLongerThanAHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	mustWrite(t, path, "1\n")
	asker, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	ask := func(how int) {
		if err := unix.Flock(int(asker.Fd()), how); err != nil {
			t.Error(err)
		}
	}

	clock := &manual{at: func(waited time.Duration) {
		if waited == 10*retryFor {
			ask(unix.LOCK_UN)
		}
	}}
	ask(unix.LOCK_SH)
	f, err := clock.flocker().exclusive(background, path, false)
	if err != nil {
		t.Fatalf("a probe made the start refuse: %v", err)
	}
	f.Close()

	ask(unix.LOCK_SH) // for ever
	_, err = (&manual{}).flocker().exclusive(background, path, false)
	var held *HeldError
	if err == nil || errors.As(err, &held) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file and no holder", err)
	}
}

// L8: a holder that lets go within the time is no reason to refuse; one that does not is.
func TestAHolderIsTriedForAWhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	for _, tt := range []struct {
		after   time.Duration
		refused bool
	}{{retryFor - askEvery, false}, {retryFor + 2*askEvery, true}} {
		holder := mustAcquire(t, path, "poll start")
		clock := &manual{at: func(waited time.Duration) {
			if waited == tt.after {
				holder.Release()
			}
		}}
		l, err := clock.flocker().claim(background, path, "poll start", nil)
		var held *HeldError
		if errors.As(err, &held) != tt.refused {
			t.Errorf("released after %s: %v", tt.after, err)
		}
		if l != nil {
			l.Release()
		}
		holder.Release()
	}
}

// An interrupted call is made again; a file system without locks is named as such, and nothing is left behind.
func TestErrorsOfTheLockCall(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		times int
		want  error
	}{
		"interrupted":          {unix.EINTR, 3, nil},
		"always interrupted":   {unix.EINTR, 1 << 30, unix.EINTR},
		"no locks":             {unix.ENOLCK, 1 << 30, ErrNoLocks},
		"no locks by EIO":      {unix.EIO, 1 << 30, ErrNoLocks},
		"no locks by ENOTSUP":  {unix.ENOTSUP, 1 << 30, ErrNoLocks},
		"no such call at all":  {unix.ENOSYS, 1 << 30, ErrNoLocks},
		"something unheard of": {unix.EBADF, 1 << 30, unix.EBADF},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), File)
			k, left := newFlocker(), tt.times
			k.flock = func(fd, how int) error {
				if left > 0 {
					left--
					return tt.err
				}
				return unix.Flock(fd, how)
			}
			l, err := k.claim(background, path, "poll start", nil)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if tt.want == nil {
				l.Release()
				return
			}
			if !strings.Contains(err.Error(), path) || !errors.Is(err, tt.err) {
				t.Errorf("the error names not the file and what the system said: %v", err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file was left behind: %v", err)
			}
			mustWrite(t, path, "1\n")
			if _, err := k.ask(path); !errors.Is(err, tt.want) {
				t.Errorf("probe: got %v, want %v", err, tt.want)
			}
		})
	}
}

// The heartbeat is written by rename. In the pidfile's place that gives the name to a file that nobody has locked: the lock
// is still held, and a second poller starts all the same.
func TestWhyTheHeartbeatIsNotInThePidfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	holder := startChild(t, path)
	holder.mustAcquire("poll start")
	mustWrite(t, path+".tmp", mustRead(t, path)+`{"health":"quiet"}`)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
	if s := mustProbe(t, path); s.Held || s.RecordedPID != holder.pid {
		t.Errorf("the new file is locked: %+v", s)
	}
	mustAcquire(t, path, "poll start") // beside the holder, which lives
	if !alive(holder.pid) {
		t.Error("the holder has ended, which proves nothing")
	}
}

// L12: the Python version's processes lock by flock and record a pid alone. Both ways, for its poller and its webhook receiver.
func TestTheLockIsTheOneOfThePythonVersion(t *testing.T) {
	for _, name := range []string{File, WebhookFile} {
		path := filepath.Join(t.TempDir(), name)
		mustWrite(t, path, fmt.Sprint(os.Getpid()))
		python, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer python.Close()
		if err := unix.Flock(int(python.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Fatal(err)
		}
		if s := mustProbe(t, path); s.PID != os.Getpid() || s.Holder() != Foreign {
			t.Errorf("%s, held by the other version: %+v", name, s)
		}
		_, err = Acquire(background, path, "poll start", nil)
		var held *HeldError
		if !errors.As(err, &held) || held.PID != os.Getpid() || held.Command != "" {
			t.Errorf("%s, start beside the other version: %v", name, err)
		}
		if err := unix.Flock(int(python.Fd()), unix.LOCK_UN); err != nil {
			t.Fatal(err)
		}
		mustAcquire(t, path, "poll start")
		if err := unix.Flock(int(python.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			t.Errorf("%s, the other version beside a poller: %v", name, err)
		}
	}
}

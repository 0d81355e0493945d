package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
)

// nth is which call of a thread strace lets fail. A thread that makes all but n
// of the calls before it on another file meets the fault in its nth call: so one
// process goes through all of them. It is more than the scenario makes.
const nth = 100

// faulty is the system calls that fail, as strace is told, and how often the
// scenario makes each at least.
var faulty = []struct {
	call, errno string
	least       int
}{
	{"fdatasync", "EIO", 13}, {"pwrite64", "ENOSPC", 26}, {"ftruncate", "ENOSPC", 2}, {"fsync", "EIO", 6},
	{"mmap", "ENOMEM", 3}, {"pread64", "EIO", 25}, {"flock", "ENOLCK", 2},
}

// TestInjected lets every single call fail that makes a ledger, opens it or
// writes it, once and from then on: the process lives, a commit that failed is
// unknown (B9), what is read next is the ledger as before or as after it, it
// works again when the fault is over, and what failed to be made leaves nothing
// that a start trips over.
func TestInjected(t *testing.T) {
	needsStrace(t)
	for _, f := range faulty {
		for when, suffix := range map[string]string{"once": "", "from then on": "+"} {
			if f.call == "pread64" && suffix != "" {
				continue // nothing can be made of a disk that cannot be read
			}
			t.Run(f.call+" "+f.errno+" "+when, func(t *testing.T) {
				t.Parallel()
				dir := fastFolder(t)
				flags := []string{
					"-f", "--seccomp-bpf", "-o", os.DevNull, "-e", "signal=none", "-e", "trace=" + f.call,
					"-e", fmt.Sprintf("inject=%s:error=%s:when=%d%s", f.call, f.errno, nth, suffix),
				}
				if f.call == "mmap" { // the runtime makes it as well
					flags = append(flags, "-P", filepath.Join(dir, store.File), "-P", filepath.Join(dir, "scratch"))
				}
				cmd := exec.Command("strace", append(flags, os.Args[0], dir, f.call)...)
				cmd.Env = append(childEnv("injected"), "GODEBUG=asyncpreemptoff=1")
				out, err := cmd.CombinedOutput()
				said := regexp.MustCompile(`(\d+) calls failed`).FindSubmatch(out)
				if err != nil || said == nil {
					t.Fatalf("%v\n%s", err, tail(out))
				}
				n, _ := strconv.Atoi(string(said[1]))
				t.Logf("%d calls, each failed in its turn", n)
				if n < f.least {
					t.Errorf("they are fewer than %d", f.least)
				}
			})
		}
	}
}

// TestInterruptedLockCall: a call for the lock that is interrupted is made again
// within the timeout (L11); one that always is, is an error that says so.
func TestInterruptedLockCall(t *testing.T) {
	needsStrace(t)
	for when, want := range map[string]string{"1..20": "open", "1+": "interrupted"} {
		cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-o", os.DevNull, "-e", "signal=none", "-e", "trace=flock",
			"-e", "inject=flock:error=EINTR:when="+when, os.Args[0], filepath.Join(fastFolder(t), store.File))
		cmd.Env = childEnv("lock-call")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("interrupted in calls %s: %v, %q, not %q", when, err, tail(out), want)
		}
	}
}

// childLockCall makes a ledger and says how that went.
func childLockCall(args []string) error {
	runtime.LockOSThread() // strace counts the calls of a thread
	opts := options(args[0])
	opts.Timeout = time.Second
	begin := time.Now()
	l, err := store.Open(context.Background(), opts)
	switch {
	case err == nil:
		fmt.Println("open")
		return l.Close()
	case errors.Is(err, unix.EINTR) && time.Since(begin) >= opts.Timeout:
		fmt.Println("interrupted")
		return nil
	}
	return err
}

// childInjected goes through the scenario with the first, second, … call
// failing until none does.
func childInjected(args []string) error {
	dir, call := args[0], args[1]
	failed, quiet := 0, 0
	for n := 1; quiet < 5; n++ { // some single failures are made up for by the library
		s := scenario{dir: dir}
		if err := s.clear(); err != nil {
			return err
		}
		err := onThread(func() error {
			if err := s.burn(call, nth-n); err != nil {
				return fmt.Errorf("before it: %w", err)
			}
			return s.run()
		})
		for _, then := range []func() error{s.run, s.finish} { // the fault is over
			if err == nil {
				err = onThread(then)
			}
		}
		if err != nil {
			return fmt.Errorf("with call %d failing: %w", n, err)
		}
		quiet++
		if s.failed > 0 {
			failed, quiet = failed+1, 0
		}
	}
	fmt.Println(failed, "calls failed")
	return nil
}

// onThread runs f on a thread of its own, which ends with it: strace counts the
// calls of a thread. The first one of the process has made some already and is
// kept out of this.
func onThread(f func() error) error {
	done := make(chan error)
	var begin func()
	begin = func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			go begin()
			select {}
		}
		done <- f()
	}
	go begin()
	return <-done
}

// scenario makes a ledger and commits the first steps of the script to it, which
// make the file grow.
type scenario struct {
	dir    string
	l      *store.Ledger
	steps  []step
	states []string
	// k is how many steps are there, failed how many calls returned an error.
	k, failed int
}

const scenarioSteps = 5

// clear removes what an earlier run left.
func (s *scenario) clear() error {
	s.steps, s.states = script(scenarioSteps)
	return os.RemoveAll(filepath.Join(s.dir, store.File))
}

// burn makes calls that are no part of the scenario.
func (s *scenario) burn(call string, n int) error {
	f, err := os.OpenFile(filepath.Join(s.dir, "scratch"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for range n {
		var err error
		switch call {
		case "fdatasync":
			err = unix.Fdatasync(int(f.Fd()))
		case "fsync":
			err = unix.Fsync(int(f.Fd()))
		case "ftruncate":
			err = unix.Ftruncate(int(f.Fd()), 4096)
		case "pwrite64":
			_, err = unix.Pwrite(int(f.Fd()), []byte("x"), 0)
		case "pread64":
			_, err = unix.Pread(int(f.Fd()), make([]byte, 1), 0)
		case "flock":
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		case "mmap":
			err = mapOnce(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func mapOnce(f *os.File) error {
	if err := unix.Ftruncate(int(f.Fd()), 4096); err != nil {
		return err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	return unix.Munmap(data)
}

// tries is how often something is tried again on a disk that may stay broken.
const tries = 3

// run goes on with the scenario as far as the disk lets it, and returns only
// what must not happen.
func (s *scenario) run() error {
	ctx := context.Background()
	for range tries {
		if s.l != nil {
			break
		}
		l, err := store.Open(ctx, options(filepath.Join(s.dir, store.File)))
		if err != nil {
			s.failed++
			if err := s.left(err); err != nil {
				return err
			}
			continue
		}
		s.l = l
	}
	for range tries {
		for s.l != nil && s.k < len(s.steps) {
			failed := s.steps[s.k].do(ctx, s.l)
			if failed == nil {
				s.k++
				continue
			}
			s.failed++
			if err := s.after(ctx, failed); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// left says what is wrong with the error or the folder after a failed open.
func (s *scenario) left(failed error) error {
	var damaged *store.DamagedError
	if errors.As(failed, &damaged) {
		return fmt.Errorf("a fault of the disk is taken for damage: %w", failed)
	}
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if e.Name() != store.File && e.Name() != "scratch" {
			return fmt.Errorf("%s is left behind after: %w", e.Name(), failed)
		}
	}
	return err
}

// after reads the ledger after a failed write.
func (s *scenario) after(ctx context.Context, failed error) error {
	unknown := errors.Is(failed, record.ErrUnknown)
	is, err := fingerprintOf(ctx, s.l)
	switch {
	case err != nil: // the disk is still broken
		var damaged *store.DamagedError
		if errors.As(err, &damaged) {
			return fmt.Errorf("a fault of the disk is taken for damage: %w", err)
		}
	case is == s.states[s.k+1] && unknown:
		s.k++
	case is != s.states[s.k]:
		return fmt.Errorf("the ledger is neither as before nor as after: %w", failed)
	}
	return nil
}

// finish says whether everything is there in the end, now and after a restart.
func (s *scenario) finish() error {
	ctx := context.Background()
	if s.l == nil || s.k < len(s.steps) {
		return fmt.Errorf("with a whole disk only %d of %d commits were made", s.k, len(s.steps))
	}
	for range 2 {
		problems, err := s.l.Check(ctx)
		if err != nil || len(problems) > 0 {
			return fmt.Errorf("check: %v, %w", problems, err)
		}
		is, err := fingerprintOf(ctx, s.l)
		if err != nil || is != s.states[s.k] {
			return fmt.Errorf("it is not what was committed: %w", err)
		}
		if err := s.l.Close(); err != nil {
			return err
		}
		if s.l, err = store.Open(ctx, options(filepath.Join(s.dir, store.File))); err != nil {
			return err
		}
	}
	return s.l.Close()
}

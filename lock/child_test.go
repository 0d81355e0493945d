package lock

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv makes the test binary a child that obeys lines on stdin; its value is the pidfile.
const (
	childEnv = "LOCK_TEST_CHILD"
	mechEnv  = "LOCK_TEST_PIDLIVE" // not empty: by pid-liveness
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		serve(path)
		return
	}
	os.Exit(m.Run())
}

// raceRounds is how often a race is run in the short form.
const raceRounds = 500

// rounds is short by default; SOAK is the number for the long form.
func rounds(t testing.TB, short int) int {
	t.Helper()
	s := os.Getenv("SOAK")
	if s == "" {
		return short
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("SOAK=%q is not a number of rounds", s)
	}
	return n
}

// answer is what a child says to a line.
type answer struct {
	OK      bool
	Err     string
	PID     int // the child's, or of what it started
	HeldBy  int // by a HeldError
	Command string
	Count   int
	Bad     int
}

type child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Scanner
	pid int
}

func startChild(t testing.TB, path string, env ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", childEnv+"="+path), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	return &child{t: t, cmd: cmd, in: json.NewEncoder(in), out: bufio.NewScanner(out), pid: cmd.Process.Pid}
}

func (c *child) begin(format string, args ...any) {
	c.t.Helper()
	if err := c.in.Encode(fmt.Sprintf(format, args...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) end() answer {
	c.t.Helper()
	var a answer
	if !c.out.Scan() {
		c.t.Fatalf("child %d has ended: %v", c.pid, c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &a); err != nil {
		c.t.Fatal(err)
	}
	return a
}

func (c *child) do(format string, args ...any) answer {
	c.t.Helper()
	c.begin(format, args...)
	return c.end()
}

func (c *child) mustAcquire(command string) {
	c.t.Helper()
	if a := c.do("acquire 0 %s", command); !a.OK {
		c.t.Fatalf("child %d: acquire: %s", c.pid, a.Err)
	}
}

// kill ends the child without giving it a chance, and waits until it is gone.
func (c *child) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.cmd.Wait() // an error here says that it was killed
}

// server is the child's side.
type server struct {
	path string
	mech mechanism
	held *RunLock

	stop          chan struct{}
	storm         sync.WaitGroup
	probes, holds int
}

func serve(path string) {
	s := &server{path: path, mech: platform()}
	if os.Getenv(mechEnv) != "" {
		s.mech = newPidLiveness()
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var line string
		if err := in.Decode(&line); err != nil {
			return
		}
		if err := out.Encode(s.obey(line)); err != nil {
			return
		}
	}
}

func (s *server) obey(line string) answer {
	verb, rest, _ := strings.Cut(line, " ")
	arg, command, _ := strings.Cut(rest, " ")
	n, _ := strconv.ParseInt(arg, 10, 64)
	switch verb {
	case "acquire":
		time.Sleep(time.Until(time.Unix(0, n))) // all at once
		return s.acquire(command)
	case "release":
		return result(s.held.Release())
	case "churn":
		return s.churn(int(n))
	case "storm":
		return s.startStorm()
	case "calm":
		close(s.stop)
		s.storm.Wait()
		return answer{OK: true, Count: s.probes, Bad: s.holds}
	case "sleeper":
		cmd := exec.Command("sleep", "60")
		err := cmd.Start()
		a := result(err)
		if err == nil {
			a.PID = cmd.Process.Pid
		}
		return a
	}
	return answer{Err: "unknown verb " + verb}
}

func result(err error) answer {
	a := answer{OK: err == nil, PID: os.Getpid()}
	if err != nil {
		a.Err = err.Error()
	}
	var held *HeldError
	if errors.As(err, &held) {
		a.HeldBy, a.Command = held.PID, held.Command
	}
	return a
}

func (s *server) acquire(command string) answer {
	l, err := s.mech.claim(background, s.path, command, slog.New(slog.DiscardHandler))
	if err == nil {
		s.held = l
	}
	return result(err)
}

// churn takes and releases the lock n times. A file made exclusively while it holds the lock shows a second holder.
func (s *server) churn(n int) answer {
	inside := s.path + ".inside"
	a := answer{OK: true}
	for a.Count < n {
		got := s.acquire("churn")
		if got.HeldBy != 0 {
			continue // the others were faster for as long as it tries
		}
		if !got.OK {
			return got
		}
		if f, err := os.OpenFile(inside, os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			a.Bad++
		} else {
			f.Close()
		}
		if err := s.held.Check(); err != nil {
			a.Bad++
			a.Err = err.Error()
		}
		os.Remove(inside)
		if err := s.held.Release(); err != nil {
			return result(err)
		}
		a.Count++
	}
	return a
}

func (s *server) startStorm() answer {
	s.stop = make(chan struct{})
	s.storm.Go(func() {
		for {
			select {
			case <-s.stop:
				return
			default:
			}
			st, err := s.mech.ask(s.path)
			s.probes++
			if err != nil || st.Held {
				s.holds++
			}
		}
	})
	return answer{OK: true}
}

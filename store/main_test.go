package store_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// childVar names what a process that a test started from its own binary does.
const childVar = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(childVar); ok {
		if err := children()[name](os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if text := os.Getenv("SOAK"); text != "" {
		_ = flag.Set("rapid.checks", text)
	} else if !isSet("rapid.checks") {
		_ = flag.Set("rapid.checks", "20")
	}
	_ = flag.Set("rapid.nofailfile", "true") // the seed is printed
	_ = flag.Set("rapid.shrinktime", "5s")
	os.Exit(m.Run())
}

func isSet(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// child is a process of this binary.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	// killed keeps two goroutines from waiting for it.
	killed sync.Once
}

// start runs a child that a test talks to. It ends with the test.
func start(t testing.TB, name string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...)}
	c.cmd.Env = childEnv(name)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	return c
}

// childEnv lets a child that is watched for races end without the second of
// sleep at its end.
func childEnv(name string) []string {
	return append(os.Environ(), childVar+"="+name, "GORACE=atexit_sleep_ms=0")
}

// line is the next line that the child wrote, "" at its end.
func (c *child) line() string {
	text, _ := c.out.ReadString('\n')
	return strings.TrimSuffix(text, "\n")
}

// finish lets the child end by itself and reports how it did.
func (c *child) finish() error {
	_ = c.in.Close()
	return c.cmd.Wait()
}

func (c *child) kill() {
	c.killed.Do(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
}

// runs runs a child to its end; it fails the test when the child does.
func runs(t testing.TB, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = childEnv(name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, tail(out))
	}
}

// tail keeps the beginning of an output: a crash writes a lot.
func tail(out []byte) string { return string(out[:min(len(out), 4000)]) }

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"theloop/session/leaktest"
)

// TestMain puts three programs into the PATH of the scripts: the-loop, which is
// this test binary under another name and so a real process; holder, which
// stands in for another program that holds a lock; and agent, the coding agent
// that writes down every byte it is sent.
func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"the-loop": ofRelease, "holder": holder})
}

// ofRelease is the program as the release that a script says it is.
func ofRelease() {
	version = os.Getenv("THE_LOOP_TEST_VERSION")
	main()
}

// suite runs the tests once the agent is built. The programs above never come
// here.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	program, err := exec.LookPath("the-loop")
	if err == nil {
		err = buildAgent(filepath.Join(filepath.Dir(program), "agent"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the scripts:", err)
		return 1
	}
	return s.andNothingIsLeft()
}

// andNothingIsLeft runs the tests with their temporary files, and what they start,
// below one folder that must be empty behind them.
func (s suite) andNothingIsLeft() int {
	dir, err := os.MkdirTemp("/tmp", "lc") // short: a socket's path has 108 bytes
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the scripts:", err)
		return 1
	}
	return leaktest.Run(picked{s.m, dir}, dir)
}

// picked removes what the library of the scripts removes only when all of them ran.
type picked struct {
	m   *testing.M
	dir string
}

func (p picked) Run() int {
	code := p.m.Run()
	left, err := filepath.Glob(filepath.Join(p.dir, "go-test-script*"))
	if err != nil || !someScripts() {
		return code
	}
	for _, folder := range left {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return code
}

func buildAgent(path string) error {
	cmd := exec.Command("go", "build", "-o", path, "./testdata/harness")
	cmd.Dir = moduleRoot
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the agent: %w\n%s", err, text)
	}
	return nil
}

// moduleRoot is where the module is, seen from the folder that tests run in.
const moduleRoot = "../.."

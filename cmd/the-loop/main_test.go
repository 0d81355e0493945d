package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
	return s.m.Run()
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

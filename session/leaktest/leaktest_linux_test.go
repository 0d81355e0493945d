package leaktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// suite is a package's tests that leave something behind.
type suite func()

func (s suite) Run() int { s(); return 0 }

// What is left behind is a failure, whatever it is; what is put away is none.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name string
		left func(dir string) (putAway func())
		want int
	}{
		{"nothing", func(string) func() { return func() {} }, 0},
		{"a file", func(dir string) func() {
			if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
				t.Error(err)
			}
			return func() {}
		}, 1},
		{"a descriptor", func(string) func() {
			f, err := os.Open("/etc/hostname")
			if err != nil {
				t.Error(err)
			}
			return func() { f.Close() }
		}, 1},
		{"a child", func(string) func() {
			cmd := exec.Command("sleep", "1000")
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
		}, 1},
		{"a child's child", func(dir string) func() {
			cmd := exec.Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
			cmd.Env = append(os.Environ(), "HOME="+dir+"/r1")
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			return func() { _ = exec.Command("kill", strings.TrimSpace(string(out))).Run() }
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var putAway func()
			if got := run(suite(func() { putAway = c.left(dir) }), dir, 200*time.Millisecond); got != c.want {
				t.Errorf("exit status %d", got)
			}
			putAway()
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder is still there")
			}
		})
	}
}

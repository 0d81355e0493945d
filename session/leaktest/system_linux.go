package leaktest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// descriptors are the open ones, by number and what they are open on. Those of
// the runtime (its poller, its timers) come and go.
func descriptors() map[string]bool {
	entries, _ := os.ReadDir("/proc/self/fd")
	open := map[string]bool{}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/proc/") {
			open[e.Name()+" on "+to] = true
		}
	}
	return open
}

// processes are our children, and whatever has the folder in its environment.
func processes(dir string) (left []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if parent, zombie := stat(e.Name()); bytes.Contains(environ, []byte(dir+"/")) || parent == os.Getpid() {
			command, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			state := map[bool]string{true: ", which nobody has waited for"}[zombie]
			left = append(left, fmt.Sprintf("process %d: %s%s", pid, bytes.ReplaceAll(command, []byte{0}, []byte{' '}), state))
		}
	}
	return left
}

func stat(pid string) (parent int, zombie bool) {
	text, _ := os.ReadFile("/proc/" + pid + "/stat")
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 2 {
		return 0, false
	}
	parent, _ = strconv.Atoi(f[1])
	return parent, f[0] == "Z"
}

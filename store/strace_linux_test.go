package store_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// call is one system call that changes a disk, as strace saw it.
type call struct {
	name string
	// file is the name of the file at the time of the call, without its folder; a
	// rename has a second one.
	file, to string
	data     []byte
	at       int64 // of a write
	size     int64 // of a truncation
	failed   bool
}

func (c call) syncs() bool { return c.name == "fdatasync" || c.name == "fsync" }

// traced runs a child of this binary to its end under strace, with faults as
// the arguments in flags order them, and returns its calls in their order.
func traced(t testing.TB, flags []string, name string, args ...string) []call {
	t.Helper()
	needsStrace(t)
	log := filepath.Join(t.TempDir(), "trace")
	all := append([]string{
		"-f", "-y", "-xx", "--seccomp-bpf", "-s", "16777216", "-e", "signal=none", "-o", log,
		"-e", "trace=pwrite64,fdatasync,fsync,ftruncate,rename,renameat,renameat2",
	}, flags...)
	cmd := exec.Command("strace", append(append(all, os.Args[0]), args...)...)
	cmd.Env = append(childEnv(name), "GODEBUG=asyncpreemptoff=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("strace %s %v: %v\n%s", name, args, err, tail(out))
	}
	text, err := os.ReadFile(log)
	must(t, err)
	calls, err := parseTrace(text)
	must(t, err)
	return calls
}

// needsStrace skips where no system call can be watched. make test installs
// strace and takes this skip for a failure.
func needsStrace(t testing.TB) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot be used here: %v %s", err, tail(out))
	}
}

// parseTrace reads what strace -f wrote. A call that another thread came into is
// in two parts; it counts where it ended.
func parseTrace(text []byte) (calls []call, err error) {
	begun := map[string]string{}
	for line := range bytes.Lines(text) {
		thread, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		rest = strings.TrimLeft(rest, " ")
		if head, ok := strings.CutSuffix(rest, " <unfinished ...>"); ok {
			begun[thread] = head
			continue
		}
		if _, end, ok := strings.Cut(rest, " resumed>"); ok && strings.HasPrefix(rest, "<... ") {
			rest = begun[thread] + end
		}
		if strings.HasPrefix(rest, "+++") || strings.HasPrefix(rest, "---") {
			continue
		}
		c, err := parseCall(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, rest[:min(len(rest), 200)])
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// parseCall reads `name(5<path>, "bytes", 4096, 8192) = 4096`, the strings in it
// as \x escapes.
func parseCall(line string) (c call, err error) {
	name, rest, ok := strings.Cut(line, "(")
	cut := strings.LastIndex(rest, " = ")
	if !ok || cut < 0 {
		return c, fmt.Errorf("no call")
	}
	c.name = name
	args := strings.TrimSuffix(strings.TrimRight(rest[:cut], " "), ")")
	result, _, _ := strings.Cut(rest[cut+len(" = "):], " ")
	c.failed = strings.HasPrefix(result, "-") || result == "?"
	if strings.HasPrefix(name, "rename") {
		names := quoted.FindAllStringSubmatch(args, -1)
		if len(names) != 2 {
			return c, fmt.Errorf("%d names", len(names))
		}
		c.file, c.to = base(names[0][1]), base(names[1][1])
		return c, nil
	}
	_, path, _ := strings.Cut(args, "<")
	path, args, _ = strings.Cut(path, ">")
	c.file = base(path)
	switch name {
	case "ftruncate":
		c.size, err = strconv.ParseInt(strings.TrimPrefix(args, ", "), 10, 64)
	case "pwrite64":
		err = c.parseWrite(args, result)
	}
	return c, err
}

var quoted = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)

func (c *call) parseWrite(args, result string) (err error) {
	_, data, _ := strings.Cut(args, `"`)
	data, args, _ = strings.Cut(data, `"`)
	written, _ := strconv.Atoi(result)
	c.data = unescape(data)
	if !c.failed && written <= len(c.data) {
		c.data = c.data[:written]
	}
	c.at, err = strconv.ParseInt(args[strings.LastIndex(args, " ")+1:], 10, 64)
	return err
}

func base(path string) string { return filepath.Base(string(unescape(path))) }

// unescape reads \x escapes and nothing else.
func unescape(text string) []byte {
	data := make([]byte, len(text)/4)
	digits := make([]byte, 0, len(text)/2)
	for at := 2; at+1 < len(text); at += 4 {
		digits = append(digits, text[at], text[at+1])
	}
	n, _ := hex.Decode(data, digits)
	return data[:n]
}

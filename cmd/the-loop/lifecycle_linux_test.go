package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func systemTests() map[string]func(*life) {
	return map[string]func(*life){
		"LockCallsFail":         lockCallsFail,
		"CommitsFail":           commitsFail,
		"NoDescriptors":         noDescriptors,
		"NothingCanBeWritten":   nothingCanBeWritten,
		"DeadlineAcrossRestart": deadlineAcrossRestart,
		"PasteAcrossRestart":    pasteAcrossRestart,
	}
}

// strace runs the program with system calls on a file that fail, as inject says,
// and returns how many did.
func (l *life) strace(inject, path string, args ...string) (answer, int) {
	l.Helper()
	call, _, _ := strings.Cut(inject, ":")
	flags := []string{"-f", "-o", l.path("trace"), "-P", path, "-e", "trace=" + call, "-e", "inject=" + inject, l.bin.loop}
	cmd := l.command("strace", append(flags, args...)...)
	a := l.finish(cmd)
	return a, strings.Count(l.read("trace"), "(INJECTED)")
}

// An interrupted flock is made again; where there are no locks nothing runs
// unlocked, and nothing is left behind.
func lockCallsFail(l *life) {
	if a, n := l.strace("flock:error=EINTR:when=1..3", l.pidfile(), "poll", "start", "--once"); a.code != 0 || n == 0 {
		l.Errorf("interrupted %d times: exit code %d: %s", n, a.code, a.stderr)
	}
	for _, errno := range []string{"ENOLCK", "EIO"} {
		a, n := l.strace("flock:error="+errno, l.pidfile(), "poll", "start", "--once")
		if a.code != 1 || n == 0 || !strings.Contains(a.stderr, "this file system gives no locks; put state.root on a local disk") {
			l.Errorf("%s, %d times: exit code %d: %s", errno, n, a.code, a.stderr)
		}
		if _, err := os.Lstat(l.pidfile()); !os.IsNotExist(err) {
			l.Errorf("%s: the pidfile is left behind: %v", errno, err)
		}
	}
}

// B9, F4, I1: a commit that fails is unknown, not undone, whichever of a cycle it
// is: nothing that it paid for is sent twice and nothing is lost.
func commitsFail(l *life) {
	l.item(1, true)
	l.must("poll", "start", "--once")
	fired := 0
	for n := 1; n <= l.rounds(4); n++ {
		l.comment(1, n, fmt.Sprintf("word-%d-end", n))
		// Calls are counted by thread, so which one it is varies from run to run.
		a, injected := l.strace(fmt.Sprintf("fdatasync:error=EIO:when=%d", 1+(n-1)%4), l.path(".the-loop/ledger.db"), "poll", "start", "--once")
		fired += injected
		if a.code > 1 || a.code < 0 {
			l.Errorf("call %d fails: exit code %d: %s", n, a.code, a.stderr)
		}
		l.settled()
		if told := l.told(fmt.Sprintf("word-%d-end", n)); told != 1 {
			l.Errorf("call %d fails: the comment arrived %d times", n, told)
		}
	}
	if fired == 0 {
		l.Error("no call has failed: that shows nothing")
	}
	l.Logf("%d commits failed", fired)
	if n := l.told("the-task"); n != 1 {
		l.Errorf("%d sessions", n)
	}
}

// With next to no descriptors a start is refused cleanly, and a poller that runs
// out of them has cycles that fail and goes on when there are some again.
func noDescriptors(l *life) {
	l.item(1, true)
	for _, limit := range []int{4, 6, 8, 10, 12, 16} {
		a := l.finish(l.command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec %s poll start --once", limit, l.bin.loop)))
		if a.code == 0 {
			l.Errorf("%d descriptors are enough: that shows nothing", limit)
		}
		l.free("a refused start:")
	}
	p := l.start("--interval", "0.1")
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	var before, few unix.Rlimit
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		l.Fatal(err)
	}
	few = before
	few.Cur = 5
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		l.Fatal(err)
	}
	l.comment(1, 1, "word-1-end")
	errs := func() int { return strings.Count(p.stderr.String(), "too many open files") }
	l.until("a cycle fails", func() bool { return errs() > 0 })
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
		l.Fatal(err)
	}
	l.until("the comment arrives", func() bool { return l.told("word-1-end") == 1 })
	l.must("poll", "stop")
	p.wait()
	l.settled()
	if n := l.told("word-1-end"); n != 1 {
		l.Errorf("the comment arrived %d times", n)
	}
}

// While nothing can be written, as on a full disk, cycles fail and the poller
// stays: no effect follows a commit that failed, and with room again the same
// process does what is owed (B9, F4).
func nothingCanBeWritten(l *life) {
	l.item(1, true)
	p := l.start("--interval", "30")
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	l.must("poll", "kick")
	var before unix.Rlimit
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, nil, &before); err != nil {
		l.Fatal(err)
	}
	full := before
	full.Cur = 0
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &full, nil); err != nil {
		l.Fatal(err)
	}
	l.comment(1, 1, "word-1-end")
	for range 3 {
		if a := l.run("poll", "kick"); a.code != 1 || !strings.Contains(a.stdout+a.stderr, "error") {
			l.Fatalf("a cycle that can write nothing: exit code %d: %s%s", a.code, a.stdout, a.stderr)
		}
	}
	if n := l.told("word-1-end"); n != 0 {
		l.Errorf("the comment arrived %d times while its attempt could not be written down", n)
	}
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &before, nil); err != nil {
		l.Fatal(err)
	}
	l.must("poll", "kick")
	l.until("the comment arrives", func() bool { return l.told("word-1-end") == 1 })
	l.must("poll", "stop")
	p.wait()
	l.settled()
	if n := l.told("word-1-end"); n != 1 {
		l.Errorf("the comment arrived %d times", n)
	}
}

// stuck starts a poller whose tmux client gets stuck at the moment when a comment
// is pasted, and kills that poller there. how is what the client does instead, in
// shell, with $server the server's pid. It returns when the paste was asked for,
// the server and the client.
func (l *life) stuck(how string) (asked time.Time, server, client int) {
	l.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		l.Fatal(err)
	}
	l.item(1, true)
	l.must("poll", "start", "--once")
	server, err = strconv.Atoi(strings.TrimSpace(l.tmux("display-message", "-p", "#{pid}")))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGCONT) }) // else nothing can end it
	l.write("bin/tmux", fmt.Sprintf(`#!/bin/sh
server=%d
case "$*" in *paste-buffer*) [ -e %[2]s ] || { echo $$ >%[2]s; %[3]s; };; esac
exec %[4]s "$@"
`, server, l.path("client"), how, tmux))
	if err := os.Chmod(l.path("bin/tmux"), 0o700); err != nil {
		l.Fatal(err)
	}
	l.comment(1, 1, "word-1-end")
	cmd := l.command(l.bin.loop, "poll", "start", "--interval", "0.2")
	cmd.Env = append(cmd.Env, "PATH="+l.path("bin")+":"+os.Getenv("PATH"))
	p := l.launch(cmd)
	l.until("the paste is asked for", func() bool {
		text, err := os.ReadFile(l.path("client"))
		client, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && client > 1
	})
	asked = time.Now()
	p.signal(syscall.SIGKILL)
	p.wait()
	return asked, server, client
}

// D3, B9: a paste that waits for a hung server while its poller is killed lands
// when that goes on, its client killed or not. The next poller finds its mark and
// does not send it again.
func pasteAcrossRestart(l *life) {
	_, server, client := l.stuck("kill -STOP $server")
	l.until("the client waits", func() bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", client))
		return err == nil && strings.HasPrefix(string(name), "tmux")
	})
	p := l.start("--interval", "0.2")
	l.until("the next poller runs", func() bool { return l.count("poller.started", p.Process.Pid) == 1 })
	if err := syscall.Kill(server, syscall.SIGCONT); err != nil {
		l.Fatal(err)
	}
	l.until("the comment is proved", func() bool {
		return strings.TrimSpace(l.must("ledger", "list", "--pending")) == "no work items"
	})
	l.must("poll", "stop")
	p.wait()
	l.settled()
	if n := l.told("word-1-end"); n != 1 {
		l.Errorf("the comment arrived %d times", n)
	}
}

// D3: until its deadline has passed nothing of that session moves, across a
// restart too: a paste that never reached the server is not made again before.
func deadlineAcrossRestart(l *life) {
	asked, _, client := l.stuck("exec sleep 600")
	if err := syscall.Kill(client, syscall.SIGKILL); err != nil {
		l.Fatal(err)
	}
	p := l.start("--interval", "0.2")
	l.until("the comment arrives", func() bool { return l.told("word-1-end") > 0 })
	const deadline = 8 * time.Second // 10 s in whole seconds, asked for a moment before it was seen
	if waited := time.Since(asked); waited < deadline {
		l.Errorf("it was sent again %s after a paste that might still have landed", waited)
	}
	l.must("poll", "stop")
	p.wait()
	l.settled()
	if n := l.told("word-1-end"); n != 1 {
		l.Errorf("the comment arrived %d times", n)
	}
}

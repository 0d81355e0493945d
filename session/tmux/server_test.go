//go:build unix

package tmux

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"theloop/testdata/harness/harnesslog"
)

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old-tmux")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho tmux 2.9a\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name, says string
		change     func(*Options)
	}{
		{"missing", "PATH=" + dir, func(o *Options) { o.Binary = "no-such-tmux" }},
		{"old", "2.9a", func(o *Options) { o.Binary = old }},
		{"socket", "socket", func(o *Options) { o.Socket = "a/b" }},
		{"instance", "instance", func(o *Options) { o.Instance = "" }},
		{"line break", "line breaks", func(o *Options) { o.Exe = "/a\nb" }},
		{"relative", "absolute", func(o *Options) { o.Exe = "the-loop" }},
	} {
		o := Options{Instance: testInstance, Exe: "/the-loop"}
		c.change(&o)
		if s, err := New(o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v %v", c.name, s, err)
		}
	}
	s, err := New(Options{Instance: testInstance, Exe: "/the-loop"})
	if err != nil || !filepath.IsAbs(s.Binary()) || !newEnough(s.Version()) {
		t.Errorf("%+v %v", s, err)
	}
}

func TestVersions(t *testing.T) {
	for version, fine := range map[string]bool{"3.3a": true, "3.2": true, "3.1c": false, "2.9": false, "next-3.7": true, "master": true, "openbsd-7.4": true, "4.0": true} {
		if newEnough(version) != fine {
			t.Errorf("%s", version)
		}
	}
}

// D8: only the allow-list, LC_* and what the user named reach tmux and the sessions; nothing of tmux's own.
func TestD8Environment(t *testing.T) {
	env := []string{"PATH=/bin", "HOME=/h", "GITHUB_TOKEN=secret", "LC_ALL=C", "LC_X=1", "TMUX=x", "TMUX_PANE=%1", "TMUX_TMPDIR=/t", "MINE=1", "PATHS=2", "bad"}
	want := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "LC_X=1", "MINE=1"}
	if diff := cmp.Diff(want, filterEnv(env, []string{"MINE", "TMUX"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(want, "TMUX_TMPDIR=/t"), clientEnv(env, []string{"MINE", "TMUX_TMPDIR"})); diff != "" {
		t.Error(diff)
	}
	got := mergeEnv([]string{"A=1", "B=2"}, []string{"B=3", "C=4", "TMUX=x", "=x", "y"})
	if diff := cmp.Diff([]string{"A=1", "B=3", "C=4"}, got); diff != "" {
		t.Error(diff)
	}
}

// D8: a secret of the first client is in no pane: a tmux server keeps that environment for life.
func TestD8SecretsStayOut(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("PASSED_ON", "yes")
	t.Setenv("TMUX", "/nowhere,1,0")
	t.Setenv("TMUX_PANE", "%7")
	r := newRig(t, func(o *Options) { o.PassEnv = []string{"PASSED_ON"} })
	_, log := r.spawned("loop-a")
	rs, err := harnesslog.Read(log)
	if err != nil {
		t.Fatal(err)
	}
	for where, env := range map[string]string{"harness": strings.Join(rs[0].Env, "\n"), "server": r.tmux("-L", "default", "show-environment", "-g")} {
		if strings.Contains(env, "secret") || !strings.Contains(env, "PASSED_ON=yes") || strings.Contains(env, "TMUX_PANE") {
			t.Errorf("%s: %s", where, env)
		}
	}
}

// L6: a lock's descriptor is not in the tmux server, nor in the harness: not one that Go opened, and not one that this
// process was started with.
func TestL6NoDescriptorLeaks(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("only Linux shows another process's descriptors")
	}
	r := newRig(t)
	path := filepath.Join(r.dir, "poll.pid")
	inherited, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR, 0o600) // not close-on-exec, as after `exec 9>poll.pid`
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(inherited, syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	r.Server = r.server()
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	for _, pid := range []int{server, panePID(look)} {
		ends := map[string]int{}
		for fd, file := range descriptors(t, pid) {
			ends[file]++
			if strings.HasPrefix(file, r.dir) && !strings.Contains(file, "harness.") {
				t.Errorf("process %d has %s as %s", pid, file, fd)
			}
		}
		for file, n := range ends { // a pipe of its own has both ends here
			if strings.HasPrefix(file, "pipe:") && n != 2 {
				t.Errorf("process %d has one end of %s", pid, file)
			}
		}
	}
	if err := syscall.Close(inherited); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// A fork in flight, of another test, has a copy until it becomes its program.
	eventually(t, "the lock to be free", func() bool {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	})
}

func descriptors(t *testing.T, pid int) map[string]string {
	dir := filepath.Join("/proc", itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for _, e := range entries {
		open[e.Name()], _ = os.Readlink(filepath.Join(dir, e.Name()))
	}
	return open
}

// L3: two instances on one server: each has its own panes and buffers.
func TestL3TwoInstances(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.server(func(o *Options) { o.Instance = "another" })
	look, log := r.spawned("loop-a")
	theirs := OwnerMark("another", "loop-a")
	if outcome, err := other.Paste(t.Context(), Paste{Look: look, Owner: theirs, Mark: Mark("1"), Text: []byte("x")}); outcome != Skip {
		t.Errorf("%v %v", outcome, err)
	}
	if err := other.Close(t.Context(), look, CloseOptions{Owner: theirs, Kill: true}); err == nil {
		t.Error("the other instance closed it")
	}
	for _, s := range []*Server{r.Server, other} {
		id, err := s.newID()
		if err != nil {
			t.Fatal(err)
		}
		r.tmux("set-buffer", "-b", bufferPrefix+string(id), "left over")
		r.tmux("set-buffer", "-b", bufferPrefix+string(id)+"-cr", "left over")
	}
	r.tmux("set-buffer", "-b", "loop-of-the-user", "x")
	r.tmux("set-buffer", "-b", r.prefix+"of-the-user", "x")
	r.tmux("set-buffer", "x")
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := func() []string { return strings.Fields(r.tmux("list-buffers", "-F", "#{buffer_name}")) }
	if n := len(names()); n != 7 {
		t.Errorf("young buffers were swept: %d left", n)
	}
	later := r.server(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	if err := later.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := names()
	if len(left) != 5 || slices.ContainsFunc(left, func(n string) bool { return strings.HasPrefix(n, r.prefix) && n != r.prefix+"of-the-user" }) {
		t.Errorf("left: %q", left)
	}
	if got(t, log) != "" {
		t.Errorf("it got %q", got(t, log))
	}
}

func TestSweepWithoutServer(t *testing.T) {
	t.Parallel()
	if err := newRig(t).Sweep(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAttachArgs(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Socket = "own" })
	look := Look{PaneID: "%3", Identity: "77/1/2", session: "$1", window: "@2"}
	const target = "$1:@2.%3"
	for _, c := range []struct {
		name     string
		readOnly bool
		within   string
		want     []string
	}{
		{"from a terminal", false, "", []string{"attach-session", "-t", target}},
		{"to watch", true, "", []string{"attach-session", "-t", target, "-r"}},
		{"from within the same server", false, "/tmp/a,b/default,77,0", []string{"switch-client", "-t", target}},
		{"from within another server", false, "/tmp/default,78,0", []string{"attach-session", "-t", target}},
		{"to watch from within the same server", true, "/tmp/default,77,0", []string{"attach-session", "-t", target, "-r"}},
	} {
		args, err := r.attachArgs(look, c.readOnly, c.within)
		if diff := cmp.Diff(append([]string{"-u", "-L", "own"}, c.want...), args); diff != "" || err != nil {
			t.Errorf("%s: %s %v", c.name, diff, err)
		}
	}
	if err := r.Attach(Look{PaneID: "loop-1"}, false, nil); err == nil || !strings.Contains(err.Error(), "loop-1") {
		t.Errorf("a name was taken for a pane: %v", err)
	}
}

// D3, D6: marks are 16 hex digits; a ring is read back as it was written.
func TestMarks(t *testing.T) {
	if m := Mark("poll-comment-1"); m != "3adc83d17d6ab685" || !isMark(m) {
		t.Error(m)
	}
	if n := SessionName("github-octo-repo.js-1:2"); n != "loop-github-octo-repo_js-1_2" {
		t.Error(n)
	}
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.String(), 0, 2*RingSize).Draw(t, "ids")
		text, want := "f|", []string(nil)
		for i, id := range ids {
			entry := strings.Repeat("_", i%2) + Mark(id)
			text, want = text+"|"+entry+"|", append(want, entry)
		}
		if diff := cmp.Diff(want[max(0, len(want)-RingSize):], parseRing(text)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// D8: a harness's session id comes back as it was, whatever it holds.
func TestHarnessSessionIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.StringN(1, 30, 100), rapid.StringMatching(`(x--)?[0-9a-f-]{1,36}`)).Draw(t, "id")
		a, err := sessionWord(id)
		if err != nil {
			t.Fatal(err)
		}
		if back := readSession(string(a)); back != id {
			t.Fatalf("%q came back as %q", id, back)
		}
	})
}

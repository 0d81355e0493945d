package webterm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"theloop/session/leaktest"
)

// ttyd stands in for ttyd, a real server on a real port; the machine need not
// have the package.
var ttyd string

// temporary marks, in their environment, what the tests start.
var temporary string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "poller" { // a process to be killed
		poller(os.Args[2], os.Args[3])
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ttyd")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ttyd = filepath.Join(dir, "ttyd")
	if out, err := exec.Command("go", "build", "-o", ttyd, "theloop/testdata/ttyd").CombinedOutput(); err != nil {
		fmt.Printf("build the stand-in: %v\n%s", err, out)
		return 1
	}
	if err := os.Link(ttyd, ttyd+"-old"); err != nil {
		panic(err)
	}
	if temporary, err = os.MkdirTemp("", "webterm"); err != nil {
		panic(err)
	}
	return leaktest.Run(m, temporary)
}

// freePort is a port that nobody has, for a moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func started(t *testing.T, o Options) (*Terminal, *record) {
	t.Helper()
	log := &record{}
	o.Host, o.Port, o.Log = "localhost", freePort(t), slog.New(slog.NewTextHandler(log, nil))
	o.Env = append(o.Env, "PATH="+os.Getenv("PATH"), "HOME="+temporary+"/home")
	if len(o.Command) == 0 {
		o.Command = []string{"/bin/sh", "-c", `echo "args: $*"; env; read line; echo "heard $line"`, "sh", "--"}
	}
	term, err := Start(t.Context(), o)
	for range 5 { // what runs beside this test may take a port that was free
		if err == nil || !strings.Contains(err.Error(), "somebody else does") {
			break
		}
		o.Port = freePort(t)
		term, err = Start(t.Context(), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.Close(); err != nil {
			t.Error(err)
		}
	})
	return term, log
}

// get asks as a browser does, once, on a connection of its own.
func get(t *testing.T, term *Terminal, path string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + term.o.address() + path)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// R3: read-only unless configured, whichever way the installed ttyd has it; what
// stands in the address is an argument behind all others; a token is not in the
// environment.
func TestReadOnlyUnlessConfigured(t *testing.T) {
	t.Setenv("GH_TOKEN", "a-secret")
	for _, binary := range []string{ttyd, ttyd + "-old"} {
		for _, writable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, writable %v", filepath.Base(binary), writable), func(t *testing.T) {
				t.Parallel()
				term, log := started(t, Options{Binary: binary, Writable: writable, Env: []string{"MINE=yes"}})
				text := get(t, term, "/?arg=loop-a&arg=--config&send="+url.QueryEscape("ls\r"))
				if !strings.Contains(text, "args: -- loop-a --config") || !strings.Contains(text, "MINE=yes") || strings.Contains(text, "a-secret") {
					t.Errorf("it shows %q", text)
				}
				if heard := strings.Contains(text, "heard ls"); heard != writable {
					t.Errorf("what was typed arrived: %v", heard)
				}
				if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.2", strconv.Itoa(term.o.Port))); err == nil {
					conn.Close()
					t.Error("it listens on more than its address")
				}
				if !strings.Contains(log.String(), "http://127.0.0.1:"+strconv.Itoa(term.o.Port)) {
					t.Errorf("the log does not say where: %s", log)
				}
			})
		}
	}
}

// R3: it listens on the address that is configured, of either kind, and on all
// only when that is what is configured.
func TestAddresses(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": " --interface 127.0.0.1 true", "::1": " --interface ::1 --ipv6 true",
		"0.0.0.0": " " + maxClients + " true", "::": " " + maxClients + " --ipv6 true",
	} {
		argv, err := Options{Host: host, Port: 1, Command: []string{"true"}}.argv(t.Context(), ttyd)
		if got := strings.Join(argv, " "); err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q %v", host, got, err)
		}
	}
}

// R3: what is missing, taken or wrong refuses the start, by name.
func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "ttyd")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name string
		o    Options
		says []string
	}{
		{"no ttyd", Options{Binary: "no-such-ttyd", Host: "127.0.0.1", Port: freePort(t)}, []string{"no-such-ttyd", "PATH=", "routing.webTerminal"}},
		{"the port is taken", Options{Binary: ttyd, Host: "127.0.0.1", Port: port}, []string{"127.0.0.1:" + strconv.Itoa(port), "routing.webTerminal.port"}},
		{"an address that is not ours", Options{Binary: ttyd, Host: "192.0.2.1", Port: freePort(t)}, []string{"192.0.2.1"}},
		{"a name that is none", Options{Binary: ttyd, Host: "no.such.host.invalid", Port: 1}, []string{"routing.webTerminal.host"}},
		{"it cannot be kept read-only", Options{Binary: script("echo hello"), Host: "127.0.0.1", Port: freePort(t)}, []string{"--readonly"}},
		{"it ends at once", Options{Binary: script("case $1 in --help) echo --writable;; *) echo out of luck >&2; exit 7;; esac"), Host: "127.0.0.1", Port: freePort(t)}, []string{"exit status 7", "out of luck"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Command, c.o.Env = []string{"true"}, []string{"PATH=" + os.Getenv("PATH")}
			term, err := Start(t.Context(), c.o)
			if err == nil {
				_ = term.Close()
				t.Fatal("it was started")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
		})
	}
}

// R3: it is looked after: one that crashes comes back, and Close ends it with
// what it started.
func TestSupervised(t *testing.T) {
	t.Parallel()
	term, log := started(t, Options{Binary: ttyd, Command: []string{"/bin/sh", "-c", "echo here; sleep 1000"}})
	get(t, term, "/exit")
	eventually(t, "it is back", func() bool { return strings.Contains(get(t, term, "/"), "here") })
	if !strings.Contains(log.String(), "ended by itself") || !strings.Contains(log.String(), "exit status 3") {
		t.Errorf("the log does not tell: %s", log)
	}
	begun := time.Now()
	if err := term.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took >= endTime {
		t.Errorf("it was not asked to end, but made to, after %s", took)
	}
	if text := get(t, term, "/"); !strings.Contains(text, "refused") {
		t.Errorf("after the close somebody answers: %q", text)
	}
}

// R3: a ttyd that is started by a script of that name is ended as well.
func TestEndsWhatAScriptStarted(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "ttyd")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n'"+ttyd+"' \"$@\" &\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	term, _ := started(t, Options{Binary: script, Command: []string{"/bin/sh", "-c", "echo here"}})
	if text := get(t, term, "/"); !strings.Contains(text, "here") {
		t.Errorf("it shows %q", text)
	}
	if err := term.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody answers", func() bool { return strings.Contains(get(t, term, "/"), "refused") })
}

// R3: a poller that is killed leaves no ttyd behind.
func TestEndsWithItsPoller(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command(self, "poller", ttyd, strconv.Itoa(port))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is up
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the port is free", func() bool { return Options{Host: "127.0.0.1", Port: port}.free() == nil })
}

// poller starts a web terminal and waits to be killed.
func poller(binary, port string) {
	n, _ := strconv.Atoi(port)
	_, err := Start(context.Background(), Options{Binary: binary, Host: "127.0.0.1", Port: n, Command: []string{"true"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("up")
	<-time.After(time.Minute)
	os.Exit(1)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 15 s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

//go:build linux

// Command ttyd stands in for the program of that name in tests: it is a real HTTP server that runs a command in a
// terminal of its own for each request and answers with what that shows. It knows the options that the web terminal uses,
// of the older ttyd when it is called ttyd-old: which says --readonly and takes what a browser sends unless it is told.
//
//	GET /?arg=A&arg=B        the command with A and B behind its arguments (--url-arg), to half a second behind its first word
//	GET /?send=TEXT          what a browser would type
//	GET /exit                ends the server, as a crash would
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// shows is how long a command is looked at once it shows something.
	shows = 500 * time.Millisecond
	// begins is how long it may take until it does: a busy machine needs seconds to
	// start a program.
	begins = 30 * time.Second
)

type options struct {
	port                      int
	host                      string
	urlArg, checkOrigin, ipv6 bool
	writable, readonly        bool
	clients                   int
	command                   []string
}

func main() {
	old := filepath.Base(os.Args[0]) == "ttyd-old"
	var o options
	flag.IntVar(&o.port, "port", 7681, "")
	flag.StringVar(&o.host, "interface", "", "")
	flag.BoolVar(&o.urlArg, "url-arg", false, "")
	flag.BoolVar(&o.checkOrigin, "check-origin", false, "")
	flag.BoolVar(&o.ipv6, "ipv6", false, "")
	flag.IntVar(&o.clients, "max-clients", 0, "")
	flag.BoolVar(&o.writable, "writable", false, "")
	flag.BoolVar(&o.readonly, "readonly", false, "")
	flag.Usage = func() {
		option := "-W, --writable"
		if old {
			option = "-R, --readonly"
		}
		fmt.Fprintln(os.Stderr, "ttyd is a tool for sharing terminal over the web\n    "+option)
	}
	flag.Parse()
	if old {
		o.writable = !o.readonly
	}
	o.command = flag.Args()
	if err := serve(o); err != nil {
		fmt.Fprintln(os.Stderr, "ttyd:", err)
		os.Exit(1)
	}
}

func serve(o options) error {
	if len(o.command) == 0 || !o.urlArg || !o.checkOrigin || o.clients == 0 {
		return errors.New("an option or the command is missing")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	if err != nil {
		return err
	}
	http.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	http.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		text, err := o.show(r.URL.Query()["arg"], r.URL.Query().Get("send"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(text)
	})
	return http.Serve(l, nil)
}

// show runs the command in a terminal for a while.
func (o options) show(args []string, send string) ([]byte, error) {
	master, slave, err := terminal()
	if err != nil {
		return nil, err
	}
	defer master.Close()
	argv := append(append([]string{}, o.command...), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(os.Environ(), "TERM=xterm")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		slave.Close()
		return nil, err
	}
	slave.Close()
	end := time.AfterFunc(begins, func() { _ = cmd.Process.Signal(syscall.SIGHUP) })
	defer end.Stop()
	first := make([]byte, 4096)
	n, err := master.Read(first) // fails when nobody has the terminal any more
	text := first[:n]
	if err == nil {
		end.Reset(shows)
		if send != "" && o.writable {
			time.AfterFunc(shows/2, func() { _, _ = io.WriteString(master, send) })
		}
		rest, _ := io.ReadAll(master)
		text = append(text, rest...)
	}
	_ = cmd.Wait()
	return text, nil
}

// terminal opens a terminal of its own (Linux).
func terminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

package webterm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// readyTime is how long ttyd may take until it listens.
	readyTime = 10 * time.Second
	readyLook = 25 * time.Millisecond
	// endTime is how long it may take to end before it is made to.
	endTime = 2 * time.Second
	// lastWords is how much of the end of its output an error carries.
	lastWords = 300
)

// process is one run of ttyd, in a process group of its own.
type process struct {
	cmd   *exec.Cmd
	said  *tail
	ended chan struct{}
	err   error // good once ended is closed
}

// begin starts ttyd and returns when it listens.
func (t *Terminal) begin(ctx context.Context) (*process, error) {
	p := &process{cmd: exec.Command(t.argv[0], t.argv[1:]...), said: &tail{}, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = t.o.Env, p.said, p.said, attributes()
	p.cmd.WaitDelay = endTime // what it started may hold the pipe
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if err := p.listens(ctx, t.o); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// listens waits until somebody can connect.
func (p *process) listens(ctx context.Context, o Options) error {
	host := o.Host
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "localhost"
	}
	address := net.JoinHostPort(host, strconv.Itoa(o.Port))
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.ended:
			return p.why()
		case <-ctx.Done():
			return fmt.Errorf("it does not listen on %s after %s", address, readyTime)
		case <-time.After(readyLook):
		}
	}
}

// wait returns why ttyd ended, or ends it when it is told to.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
		p.end() // what it started may be left
		return p.why()
	case <-ctx.Done():
		p.end()
		return ctx.Err()
	}
}

// end asks the whole group to end, and makes what is left of it.
func (p *process) end() {
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(endTime):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.ended
}

func (p *process) why() error {
	err := p.err
	if err == nil {
		err = errors.New("it ended without an error")
	}
	return fmt.Errorf("%w: %s", err, p.said)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text string
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text += string(b)
	t.text = t.text[max(0, len(t.text)-lastWords):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(t.text, "?")), " ")
}

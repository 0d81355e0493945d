// Command harness stands in for a coding agent in tests: a program that takes a first prompt as its argument, puts its
// terminal into raw mode, switches bracketed paste on, and writes every byte that reaches it to a log, as JSON lines that
// package harnesslog reads. It also knows the bad habits of real ones: slow to start, deaf to SIGTERM, gone at once,
// holding the terminal open with a child.
//
// Arguments after the flags are the first prompt. -session-id and -resume are accepted and logged.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"theloop/testdata/harness/harnesslog"
)

type options struct {
	log                       string
	rawAfter, exitAfter       time.Duration
	bracketAfter              time.Duration
	exitCode                  int
	ignoreTerm, noBracket     bool
	cooked, child, failResume bool
	flood, deaf, away         bool
	sessionID, resume         string
	prompt                    []string
}

func parse() options {
	var o options
	flag.StringVar(&o.log, "log", "", "file to append records to (required)")
	flag.DurationVar(&o.rawAfter, "raw-after", 0, "wait this long before the terminal is put into raw mode")
	flag.DurationVar(&o.bracketAfter, "bracket-after", 0, "wait this long between raw mode and bracketed paste")
	flag.DurationVar(&o.exitAfter, "exit-after", 0, "exit this long after the start; 0: never")
	flag.IntVar(&o.exitCode, "exit-code", 0, "exit status of -exit-after and -fail-resume")
	flag.BoolVar(&o.ignoreTerm, "ignore-term", false, "ignore SIGTERM and SIGHUP (they are logged)")
	flag.BoolVar(&o.noBracket, "no-bracket", false, "leave bracketed paste off")
	flag.BoolVar(&o.cooked, "cooked", false, "never put the terminal into raw mode")
	flag.BoolVar(&o.child, "child", false, "start a child in a group of its own that ignores TERM and HUP and holds the terminal")
	flag.BoolVar(&o.away, "away", false, "start a child in a session of its own that ignores TERM and HUP and holds nothing")
	flag.BoolVar(&o.flood, "flood", false, "fill the terminal with text for as long as it runs")
	flag.BoolVar(&o.deaf, "deaf", false, "never read from the terminal")
	flag.StringVar(&o.sessionID, "session-id", "", "name of a new conversation; logged")
	flag.StringVar(&o.resume, "resume", "", "name of a conversation to go on with; logged")
	flag.BoolVar(&o.failResume, "fail-resume", false, "exit at once, with status -exit-code or 1, when -resume is given")
	flag.Parse()
	o.prompt = flag.Args()
	return o
}

// lifetime ends a harness that a test left behind.
const lifetime = 10 * time.Minute

func main() { os.Exit(run(parse())) }

func run(o options) int {
	log, err := harnesslog.Create(o.log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		return 2
	}
	log.Start(os.Args, o.prompt, o.sessionID, o.resume)
	if o.failResume && o.resume != "" {
		log.Exit("no such conversation")
		return max(o.exitCode, 1)
	}
	done := watch(o, log)
	if o.child || o.away {
		if err := startChild(o.away); err != nil {
			fmt.Fprintln(os.Stderr, "harness:", err)
			return 2
		}
	}
	go read(o, log, done)
	why := <-done
	log.Exit(why)
	if why == "time is up" {
		return o.exitCode
	}
	return 0
}

// watch returns the channel on which the reason for the end comes.
func watch(o options, log *harnesslog.Writer) chan string {
	done := make(chan string, 3)
	time.AfterFunc(lifetime, func() { done <- "forgotten" })
	if o.exitAfter > 0 {
		time.AfterFunc(o.exitAfter, func() { done <- "time is up" })
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for sig := range signals {
			log.Signal(sig.String())
			if !o.ignoreTerm {
				done <- sig.String()
			}
		}
	}()
	return done
}

// read makes the terminal raw, after a while, and logs what comes.
func read(o options, log *harnesslog.Writer, done chan<- string) {
	time.Sleep(o.rawAfter)
	if !o.cooked {
		if _, err := term.MakeRaw(0); err != nil {
			done <- err.Error()
			return
		}
		if !o.noBracket {
			time.Sleep(o.bracketAfter)
			fmt.Print("\x1b[?2004h")
		}
		log.Raw()
	}
	fmt.Print("harness is ready\r\n")
	if o.flood {
		go flood()
	}
	if o.deaf {
		select {}
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buffer)
		if n > 0 {
			log.Input(buffer[:n])
		}
		if err != nil {
			if o.ignoreTerm {
				select {} // deaf to a hung-up terminal, too
			}
			done <- err.Error()
			return
		}
	}
}

// flood writes as a program does that shows its progress far too often.
func flood() {
	for n := 0; ; n++ {
		if _, err := fmt.Printf("\x1b[%dm%d %0200d\x1b[0m\r\n", 31+n%7, n, n); err != nil {
			return
		}
	}
}

func startChild(away bool) error {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM HUP; i=0; while [ $i -lt 600 ]; do sleep 1; i=$((i+1)); done")
	if away {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

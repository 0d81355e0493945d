package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"theloop/escape"
)

// The exit codes (design of the command line): done or yes, failed or no, and a
// command line that cannot be understood.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// failure is an error whose text is not to be printed once more, or whose exit
// code is not 1.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// no is a "no" that was answered already.
var no = &failure{code: exitFailed}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// run is the whole program but for the exit.
func run() int {
	d, err := newDeps()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the-loop:", escape.Text(err.Error()))
		return exitFailed
	}
	return execute(context.Background(), d, os.Args[1:])
}

// execute parses the arguments, runs the command and turns its error into text
// and an exit code: the only place that does.
func execute(ctx context.Context, d *deps, args []string) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("the-loop"),
		kong.Description("Hosts one coding-agent session per labelled work item and forwards what people say into it, once."),
		kong.Writers(d.stdout, d.stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(d),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return report(d.stderr, err)
	}
	if err := belongedElsewhere(args); err != nil {
		return report(d.stderr, err)
	}
	parsed, err := parser.Parse(asked(args))
	if exited >= 0 { // --help has answered
		return exited
	}
	if err != nil {
		return report(d.stderr, misread(err))
	}
	return report(d.stderr, parsed.Run(&c.Global))
}

// asked turns what people type first, with other programs' habits, into what is
// there.
func asked(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := strings.TrimRight(err.Error(), "\n"); text != "" {
		if errors.Is(err, fs.ErrPermission) {
			text += fmt.Sprintf("; this process runs as user %d: run it as the one whom that belongs to, or mend its permissions", os.Geteuid())
		}
		fmt.Fprintln(stderr, "the-loop:", escape.Text(text))
	}
	return code
}

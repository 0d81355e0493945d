package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	bolt "go.etcd.io/bbolt"
)

// CheckFile is Check for a ledger that nobody has open for writing, with the
// library's own check of the pages as a second pair of eyes. A page fault in that
// one ends the process; see CheckInChild. Of a ledger of an older schema the
// pages alone are looked at: when they are sound it returns a *SchemaError.
func CheckFile(ctx context.Context, path string) (problems []Problem, err error) {
	return checkFile(ctx, Options{Path: path})
}

func checkFile(ctx context.Context, opts Options) (problems []Problem, err error) {
	opts.ReadOnly, opts.older = true, true
	l, err := Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	problems, err = l.checkFile(ctx)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	if problems, err = l.checkLibrary(ctx); err != nil || len(problems) > 0 {
		return problems, err
	}
	if err := l.current(); err != nil {
		return nil, err
	}
	return l.checkRows(ctx)
}

// current is an error when the ledger was opened although its schema is older.
func (l *Ledger) current() error {
	h, err := l.readHead(l.db)
	if err == nil && h.schema < l.opts.layout.schema {
		return l.olderSchema(h)
	}
	return err
}

func (l *Ledger) checkLibrary(ctx context.Context) ([]Problem, error) {
	var faults []error
	err := l.use(ctx, func(db *bolt.DB) error {
		faults = checkPages(db)
		return nil
	})
	return pageProblems(faults), err
}

// checkReport is what a child says of a ledger: first that it has begun, then
// the rest.
type checkReport struct {
	Begun    bool      `json:"begun,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	// Damaged is the reason of a *DamagedError, Error the text of another one.
	Damaged string `json:"damaged,omitempty"`
	Error   string `json:"error,omitempty"`
}

// ReportCheck is the child's half of CheckInChild: it runs CheckFile and writes
// what that found to w. The error is that of writing.
func ReportCheck(ctx context.Context, path string, w io.Writer) error {
	return reportCheck(ctx, Options{Path: path}, w)
}

func reportCheck(ctx context.Context, opts Options, w io.Writer) error {
	out := json.NewEncoder(w)
	if err := out.Encode(checkReport{Begun: true}); err != nil {
		return err
	}
	var report checkReport
	var damage *DamagedError
	var schema *SchemaError
	problems, err := checkFile(ctx, opts)
	switch report.Problems = problems; {
	case errors.As(err, &schema) && schema.Older(): // its pages are sound: it is fit to be migrated
	case errors.As(err, &damage):
		report.Damaged = damage.Reason
	case err != nil:
		report.Error = err.Error()
	}
	return out.Encode(report)
}

// crashed is the exit code of a Go program that a fault ended, unless it was told
// to end itself by a signal.
const crashed = 2

// childPatience is how long a child that was told to end may take to.
const childPatience = 5 * time.Second

// CheckInChild runs CheckFile in a process of its own, whatever is in the file:
// a page fault ends that one and is an error here. It is for a start after an
// unclean stop, before the ledger is opened. The command has to call ReportCheck
// for the path with its standard output, and nothing else; its last argument
// should be the path.
//
// A fault of the pages is a *DamagedError. Problems are those of rows, each of
// which concerns its item alone: they are no reason not to start.
func CheckInChild(ctx context.Context, path string, command ...string) ([]Problem, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.WaitDelay = &out, childPatience
	err := cmd.Run()
	var begun, report checkReport
	in := json.NewDecoder(&out)
	unread := errors.Join(in.Decode(&begun), in.Decode(&report))
	var exit *exec.ExitError
	switch {
	case err == nil && unread == nil:
		return report.verdict(path)
	case begun.Begun && ctx.Err() == nil && errors.As(err, &exit) && faulted(exit.ProcessState):
		return nil, damaged(path, fmt.Sprintf("is damaged: looking at it ended the process that did (%v)", err))
	}
	return nil, fmt.Errorf("check the ledger %s in a child process: %w", path, errors.Join(err, unread))
}

func (r checkReport) verdict(path string) ([]Problem, error) {
	switch {
	case r.Damaged != "":
		return nil, damaged(path, r.Damaged)
	case r.Error != "":
		return nil, errors.New(r.Error)
	case len(r.Problems) > 0 && r.Problems[0].Bucket == "":
		return nil, damaged(path, fmt.Sprintf("has %d faults, the first one: %s", len(r.Problems), r.Problems[0]))
	}
	return r.Problems, nil
}

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// Ledger is what jobs need of the ledger; *store.Ledger is it. A commit answers
// record.ErrChanged when a revision moved, record.ErrUnknown when it cannot tell
// what became of it.
type Ledger interface {
	Record(context.Context, workitem.Ref) (record.Record, error)
	Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error)
	// CommitBoth is Commit for a pull request and the item whose session takes its
	// comments, in one transaction.
	CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
		target workitem.Ref, targetRev uint64, targetChanges []record.Change,
	) (applied, targetApplied []record.Change, err error)
	// Linked returns the pull requests whose comments go into the item's session
	// (P3): their deadlines hold it back as well.
	Linked(ctx context.Context, target workitem.Ref) ([]workitem.Ref, error)
}

// Tmux is what jobs need of tmux; *tmux.Server is it.
type Tmux interface {
	Look(context.Context, tmux.Target) tmux.Look
	// LookAndLoad also loads a text for the Paste that follows; Drop deletes it.
	LookAndLoad(context.Context, tmux.Target, []byte) (tmux.Look, tmux.Loaded)
	Drop(context.Context, tmux.Loaded)
	// Runnable errs when an order's program is not where a pane would find it.
	Runnable(tmux.Order) error
	LookAll(context.Context) ([]tmux.Look, error)
	// Survivor is the process of a pane that is gone, when it is proved to go on.
	Survivor(ctx context.Context, identity string, seen time.Time, wait time.Duration) (pid int)
	Ready(context.Context, tmux.Look, time.Duration) error
	Paste(context.Context, tmux.Paste) (tmux.Outcome, error)
	Spawn(context.Context, tmux.Spawn) (tmux.Look, tmux.Outcome, error)
	Respawn(context.Context, tmux.Look, tmux.Spawn) (tmux.Look, tmux.Outcome, error)
	Prove(ctx context.Context, l tmux.Look, owner, mark string) error
	Adopt(ctx context.Context, l tmux.Look, owner, harnessSession string, marks []string) error
	Close(context.Context, tmux.Look, tmux.CloseOptions) error
}

// Settings are what an edit of the configuration may change between two jobs.
type Settings struct {
	// Harness is the name of the one that new conversations get.
	Harness string
	// Harnesses are those of the configuration, beside the built-in ones;
	// HarnessArgs are extra arguments, by name.
	Harnesses   map[string]Harness
	HarnessArgs map[string][]string
	// Workdir is the folder that new conversations start in.
	Workdir string

	// PromptTemplate and SpawnPromptTemplate are files of the operator's; empty
	// for the built-in texts.
	PromptTemplate      string
	SpawnPromptTemplate string
	// Interaction is AskInTerminal, or anything else for the work item.
	Interaction string
	// QuoteOthers puts the texts of people who are not authorised into first
	// prompts, marked as theirs (D10).
	QuoteOthers bool

	// ReadyWait is how long the first paste waits for the harness's terminal (D4).
	ReadyWait time.Duration
	// ResumeProbe is how long a spawned harness has to live to have succeeded (D5).
	ResumeProbe time.Duration
	// ResumeOnRespawn lets a session that ended go on with its conversation.
	ResumeOnRespawn bool
	// RemainOnExit keeps the pane of a harness that exited readable.
	RemainOnExit bool
	// KeepSessionOnClose, KillHarnessOnClose and KillGrace say how a session is
	// closed (D9).
	KeepSessionOnClose bool
	KillHarnessOnClose bool
	KillGrace          time.Duration
	// MaxRetries is how many attempts a delivery has; events say with it whether
	// there will be another.
	MaxRetries int

	// Announce says on the work item that a session was spawned, Reactions answer
	// its comments (D12).
	Announce  bool
	Reactions Reactions
	// Trust is how folders are made known to Claude (D11).
	Trust Trust
}

// Admission is what is decided on when an attempt is about to start.
type Admission struct {
	// Item is the record that the attempt is counted on, Session the one that the
	// session belongs to: the same, but for a pull request's comment that goes
	// into an issue's session (P3).
	Item    record.Record
	Session record.Record
	// Others are the records of whatever else goes into the session: of its pull
	// requests, and of the one that it belongs to when that is not Item (B8).
	Others []record.Record
	// Start is the change that starts it. It is on record.OnNewPane for every
	// attempt that starts a harness, also for one in the place of a dead one.
	Start record.Start
}

// Options are what a Host is made of.
type Options struct {
	Ledger Ledger
	Tmux   Tmux
	// Instance is the ledger's (D6); Host this machine's id; Run names this
	// process in the rows whose attempts it spent.
	Instance string
	Host     string
	Run      string
	// Now is time.Now when nil.
	Now func() time.Time
	// Settings are asked for once a job.
	Settings func() Settings
	// Admit decides whether an attempt starts (B8): ok with changes that hold the
	// Start, or changes that give it back or settle it. It is pure.
	Admit func(Admission) (changes []record.Change, ok bool)
	// Authorized says whose words are obeyed, as of now (A7).
	Authorized func(workitem.Author) bool
	// Emit writes one event of the decision trail; it never blocks or fails.
	Emit func(event string, fields map[string]any)
	// Tell reads what a first prompt tells of an item that was not read for the
	// decision: one whose session begins with a comment on its pull request, or a
	// pull request of one whose session begins (D10). Without it neither is told.
	Tell func(context.Context, workitem.Ref, record.Record) (Story, error)
	// Tracker finds the tracker of an item, and Later does what is posted there
	// behind the sessions' own work: in the order of its calls for each item, once
	// for an id that it holds, with a limit of time. It may refuse. Without them
	// nothing is posted.
	Tracker func(workitem.Ref) (Tracker, bool)
	Later   func(ref workitem.Ref, id string, post func(context.Context) error) bool
	// Failpoint is called where a crash matters: "loaded" (the text is in a buffer
	// of tmux, nothing is committed), "started" (the start is committed, nothing
	// pasted), "pasted" (tmux has answered), "proved" (a spawn has lived long
	// enough), "outcome" (the outcome is committed), "announced" (it is posted, the
	// ledger does not know). Nil is off.
	Failpoint func(name string)
	// Random gives the ids of conversations; crypto/rand when nil.
	Random io.Reader
	// Log gets what is no decision; slog.Default when nil.
	Log *slog.Logger
}

// Result is what a job left behind.
type Result int

const (
	// Unknown means that no verdict can be given: the next decision reads the
	// ring (B9). What was not started is used again, what was started waits for
	// its deadline.
	Unknown Result = iota
	// Done means that the outcome is committed: delivered, closed, adopted.
	Done
	// Failed means that the attempt was spent without a delivery.
	Failed
	// Dropped means that nothing was to be done or may be: nothing was spent, or
	// what was spent has been given back.
	Dropped
)

func (r Result) String() string { return [...]string{"unknown", "done", "failed", "dropped"}[r] }

const (
	// deadlineAfter is how long after its start a tmux call may take effect (D3):
	// a constant of the protocol.
	deadlineAfter = tmux.DeadlineAfter
	// maxSkips is how often tmux may refuse an attempt before it has failed (D3).
	maxSkips = 2
	// endWait is how long a harness whose pane was taken away may take to end before
	// it counts as one that does not.
	endWait = 3 * time.Second
	// maxConflicts bounds how often a commit is decided again because the record
	// moved; each time somebody else got something done.
	maxConflicts = 16
	// commitWait bounds the commits that ignore a stop (B4).
	commitWait = 10 * time.Second
)

// Host hosts the sessions of one ledger on one machine. It holds no state of a
// session: that is in the ledger and in tmux. Its jobs may run concurrently for
// different sessions; for one session the caller runs one at a time (D1).
type Host struct {
	Options
	prompts *prompter
	// ready holds the lives whose terminal was found ready (D4); it only saves the
	// wait.
	ready sync.Map
	// begun holds the deliveries whose start was answered already (D12).
	begun sync.Map
	// trusting keeps two spawns from writing Claude's file at once.
	trusting sync.Mutex
	// pause waits; tests put their own in.
	pause func(context.Context, time.Duration) error
}

// New returns a Host. Every function and value that Options does not call
// optional has to be there.
func New(o Options) (*Host, error) {
	switch {
	case o.Ledger == nil, o.Tmux == nil, o.Settings == nil, o.Admit == nil, o.Authorized == nil, o.Emit == nil:
		return nil, errors.New("make a session host: Ledger, Tmux, Settings, Admit, Authorized and Emit must be set")
	case o.Instance == "" || o.Run == "":
		return nil, errors.New("make a session host: Instance and Run must not be empty")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Host{
		Options: o,
		prompts: &prompter{authorized: o.Authorized, log: o.Log, said: map[string]bool{}},
		pause:   pause,
	}, nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// unstoppable is a context that a stop does not end, but a deadline does (B4).
func unstoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), commitWait)
}

// update commits what decide makes of the record as it stands, again when it
// moved meanwhile. No changes: nothing is committed.
func (h *Host) update(ctx context.Context, ref workitem.Ref, decide func(record.Record) []record.Change) error {
	ctx, cancel := unstoppable(ctx)
	defer cancel()
	for range maxConflicts {
		rec, err := h.Ledger.Record(ctx, ref)
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		changes := decide(rec)
		if len(changes) == 0 {
			return nil
		}
		_, err = h.Ledger.Commit(ctx, ref, rec.Item.Rev, changes)
		if err == nil {
			return nil
		}
		if !errors.Is(err, record.ErrChanged) {
			return fmt.Errorf("commit: %w", err)
		}
	}
	return fmt.Errorf("commit: %w %d times in a row", record.ErrChanged, maxConflicts)
}

// workdir is where a conversation runs: where it ran before when it goes on and
// the folder is still there, else the configured folder.
func (s Settings) workdir(before string) (string, error) {
	if before != "" && isFolder(before) {
		return before, nil
	}
	dir, err := filepath.Abs(s.Workdir)
	if err != nil {
		return "", fmt.Errorf("find the folder of the session: %w", err)
	}
	if !isFolder(dir) {
		return "", fmt.Errorf("the folder of the session, %s, is not there: make it, or change routing.spawnWorkdir", dir)
	}
	return dir, nil
}

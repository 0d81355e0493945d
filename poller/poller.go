package poller

import (
	"context"
	"time"

	"theloop/policy"
	"theloop/workitem"
)

// Settings is what a cycle takes from the configuration; it is read anew before
// each one (R1).
type Settings struct {
	Policy      policy.Policy
	MaxSessions int
	// FullResync is how often an unchanged item is read all the same.
	FullResync time.Duration
	// TooLong says whether a text is longer than what is sent whole (A5).
	TooLong func(body string) bool
}

// Options are the parts a Poller is made of. All are required but
// Requests and Failpoint.
type Options struct {
	Ledger   Ledger
	Sources  []Source
	Sessions Sessions
	Queue    Queue
	Settings func() Settings
	Emit     Emit
	Now      func() time.Time
	// Run names this process, Version the release, Host the machine.
	Run, Version, Host string
	// Requests counts what the sources were asked so far; nil counts nothing.
	Requests func() int
	// Failpoint is called at decided and committed; a test kills the process
	// there.
	Failpoint func(name string)
}

// Poller runs cycles. It is for one goroutine.
type Poller struct {
	Options
	// room is how many more sessions may come up in this cycle.
	room    int
	crowded bool
	// occupied holds the items whose session's name is somebody else's, so that
	// this is said once.
	occupied map[string]bool
	// noticed holds, by item, the notices that were tried in this run (B3).
	noticed map[string]map[string]bool
	// moved and forks hold what was said once of sources and of pull requests.
	moved map[workitem.MovedError]bool
	forks map[string]bool
	// invalid holds the rows of the ledger that do not decode and were told of.
	invalid map[string]bool
}

// New returns a Poller that has not run a cycle.
func New(o Options) *Poller {
	if o.Requests == nil {
		o.Requests = func() int { return 0 }
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	return &Poller{
		Options: o, occupied: map[string]bool{}, noticed: map[string]map[string]bool{},
		invalid: map[string]bool{}, moved: map[workitem.MovedError]bool{}, forks: map[string]bool{},
	}
}

// Report is what a cycle did, for the heartbeat, the log and `poll kick`.
type Report struct {
	At                time.Time
	Duration          time.Duration
	ItemsSeen         int
	Spawns            int
	CommentsForwarded int
	Closures          int
	Failures          int
	// Errors holds one line for each source or item that could not be dealt with.
	Errors      []string
	Interrupted bool
	// Commits counts the transactions of the decisions, Requests what trackers were
	// asked meanwhile, by posts as well.
	Commits, Requests int
	// Waiting holds one line for each source that was left alone because it had
	// asked for that (P7).
	Waiting []string
	// Until is when the last of the trackers that limit us may be asked again; zero
	// when none does (P7).
	Until time.Time

	limits []string // that were told of
}

// unfinished is the set of items that a cycle decides whether they changed or
// not (P1).
type unfinished map[string]workitem.Ref

func (p *Poller) unfinished(ctx context.Context, r *Report) (unfinished, error) {
	refs, err := p.Ledger.Unfinished(ctx)
	if err != nil && !p.rowsFailed(err, r) {
		return nil, err
	}
	open := make(unfinished, len(refs))
	for _, ref := range refs {
		open[ref.Key()] = ref
	}
	return open, nil
}

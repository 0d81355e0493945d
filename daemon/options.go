package daemon

import (
	"io"
	"log/slog"
	"time"
)

// LockName is what the poller writes into its pidfile's second line (L4).
const LockName = "poll start"

// OutputName is where the output of a poller in the background goes, below the
// state root.
const OutputName = "logs/poller.out"

// drain is how long a stop waits for jobs that run (C4).
const drain = 10 * time.Second

// ledgerPatience is how long a start waits for a command that reads the ledger.
const ledgerPatience = 5 * time.Second

// retryHeld is how long a start in the background waits for a lock that is being
// let go, as one in the foreground does (L8).
const retryHeld = 200 * time.Millisecond

// Options are what a poller is started with.
type Options struct {
	// Config is the configuration file.
	Config string
	// Once runs one cycle, works its queues empty and ends (C7).
	Once bool
	// Interval and MaxRetries win over the file when they are not zero.
	Interval   time.Duration
	MaxRetries int
	// BesideWebhook starts although the webhook receiver of an earlier release
	// holds its own lock on the state root (L12).
	BesideWebhook bool
	// Fresh starts on an empty ledger although there are records of earlier
	// releases, or signs of a ledger that is gone.
	Fresh   bool
	Earlier Earlier
	// Detached says that the poller was started in the background, Logfile where
	// its output goes then; empty is OutputName.
	Detached bool
	Logfile  string
	// Ready is called once, when the poller has the lock, answers on its socket and
	// is about to run its first cycle; nil is fine.
	Ready   func()
	Version string
	// Exe is this program's file: panes run it to become their harness (D8).
	Exe       string
	Cwd, Home string
	Env       func(string) string
	Log       *slog.Logger
	// Out gets one line a cycle that did something.
	Out io.Writer
	Now func() time.Time
	// Drain is how long a stop waits for jobs that run; zero is 10 s (C4).
	Drain time.Duration
	// Failpoint is called where a crash matters; nil is off.
	Failpoint func(name string)
}

func (o Options) withDefaults() Options {
	if o.Drain <= 0 {
		o.Drain = drain
	}
	return o
}

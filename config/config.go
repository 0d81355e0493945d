package config

import "time"

// Config is what one configuration file says, defaults filled in. It is data:
// copy it, compare it, never write into its slices and maps.
type Config struct {
	File   string // as given to Load or Parse
	Digest string // SHA-256 of the content, in hex

	State     State
	Polling   Polling
	Routing   Routing
	GitHubAPI GitHubAPI
	EventLog  EventLog
	Metrics   Metrics
}

// State says where everything generated lives.
type State struct {
	Root string // relative to the working directory, as given
}

// Polling says what is watched and how often.
type Polling struct {
	Interval    time.Duration // between the starts of two cycles
	MaxRetries  int           // delivery attempts per event
	FullResync  time.Duration // even unchanged items are read in full this often
	Sources     []Source
	SourcesLine int // where the value of polling.sources stands; 0: nowhere
}

// The providers a source can have.
const (
	ProviderGitHub = "github"
	ProviderInbox  = "inbox"
)

// Source is one entry of polling.sources.
type Source struct {
	Provider string // ProviderGitHub or ProviderInbox
	Line     int    // where the entry begins
	Label    string // its own, or routing.autoExecuteLabel

	// GitHub only.
	Repos   []RepoSpec
	Monitor Monitor
	Host    string // lower case, as it stands in refs; github.com when not given
	BaseURL string // of the REST API, no slash at the end; never empty for GitHub

	// Inbox only.
	Path string // as given
	Name string // OWNER/REPO, as it stands in refs
}

// RepoSpec names one repository; its parts match the grammar of A5.
type RepoSpec struct {
	Owner string
	Name  string
	Line  int
}

// String is OWNER/NAME.
func (r RepoSpec) String() string { return r.Owner + "/" + r.Name }

// Monitor says which kinds of items a source watches.
type Monitor struct {
	Issues       bool
	PullRequests bool
}

// GitHubAPI is integrations.github.api.
type GitHubAPI struct {
	TokenEnv []string // names of environment variables, first set one wins
	BaseURL  string   // for github.com, no slash at the end
}

// EventLog says where the decision trail goes.
type EventLog struct {
	Enabled  bool
	Path     string // as given, or <root>/logs/events.jsonl
	MaxBytes int64  // a file is rotated at this size
	Keep     int    // rotated files kept
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	Listen string // HOST:PORT; empty: off
}

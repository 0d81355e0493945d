package config

import "time"

// Routing says whom to obey and how sessions are run.
type Routing struct {
	AuthorizedUsers  []string // as spelled; compared without case (A1)
	AutoExecuteLabel string   // of sources that name none
	SpawnOnUnmatched string   // "never", "labeled" or "always"
	MaxSessions      int      // live at once (D1)
	Context          Context
	Interaction      Interaction
	HarnessTrust     HarnessTrust
	Control          Control

	DefaultHarness string              // a name under Harnesses or a built-in
	HarnessArgs    map[string][]string // extra arguments by harness name
	Harnesses      map[string]Harness

	SpawnWorkdir        string // as given
	Workspace           Workspace
	PromptTemplate      string // file, as given; empty: the built-in one
	SpawnPromptTemplate string // file, as given; empty: the built-in one

	MaxConcurrentDispatches int
	DispatchTimeout         time.Duration // of one delivery or spawn

	Tmux        Tmux
	WebTerminal WebTerminal
	Announce    Announce
	Reactions   Reactions
}

// Context says what other people's texts are to a first prompt (D10).
type Context struct {
	Others string // "withhold" or "quote"
}

// Interaction says where a session asks its questions.
type Interaction struct {
	Mode string // "work-item" or "cli"
}

// HarnessTrust is about the harness's own trust dialog (D11).
type HarnessTrust struct {
	Enabled                 bool
	Scope                   string // "workspace-root" or "directory"
	AcceptBypassPermissions string // "auto", "always" or "never"
}

// Control is about the words people steer sessions with (X3, X4).
type Control struct {
	Enabled             bool
	RequireStartCommand bool // false whenever Enabled is: nobody could give the command
	Keywords            Keywords
}

// Keywords are the words of each command, parted by single spaces; an empty
// one turns its command off.
type Keywords struct {
	Start, Do, Contribute, Stop, Pause, Resume, Cleanup string
}

// Harness is a coding agent's command line. No shell reads it. Arguments may
// hold {{prompt}}, {{sessionId}} and {{workItem}}; the program may not.
type Harness struct {
	Command []string // at least the program
	Resume  []string // empty: cannot resume
}

// Workspace is about the checkout a session works in.
type Workspace struct {
	Root                string // as given; empty: no workspaces
	Strategy            string // "worktree" or "clone"
	CloneProtocol       string // "https" or "ssh"
	KeepCheckoutOnClose bool
}

// Tmux is about hosting sessions.
type Tmux struct {
	SocketName         string   // of `tmux -L`; empty: the default server
	PassEnv            []string // variables that sessions see besides the allow-list (D8)
	Ready              time.Duration
	KeepSessionOnClose bool
	RemainOnExit       bool
	ResumeOnRespawn    bool
	ResumeProbe        time.Duration // may be 0
	KillHarnessOnClose bool
	HarnessKillGrace   time.Duration // may be 0
}

// WebTerminal is ttyd onto the sessions (R3).
type WebTerminal struct {
	Enabled  bool
	Host     string
	Port     int
	Writable bool
}

// Announce is the comment that says that a session runs (D12).
type Announce struct {
	Enabled bool
}

// Reactions are what comments are answered with (D12), in GitHub's names.
type Reactions struct {
	Enabled                   bool
	Started, Completed, Error string
}

package daemon

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"theloop/config"
	"theloop/policy"
	"theloop/poller"
	"theloop/session"
	"theloop/workitem"
)

// settings are what the parts read anew: a configuration turned into each
// part's own words.
type settings struct {
	poller  poller.Settings
	session session.Settings
	// dispatchTimeout bounds one job of a session's queue (D12).
	dispatchTimeout time.Duration
	// logBytes is when the event log is rotated, logKeep how many older files stay.
	logBytes int64
	logKeep  int
}

func settingsOf(o Options, cfg config.Config) (*settings, error) {
	retries := cfg.Polling.MaxRetries
	if o.MaxRetries > 0 {
		retries = o.MaxRetries
	}
	workdir, err := config.Resolve(cfg.Routing.SpawnWorkdir, o.Env, o.Cwd, o.Home)
	if err != nil {
		return nil, err
	}
	s := &settings{
		poller: poller.Settings{
			Policy: policyOf(cfg.Routing, retries), MaxSessions: cfg.Routing.MaxSessions, FullResync: cfg.Polling.FullResync,
			TooLong: session.TooLong,
		},
		session:         sessionOf(cfg.Routing, workdir, retries),
		dispatchTimeout: cfg.Routing.DispatchTimeout,
		logBytes:        cfg.EventLog.MaxBytes, logKeep: cfg.EventLog.Keep,
	}
	if s.session.Trust, err = trustOf(cfg.Routing, o); err != nil {
		return nil, err
	}
	for file, into := range map[string]*string{
		cfg.Routing.PromptTemplate:      &s.session.PromptTemplate,
		cfg.Routing.SpawnPromptTemplate: &s.session.SpawnPromptTemplate,
	} {
		if file == "" {
			continue
		}
		if *into, err = config.Resolve(file, o.Env, o.Cwd, o.Home); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Obeys says of an account whether a configuration lists it (A1).
func Obeys(cfg config.Config) func(account string) bool {
	p := policyOf(cfg.Routing, 0)
	return func(account string) bool { return p.Authorized(workitem.Author{Login: account}) }
}

func policyOf(r config.Routing, retries int) policy.Policy {
	k := r.Control.Keywords
	return policy.New(policy.Options{
		AuthorizedUsers: r.AuthorizedUsers, ControlEnabled: r.Control.Enabled, RequireStart: r.Control.RequireStartCommand,
		Keywords: map[policy.Command]string{
			policy.Start: k.Start, policy.Do: k.Do, policy.Contribute: k.Contribute, policy.Stop: k.Stop,
			policy.Pause: k.Pause, policy.Resume: k.Resume, policy.Cleanup: k.Cleanup,
		},
		SpawnOnUnmatched: policy.Spawn(r.SpawnOnUnmatched), MaxRetries: retries,
	})
}

func sessionOf(r config.Routing, workdir string, retries int) session.Settings {
	harnesses := make(map[string]session.Harness, len(r.Harnesses))
	for name, h := range r.Harnesses {
		harnesses[name] = session.Harness{Name: name, Command: h.Command, Resume: h.Resume}
	}
	return session.Settings{
		Harness: r.DefaultHarness, Harnesses: harnesses, HarnessArgs: r.HarnessArgs, Workdir: workdir,
		Interaction: r.Interaction.Mode, QuoteOthers: r.Context.Others == "quote",
		ReadyWait: r.Tmux.Ready, ResumeProbe: r.Tmux.ResumeProbe, ResumeOnRespawn: r.Tmux.ResumeOnRespawn,
		RemainOnExit: r.Tmux.RemainOnExit, KeepSessionOnClose: r.Tmux.KeepSessionOnClose,
		KillHarnessOnClose: r.Tmux.KillHarnessOnClose, KillGrace: r.Tmux.HarnessKillGrace, MaxRetries: retries,
		Announce: r.Announce.Enabled, Reactions: reactionsOf(r.Reactions),
	}
}

func reactionsOf(r config.Reactions) session.Reactions {
	if !r.Enabled {
		return session.Reactions{}
	}
	return session.Reactions{Started: r.Started, Completed: r.Completed, Error: r.Error}
}

// claudeDir is where Claude keeps its files when it is not the home folder.
const claudeDir = "CLAUDE_CONFIG_DIR"

// trustOf finds the file that Claude keeps its trusted folders in: the one that
// a session's Claude will read, which sees only what sessions see (D8, D11).
func trustOf(r config.Routing, o Options) (t session.Trust, err error) {
	if !r.HarnessTrust.Enabled || o.Home == "" {
		return t, nil
	}
	dir := o.Home
	if own := o.Env(claudeDir); own != "" && slices.Contains(r.Tmux.PassEnv, claudeDir) {
		dir = own
	}
	t = session.Trust{File: filepath.Join(dir, ".claude.json"), Bypass: r.HarnessTrust.AcceptBypassPermissions}
	if r.HarnessTrust.Scope == "workspace-root" && r.Workspace.Root != "" {
		t.Root, err = config.Resolve(r.Workspace.Root, o.Env, o.Cwd, o.Home)
	}
	return t, err
}

// oddities are settings that do less than they seem to.
func oddities(cfg config.Config, o Options) (said []string) {
	r := cfg.Routing
	if r.Workspace.Root != "" {
		said = append(said, fmt.Sprintf("routing.workspace.root is set, and this release makes no checkouts: sessions start in routing.spawnWorkdir (%s)", r.SpawnWorkdir))
	}
	if o.Env(claudeDir) != "" && !slices.Contains(r.Tmux.PassEnv, claudeDir) && r.DefaultHarness == "claude" {
		said = append(said, claudeDir+" is set here and sessions do not see it; name it in routing.tmux.passEnv if their Claude is to use it")
	}
	return said
}

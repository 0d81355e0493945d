package config

import "time"

const loginRules = "a login as the tracker spells it, without @; there are no wildcards"

func routingRows() []key[Config] {
	rows := []key[Config]{
		field("routing.authorizedUsers", list(matching(loginRules, loginGrammar)), nil,
			"logins whose words are obeyed, compared without case; empty: nobody",
			func(c *Config) *[]string { return &c.Routing.AuthorizedUsers }),
		field("routing.autoExecuteLabel", labelKind(), defaultLabel,
			"the label of sources that name none",
			func(c *Config) *string { return &c.Routing.AutoExecuteLabel }),
		field("routing.spawnOnUnmatched", oneOf("never", "labeled", "always"), "labeled",
			"which items may get a session: none (not even by a start), those that carry the label now, all",
			func(c *Config) *string { return &c.Routing.SpawnOnUnmatched }),
		field("routing.maxSessions", integer(1, 1000), 8,
			"live sessions at once; more wait",
			func(c *Config) *int { return &c.Routing.MaxSessions }),
		field("routing.context.others", oneOf("withhold", "quote"), "withhold",
			"quote puts other people's texts into the first prompt, marked",
			func(c *Config) *string { return &c.Routing.Context.Others }),
		field("routing.interaction.mode", oneOf("work-item", "cli"), "work-item",
			"where a session asks its questions; cli: in the terminal",
			func(c *Config) *string { return &c.Routing.Interaction.Mode }),
		field("routing.harnessTrust.enabled", boolean(), true,
			"mark the folder of a session trusted, or its first prompt meets a dialog",
			func(c *Config) *bool { return &c.Routing.HarnessTrust.Enabled }),
		field("routing.harnessTrust.scope", oneOf("workspace-root", "directory"), "workspace-root",
			"trust all workspaces, or the session's folder alone",
			func(c *Config) *string { return &c.Routing.HarnessTrust.Scope }),
		field("routing.harnessTrust.acceptBypassPermissions", oneOf("auto", "always", "never"), "auto",
			"accept the bypass notice; auto: only when harnessArgs ask for bypass mode",
			func(c *Config) *string { return &c.Routing.HarnessTrust.AcceptBypassPermissions }),
	}
	rows = append(rows, controlRows()...)
	rows = append(rows, sessionRows()...)
	rows = append(rows, tmuxRows()...)
	return append(rows, outsideRows()...)
}

func controlRows() []key[Config] {
	keyword := func(verb, doc string, at func(*Keywords) *string) key[Config] {
		return field("routing.control.keywords."+verb, keywordKind(), "the-loop "+verb, doc,
			func(c *Config) *string { return at(&c.Routing.Control.Keywords) })
	}
	return []key[Config]{
		field("routing.control.enabled", boolean(), true,
			"obey keywords in comments",
			func(c *Config) *bool { return &c.Routing.Control.Enabled }),
		field("routing.control.requireStartCommand", boolean(), true,
			"a label alone does not start a session",
			func(c *Config) *bool { return &c.Routing.Control.RequireStartCommand }),
		keyword("start", "begin", func(k *Keywords) *string { return &k.Start }),
		keyword("do", "acts as start", func(k *Keywords) *string { return &k.Do }),
		keyword("contribute", "acts as start", func(k *Keywords) *string { return &k.Contribute }),
		keyword("stop", "end the session", func(k *Keywords) *string { return &k.Stop }),
		keyword("pause", "let it run, forward nothing", func(k *Keywords) *string { return &k.Pause }),
		keyword("resume", "forward again", func(k *Keywords) *string { return &k.Resume }),
		keyword("cleanup", "stop, and remove what was kept of it", func(k *Keywords) *string { return &k.Cleanup }),
	}
}

func sessionRows() []key[Config] {
	return []key[Config]{
		field("routing.defaultHarness", matching(nameRules, wordGrammar), "claude",
			"a name under routing.harnesses, or a built-in: claude, cursor",
			func(c *Config) *string { return &c.Routing.DefaultHarness }),
		field("routing.harnessArgs.<name>", named(matching(nameRules, wordGrammar), list(argumentKind())), nil,
			"extra arguments of that harness",
			func(c *Config) *map[string][]string { return &c.Routing.HarnessArgs }),
		field(harnessesPath+".<name>", named(matching(nameRules, wordGrammar), harnessKind()), nil,
			"a coding agent's command line",
			func(c *Config) *map[string]Harness { return &c.Routing.Harnesses }),
		field("routing.spawnWorkdir", pathKind(), ".",
			"where a session starts when there is no workspace",
			func(c *Config) *string { return &c.Routing.SpawnWorkdir }),
		field("routing.workspace.root", pathKind(), "",
			"where checkouts of work items go; empty: none are made",
			func(c *Config) *string { return &c.Routing.Workspace.Root }),
		field("routing.workspace.strategy", oneOf("worktree", "clone"), "worktree",
			"what a checkout is",
			func(c *Config) *string { return &c.Routing.Workspace.Strategy }),
		field("routing.workspace.cloneProtocol", oneOf("https", "ssh"), "https",
			"how repositories are cloned",
			func(c *Config) *string { return &c.Routing.Workspace.CloneProtocol }),
		field("routing.workspace.keepCheckoutOnClose", boolean(), false,
			"leave the checkout when the session ends",
			func(c *Config) *bool { return &c.Routing.Workspace.KeepCheckoutOnClose }),
		field("routing.promptTemplate", pathKind(), "",
			"a file for what later prompts say; empty or missing: built in",
			func(c *Config) *string { return &c.Routing.PromptTemplate }),
		field("routing.spawnPromptTemplate", pathKind(), "",
			"a file for what the first prompt says; empty or missing: built in",
			func(c *Config) *string { return &c.Routing.SpawnPromptTemplate }),
		restart(field("routing.maxConcurrentDispatches", integer(1, 256), 4,
			"deliveries and spawns at once",
			func(c *Config) *int { return &c.Routing.MaxConcurrentDispatches })),
		field("routing.dispatchTimeoutSeconds", seconds(), 30*time.Minute,
			"one delivery or spawn",
			func(c *Config) *time.Duration { return &c.Routing.DispatchTimeout }),
	}
}

func tmuxRows() []key[Config] {
	return []key[Config]{
		restart(field("routing.tmux.socketName", matching("a file name: letters, digits, . _ -, at most 64, not first . or -", socketGrammar), "",
			"the tmux server (tmux -L); empty: the default one",
			func(c *Config) *string { return &c.Routing.Tmux.SocketName })),
		restart(field("routing.tmux.passEnv", list(envKind()), nil,
			"variables that sessions see besides the few everybody needs",
			func(c *Config) *[]string { return &c.Routing.Tmux.PassEnv })),
		field("routing.tmux.readySeconds", seconds(), 10*time.Second,
			"how long the first paste waits for the harness to read",
			func(c *Config) *time.Duration { return &c.Routing.Tmux.Ready }),
		field("routing.tmux.keepSessionOnClose", boolean(), true,
			"leave the terminal readable when a session ends",
			func(c *Config) *bool { return &c.Routing.Tmux.KeepSessionOnClose }),
		field("routing.tmux.remainOnExit", boolean(), true,
			"leave the terminal readable when the harness ends by itself",
			func(c *Config) *bool { return &c.Routing.Tmux.RemainOnExit }),
		field("routing.tmux.resumeOnRespawn", boolean(), true,
			"a session that is started again goes on with its conversation",
			func(c *Config) *bool { return &c.Routing.Tmux.ResumeOnRespawn }),
		field("routing.tmux.resumeProbeSeconds", secondsOrNone(), 2*time.Second,
			"a harness alive this long after its start has started",
			func(c *Config) *time.Duration { return &c.Routing.Tmux.ResumeProbe }),
		field("routing.tmux.killHarnessOnClose", boolean(), true,
			"end the harness when its session ends",
			func(c *Config) *bool { return &c.Routing.Tmux.KillHarnessOnClose }),
		field("routing.tmux.harnessKillGraceSeconds", secondsOrNone(), 5*time.Second,
			"between asking it to end and making it",
			func(c *Config) *time.Duration { return &c.Routing.Tmux.HarnessKillGrace }),
	}
}

// outsideRows are about what other people see.
func outsideRows() []key[Config] {
	reaction := func(when, word string, at func(*Reactions) *string) key[Config] {
		return field("routing.reactions."+when, oneOf("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"), word,
			"the reaction of a comment when its delivery has got there",
			func(c *Config) *string { return at(&c.Routing.Reactions) })
	}
	return []key[Config]{
		restart(field("routing.webTerminal.enabled", boolean(), false,
			"ttyd onto the sessions",
			func(c *Config) *bool { return &c.Routing.WebTerminal.Enabled })),
		restart(field("routing.webTerminal.host", bindKind(), "127.0.0.1",
			"the address it listens on",
			func(c *Config) *string { return &c.Routing.WebTerminal.Host })),
		restart(field("routing.webTerminal.port", integer(1, 65535), 7681,
			"and the port",
			func(c *Config) *int { return &c.Routing.WebTerminal.Port })),
		restart(field("routing.webTerminal.writable", boolean(), false,
			"let those who look type as well",
			func(c *Config) *bool { return &c.Routing.WebTerminal.Writable })),
		field("routing.announce.enabled", boolean(), true,
			"say on the work item that a session runs",
			func(c *Config) *bool { return &c.Routing.Announce.Enabled }),
		field("routing.reactions.enabled", boolean(), true,
			"answer comments with reactions",
			func(c *Config) *bool { return &c.Routing.Reactions.Enabled }),
		reaction("started", "eyes", func(r *Reactions) *string { return &r.Started }),
		reaction("completed", "hooray", func(r *Reactions) *string { return &r.Completed }),
		reaction("error", "confused", func(r *Reactions) *string { return &r.Error }),
	}
}

package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wrong is files with the whole of what is said about them.
var wrong = []struct {
	name, file, want string
}{
	{"repositories that are options, paths, commands (A5)", `polling:
  sources:
    - provider: github
      repos:
        - --upload-pack=/bin/sh
        - octo/--upload-pack=x/y
        - ../x
        - octo/..
        - $(x)
        - octo
        - -octo/repo
        - octo/re po
        - 7
        - https://github.com/octo/repo
`, `f:5:11: polling.sources[0].repos[0]: found text "--upload-pack=/bin/sh" (allowed: REPO)
f:6:11: polling.sources[0].repos[1]: found text "octo/--upload-pack=x/y" (allowed: REPO)
f:7:11: polling.sources[0].repos[2]: found text "../x" (allowed: REPO)
f:8:11: polling.sources[0].repos[3]: found text "octo/.." (allowed: REPO)
f:9:11: polling.sources[0].repos[4]: found text "$(x)" (allowed: REPO)
f:10:11: polling.sources[0].repos[5]: found text "octo" (allowed: REPO)
f:11:11: polling.sources[0].repos[6]: found text "-octo/repo" (allowed: REPO)
f:12:11: polling.sources[0].repos[7]: found text "octo/re po" (allowed: REPO)
f:13:11: polling.sources[0].repos[8]: found the number 7: put it in quotes (allowed: REPO)
f:14:11: polling.sources[0].repos[9]: found text "https://github.com/octo/repo" (allowed: REPO)`},
	{"one repository twice, in any case, on the same host only", `polling:
  sources:
    - provider: github
      repos: [octo/repo, octo/other, Octo/Repo]
    - provider: github
      host: ghe.corp.example
      repos: [octo/repo]
    - provider: github
      repos:
        - "octo/OTHER"
`, `f:4:38: polling.sources[0].repos[2]: found "Octo/Repo": is named a second time; first on line 4, polling.sources[0].repos[0]: keep one
f:10:11: polling.sources[2].repos[0]: found "octo/OTHER": is named a second time; first on line 4, polling.sources[0].repos[1]: keep one`},
	{"one inbox twice", `polling:
  sources:
    - {provider: inbox, path: inbox}
    - {provider: inbox, path: ./inbox/, name: Local/Demo}
    - {provider: inbox, path: Inbox, name: a/b}
`, `f:4:31: polling.sources[1].path: found "./inbox/": is named a second time; first on line 3, polling.sources[0].path: keep one
f:4:47: polling.sources[1].name: found "Local/Demo": is named a second time; first on line 3, polling.sources[0]: keep one`},
	{"sources that lack something", `polling:
  sources:
    - repos: [octo/repo]
    - provider: github
    - provider: github
      repos: []
    - provider: inbox
    - provider: jira
    - octo/repo
    -
    - provider: github
      repos: octo/repo2
`, `f:3:7: polling.sources[0]: provider is missing (allowed: github, inbox)
f:4:7: polling.sources[1]: repos is missing (allowed: a list of REPO)
f:6:14: polling.sources[2].repos: names no repository (allowed: a list of REPO)
f:7:7: polling.sources[3]: path is missing (allowed: the folder that holds the work items)
f:8:17: polling.sources[4].provider: found text "jira" (allowed: github, inbox)
f:9:7: polling.sources[5]: found text "octo/repo" (allowed: a mapping that begins with provider: github or provider: inbox)
f:10:6: polling.sources[6]: found nothing: fill the list entry or remove it
f:12:14: polling.sources[7].repos: found text "octo/repo2" (allowed: a list; each entry: REPO)`},
	{"hosts and addresses (P9)", `polling:
  sources:
    - {provider: github, repos: [a/a], host: "https://ghe.corp"}
    - {provider: github, repos: [a/b], host: "ghe.corp:8443"}
    - {provider: github, repos: [a/c], host: -ghe}
    - {provider: github, repos: [a/d], host: api.github.com}
    - {provider: github, repos: [a/e], baseUrl: "http://ghe.corp/api/v3"}
    - {provider: github, repos: [a/f], baseUrl: "http://127.0.0.1.evil.example"}
    - {provider: github, repos: [a/g], baseUrl: "https://me:hunter2@ghe.corp"}
    - {provider: github, repos: [a/h], baseUrl: "https://ghe.corp/../x"}
    - {provider: github, repos: [a/i], baseUrl: "https://ghe.corp:0"}
    - {provider: github, repos: [a/j], baseUrl: "file:///etc/passwd"}
    - {provider: github, repos: [a/k], baseUrl: "https://ghe.corp?x"}
`, `f:3:46: polling.sources[0].host: found text "https://ghe.corp" (allowed: HOST)
f:4:46: polling.sources[1].host: found text "ghe.corp:8443" (allowed: HOST)
f:5:46: polling.sources[2].host: found text "-ghe" (allowed: HOST)
f:6:46: polling.sources[3].host: found text "api.github.com": that is github.com, which needs no host
f:7:49: polling.sources[4].baseUrl: found text "http://ghe.corp/api/v3" (allowed: URL)
f:8:49: polling.sources[5].baseUrl: found text "http://127.0.0.1.evil.example" (allowed: URL)
f:9:49: polling.sources[6].baseUrl: found text "https://(hidden)@ghe.corp" (allowed: URL)
f:10:49: polling.sources[7].baseUrl: found text "https://ghe.corp/../x" (allowed: URL)
f:11:49: polling.sources[8].baseUrl: found text "https://ghe.corp:0" (allowed: URL)
f:12:49: polling.sources[9].baseUrl: found text "file:///etc/passwd" (allowed: URL)
f:13:49: polling.sources[10].baseUrl: found text "https://ghe.corp?x" (allowed: URL)`},
	{"types and bounds", `polling:
  intervalSeconds: 60s
  maxRetries: 0
  fullResyncSeconds: -1
routing:
  maxSessions: 1.5
  maxConcurrentDispatches: 0x10
  dispatchTimeoutSeconds: .inf
  announce: true
  control: {enabled: yes}
  spawnOnUnmatched: sometimes
  webTerminal: {port: 65536, host: "a b"}
  tmux: {socketName: ../x, resumeProbeSeconds: 0, readySeconds: 0}
  reactions: {started: +1, completed: -1, error: "wow"}
  autoExecuteLabel: "a,b"
metrics: {listen: "localhost"}
eventLog: [a]
`, `f:2:20: polling.intervalSeconds: found text "60s" (allowed: a number of seconds above 0, at most 2592000)
f:3:15: polling.maxRetries: found the number 0 (allowed: a whole number, 1 to 1000)
f:4:22: polling.fullResyncSeconds: found the number -1 (allowed: a number of seconds above 0, at most 2592000)
f:6:16: routing.maxSessions: found the number 1.5 (allowed: a whole number, 1 to 1000)
f:7:28: routing.maxConcurrentDispatches: found the number 0x10 (allowed: a whole number, 1 to 256)
f:8:27: routing.dispatchTimeoutSeconds: found the number .inf (allowed: a number of seconds above 0, at most 2592000)
f:9:13: routing.announce: found the boolean true (allowed: a mapping of keys)
f:10:22: routing.control.enabled: found text "yes" (allowed: true, false)
f:11:21: routing.spawnOnUnmatched: found text "sometimes" (allowed: never, labeled, always)
f:12:23: routing.webTerminal.port: found the number 65536 (allowed: a whole number, 1 to 65535)
f:12:36: routing.webTerminal.host: found text "a b" (allowed: a host name or an IP address)
f:13:22: routing.tmux.socketName: found text "../x" (allowed: a file name: letters, digits, . _ -, at most 64, not first . or -)
f:13:65: routing.tmux.readySeconds: found the number 0 (allowed: a number of seconds above 0, at most 2592000)
f:14:50: routing.reactions.error: found text "wow" (allowed: +1, -1, laugh, confused, heart, hooray, rocket, eyes)
f:15:21: routing.autoExecuteLabel: found text "a,b" (allowed: a label: one line of 1 to 50 characters, no comma, no space around it)
f:16:19: metrics.listen: found text "localhost" (allowed: HOST:PORT, or a port alone for 127.0.0.1, or off)
f:17:11: eventLog: found a list (allowed: a mapping of keys)`},
	{"people (A1)", `routing:
  authorizedUsers: ["@octocat", "*", "", 42, null, "dependabot[bot]", octo_corp]
`, `f:2:21: routing.authorizedUsers[0]: found text "@octocat" (allowed: a login as the tracker spells it, without @; there are no wildcards)
f:2:33: routing.authorizedUsers[1]: found text "*" (allowed: a login as the tracker spells it, without @; there are no wildcards)
f:2:38: routing.authorizedUsers[2]: found text "" (allowed: a login as the tracker spells it, without @; there are no wildcards)
f:2:42: routing.authorizedUsers[3]: found the number 42: put it in quotes (allowed: a login as the tracker spells it, without @; there are no wildcards)
f:2:46: routing.authorizedUsers[4]: found nothing: fill the list entry or remove it`},
	{"keywords that are two commands (X3)", `routing:
  control:
    keywords: {start: Go  now, pause: "go now", stop: "the-loop resume", do: "", cleanup: "a\nb"}
`, `f:3:39: routing.control.keywords.pause: found text "go now": is the keyword of start as well: neither would be obeyed
f:3:55: routing.control.keywords.stop: found text "the-loop resume": is the keyword of resume as well: neither would be obeyed
f:3:91: routing.control.keywords.cleanup: found text "a\nb" (allowed: words on one line, at most 100 characters, or '' to turn the command off)`},
	{"harnesses", `routing:
  defaultHarness: mime
  harnesses:
    mine: {command: [mine, "{{prompt}}", "{{ prompt }}", "{{title}}"]}
    none: {resume: [x]}
    empty: {command: []}
    late: {command: ["{{workItem}}"]}
    -x: {command: [x]}
    shell: mine --go
`, `f:2:19: routing.defaultHarness: found text "mime" (allowed: claude, cursor, empty, late, mine, none)
f:4:42: routing.harnesses.mine.command[2]: found text "{{ prompt }}" (allowed: text; placeholders: {{prompt}}, {{sessionId}}, {{workItem}})
f:4:58: routing.harnesses.mine.command[3]: found text "{{title}}" (allowed: text; placeholders: {{prompt}}, {{sessionId}}, {{workItem}})
f:5:5: routing.harnesses.none: command is missing (allowed: command: [PROGRAM, ARGUMENT…])
f:6:5: routing.harnesses.empty: command is missing (allowed: command: [PROGRAM, ARGUMENT…])
f:7:22: routing.harnesses.late.command[0]: found text "{{workItem}}" (allowed: the program to run, without placeholders)
f:8:5: routing.harnesses.-x: found text "-x" (allowed: a name: a letter, then letters, digits, - or _, at most 32)
f:9:12: routing.harnesses.shell: found text "mine --go" (allowed: a mapping with command and, if it can, resume)`},
	{"numbers that read differently elsewhere", `polling: {maxRetries: 010}
routing: {maxSessions: 1_0, maxConcurrentDispatches: +4}
`, `f:1:23: polling.maxRetries: found the number 010 (allowed: a whole number, 1 to 1000)
f:2:24: routing.maxSessions: found the number 1_0 (allowed: a whole number, 1 to 1000)
f:2:54: routing.maxConcurrentDispatches: found the number +4 (allowed: a whole number, 1 to 256)`},
	{"shapes", `? polling
: maxRetries: x
state:
  root: |
    a
    b
routing:
  spawnWorkdir: >-
    fine
  harnesses: [a]
  harnessArgs: {*a : 1, claude: {}, 5: [], cursor: null}
  promptTemplate: 5
  reactions: {error: {}}
`, `f:2:15: polling.maxRetries: found text "x" (allowed: a whole number, 1 to 1000)
f:4:9: state.root: found text "a\nb\n" (allowed: a path on one line)
f:10:14: routing.harnesses: found a list (allowed: a mapping; each name: a name: a letter, then letters, digits, - or _, at most 32)
f:11:17: found an alias (*): write the value out where it is used
f:11:17: routing.harnessArgs: a key must be a word
f:11:33: routing.harnessArgs.claude: found a mapping (allowed: a list; each entry: text of at most 4096 bytes, without NUL)
f:11:37: routing.harnessArgs.5: found the number 5: put it in quotes (allowed: a name: a letter, then letters, digits, - or _, at most 32)
f:12:19: routing.promptTemplate: found the number 5: put it in quotes (allowed: a path on one line)
f:13:22: routing.reactions.error: found a mapping (allowed: +1, -1, laugh, confused, heart, hooray, rocket, eyes)`},
	{"keys that were moved", `webhooks:
  ghWebhook:
    enabled: true
    routing:
      enabled: true
polling:
  stateFile: .the-loop/poll-state.json
`, `f:4:5: webhooks.ghWebhook.routing: no longer read: move what is below it to the top-level key routing, then remove it here
f:7:3: polling.stateFile: no longer read: the ledger below state.root holds this now; bring the old records over with 'the-loop migrate import-json', then remove this line`},
	{"what hides what a file says", `a: &x 1
routing:
  autoExecuteLabel: !!str x
  maxSessions: &y 0
  tmux: *x
  <<: {announce: 5}
`, `f:1:4: found an anchor (&): write the value out where it is used
f:3:21: found a tag (!): write the value out where it is used
f:4:16: found an anchor (&): write the value out where it is used
f:4:19: routing.maxSessions: found the number 0 (allowed: a whole number, 1 to 1000)
f:5:9: found an alias (*): write the value out where it is used
f:6:3: found a merge key (<<): write the value out where it is used`},
	{"duplicates and nulls, also where nobody reads", `service:
  list: [1, ~]
  a: 1
  a: 2
polling: {maxRetries: 1, maxRetries: 2}
service: {}
`, `f:2:13: service.list[1]: found nothing: fill the list entry or remove it
f:4:3: service.a: stands here a second time; first on line 3: keep one
f:5:26: polling.maxRetries: stands here a second time; first on line 5: keep one
f:6:1: service: stands here a second time; first on line 1: keep one`},
	{"a second document", "a: 1\n---\nb: 2\n", "f:2:1: a second document begins here: keep one"},
	{"not a mapping", "- a\n", "f:1:1: found a list (allowed: a mapping of keys such as polling: and routing:)"},
	{"not YAML", "a: \"x\n", `f:1:4: not YAML: could not find end character of double-quoted text`},
	{"not text", "a: 1\nbé: \xff\n", "f:2:5: not UTF-8 text: save the file as UTF-8"},
	{"control characters", "a: x\x00\n", "f:1:5: found the control character U+0000: remove it"},
	{"values are echoed escaped and cut", "routing:\n  spawnOnUnmatched: \"\\e[31m\\u202e" + strings.Repeat("x", 300) + "\"\n",
		`f:2:21: routing.spawnOnUnmatched: found text "\x1b[31m\u202e` + strings.Repeat("x", 74) + `…" (allowed: never, labeled, always)`},
	{"tokens are never echoed", `integrations: {github: {api: {tokenEnv: [ghp_0123456789abcdef]}}}
ghp_0123456789abcdef: 1
`, `f:1:42: integrations.github.api.tokenEnv[0]: found text (hidden: it looks like a token) (allowed: the name of an environment variable, not its value)`},
}

func TestProblemsAreAllToldWithPlaceValueAndRemedy(t *testing.T) {
	long := strings.NewReplacer(repoRules, "REPO", hostRules, "HOST", urlRules, "URL")
	for _, c := range wrong {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := Parse("f", []byte(c.file))
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("error %v, want an InvalidError", err)
			}
			if diff := cmp.Diff(c.want, long.Replace(err.Error())); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(Config{}, got); diff != "" {
				t.Errorf("a broken file gave a configuration: %s", diff)
			}
			for _, p := range append(warnings, invalid.Problems...) {
				soundProblem(t, p)
				if strings.Contains(p.String(), "ghp_") || strings.Contains(p.String(), "hunter2") {
					t.Errorf("a secret is shown: %s", p)
				}
			}
		})
	}
}

func TestUnknownKeys(t *testing.T) {
	const file = `maxSessions: 3
state.root: x
routing:
  maxSesions: 3
  tmux: {soketName: x, zzz: 1}
  contorl: {}
  harnessArgs: {clod: []}
  "a\eb": 1
polling:
  sources:
    - {provider: github, repos: [o/r], lable: x, ghBinary: gh, path: x}
`
	const want = `f:1:1: maxSessions: nobody knows this key; did you mean routing.maxSessions?
f:2:1: "state.root": nobody knows this key; did you mean state.root with each part on a line of its own, indented?
f:4:3: routing.maxSesions: nobody knows this key; did you mean routing.maxSessions?
f:5:10: routing.tmux.soketName: nobody knows this key; did you mean routing.tmux.socketName?
f:5:24: routing.tmux.zzz: nobody knows this key
f:6:3: routing.contorl: nobody knows this key; did you mean routing.control?
f:7:17: routing.harnessArgs.clod: no harness has this name; there are: claude, cursor
f:8:3: routing."a\x1bb": nobody knows this key
f:11:40: polling.sources[0].lable: nobody knows this key; did you mean polling.sources[0].label?
f:11:70: polling.sources[0].path: means nothing to provider github: remove it`
	_, warnings, err := Parse("f", []byte(file))
	if err != nil {
		t.Fatalf("unknown keys stop the start: %v", err)
	}
	var lines []string
	for _, p := range warnings {
		if p.Kind == Unknown {
			lines = append(lines, p.String())
		}
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Error(diff)
	}
	path := write(t, file)
	checked, err := Check(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checked {
		if (p.Kind == Unknown || p.Kind == Missing) != (p.Level == LevelError) {
			t.Errorf("check: %s is a %s", p, p.Level)
		}
	}
}

func TestAdvice(t *testing.T) {
	const want = `f:1:32: polling.sources[0]: watches nothing: monitor turns both issues and pullRequests off
f:2:48: routing.tmux.passEnv[1]: hands the token in GH_TOKEN to every session
f:3:52: routing.webTerminal.writable: whoever reaches 0.0.0.0 can type into every session
f: routing.authorizedUsers: is empty: nobody is obeyed; list the logins whose comments count`
	_, warnings, err := Parse("f", []byte(`polling: {sources: [{provider: github, repos: [o/r], monitor: {issues: false, pullRequests: false}}]}
routing: {tmux: {passEnv: [ANTHROPIC_API_KEY, GH_TOKEN]},
  webTerminal: {enabled: true, host: 0.0.0.0, writable: true}}
`))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, p := range warnings {
		lines = append(lines, p.String())
	}
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(strings.Join(lines, "\n"), line[strings.Index(line, ": ")+2:]) {
			t.Errorf("no advice %q in\n%s", line, strings.Join(lines, "\n"))
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines of advice:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// A file that says nothing of what to watch is one that the poller does not start on: no
// for whoever checks it, and a warning for the commands that work without. Of an empty
// list, as the shipped file has it, only a warning says so.
func TestNothingToWatch(t *testing.T) {
	for content, want := range map[string]Kind{
		"": Missing, "# a comment\n": Missing, "---\n": Missing, "null\n": Missing, "routing: {authorizedUsers: [octocat]}\n": Missing,
		"polling:\n  maxRetries: 2\n": Missing, "polling:\n  sources:\n": Missing, "polling:\n  sources: []\n": Advice,
	} {
		_, warnings, err := Parse("f", []byte(content))
		if err != nil || len(warnings) == 0 || warnings[0].Kind != want || warnings[0].Level != LevelWarning {
			t.Errorf("%q at start: %v, %v", content, warnings, err)
		}
		found, err := Check(write(t, content))
		at := slices.IndexFunc(found, func(p Problem) bool { return p.Key == sourcesPath })
		if err != nil || at < 0 || (found[at].Level == LevelError) != (want == Missing) || !strings.Contains(found[at].Message, "nothing is watched") {
			t.Errorf("%q: %v, %v", content, found, err)
		}
	}
}

func TestAFileOfRubbishIsCutShort(t *testing.T) {
	_, warnings, err := Parse("f", []byte("polling:\n"+strings.Repeat("  maxRetries: x\n", 5000)))
	if err == nil || len(warnings) > maxProblems+1 {
		t.Fatalf("%v, %d warnings", err, len(warnings))
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || !strings.Contains(lines[maxProblems], "9899 more like these") {
		t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
}

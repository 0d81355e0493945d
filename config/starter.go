package config

// Starter is a commented file to begin with: what most people set, the rest
// named where it is documented. With inbox it watches a folder beside it and
// runs as it is; else a repository is still to be named.
func Starter(inbox bool) string {
	source := starterGitHub
	if inbox {
		source = starterInbox
	}
	return starterHead + source + starterTail
}

const starterHead = `# The configuration of the-loop. 'the-loop config check' reads it as the poller does;
# 'the-loop config schema' lists every key. An edit takes effect with the next cycle.
polling:
  intervalSeconds: 60
`

const starterGitHub = `  sources: []
  # Name what to watch, and remove the [] above:
  #   - provider: github
  #     repos: [OWNER/REPO]
  #     label: 'the-loop: auto-execute'
`

const starterInbox = `  sources:
    - provider: inbox # a folder of Markdown files: no account, no network
      path: inbox
      name: local/demo
`

const starterTail = `routing:
  # Only these people are obeyed. Nobody is while it is empty.
  authorizedUsers: []
  # A label alone does not start a session: somebody listed above comments 'the-loop start'.
  control:
    requireStartCommand: true
  maxSessions: 8
  defaultHarness: claude
`

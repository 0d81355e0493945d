package github

import (
	"context"
	"os"
	"os/exec"
	"time"

	ghconfig "github.com/cli/go-gh/v2/pkg/config"
)

// ghPatience is how long `gh` may take to open a keyring. One that asks its
// user to unlock it would wait for ever, and nobody watches a daemon.
const ghPatience = 5 * time.Second

// ghLogin returns the token that `gh auth login` keeps for a host, from its
// file or, through gh itself, from the keyring; empty when there is none.
// go-gh's own look-up is not used: it takes GH_TOKEN first, also where tokenEnv
// names other variables (P9).
func ghLogin(ctx context.Context, host string) string {
	if secret := ghFile(host); secret != "" {
		return secret
	}
	return ghKeyring(ctx, ghBinary(), host, ghPatience)
}

// ghFile reads gh's file anew each time: go-gh keeps what it read first, and a
// login may have happened since.
func ghFile(host string) string {
	if err := ghconfig.Reload(nil); err != nil {
		return ""
	}
	cfg, err := ghconfig.Read(nil)
	if err != nil {
		return ""
	}
	secret, err := cfg.Get([]string{"hosts", host, "oauth_token"})
	if err != nil {
		return ""
	}
	return secret
}

func ghBinary() string {
	if path := os.Getenv("GH_PATH"); path != "" {
		return path
	}
	path, err := exec.LookPath("gh")
	if err != nil {
		return ""
	}
	return path
}

// ghKeyring asks gh for what its keyring holds, and for that alone: the
// variables have been looked at already.
func ghKeyring(ctx context.Context, gh, host string, patience time.Duration) string {
	if gh == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, gh, "auth", "token", "--secure-storage", "--hostname", host)
	// A grandchild that keeps the pipe open must not keep us.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

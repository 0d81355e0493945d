package poller

import "strings"

// heals says whether a release may try again what another one gave up (B7).
// No version, or one from before the move, counts as different; our own begin
// with a v. A development build re-arms only those, since it cannot tell itself
// from another.
func heals(gaveUp, running string) bool {
	ours := strings.HasPrefix(gaveUp, "v")
	if !ours {
		return gaveUp != running
	}
	return strings.HasPrefix(running, "v") && gaveUp != running
}

package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
)

// HostID names this machine in session rows: a ledger copied to another one
// must not take its sessions for its own. It is a hash, since a machine's id is
// not to be shown around.
func HostID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if id, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(id))) > 0 {
			return shortHash(strings.TrimSpace(string(id)))
		}
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return shortHash(name)
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte("the-loop host " + s))
	return hex.EncodeToString(sum[:8])
}

// runID names this process in the rows whose attempts it spends.
func runID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

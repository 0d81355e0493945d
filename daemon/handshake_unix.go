//go:build unix

package daemon

import (
	"encoding/json"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// handshakeEnv says that somebody waits for a word on handshakeFD, the first
	// descriptor behind the usual three.
	handshakeEnv = "THE_LOOP_HANDSHAKE"
	handshakeFD  = 3
	// maxMessage bounds what is read of it.
	maxMessage = 64 << 10
)

// message is the one thing that is said: ready, or why not.
type message struct {
	Reason string `json:"reason"`
}

// Handshake is how a poller in the background tells whoever started it how that
// went. A nil one tells nobody.
type Handshake struct {
	once sync.Once
	pipe *os.File
}

// TakeHandshake returns the handshake that this process was started with, nil
// when nobody waits. It is called once, before anything else is started.
func TakeHandshake() *Handshake {
	if os.Getenv(handshakeEnv) == "" {
		return nil
	}
	_ = os.Unsetenv(handshakeEnv)
	var at unix.Stat_t
	if err := unix.Fstat(handshakeFD, &at); err != nil || at.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil // the variable came from elsewhere
	}
	unix.CloseOnExec(handshakeFD) // else tmux would hold it open
	return &Handshake{pipe: os.NewFile(handshakeFD, "handshake")}
}

// Ready says that the poller runs. Only the first word counts.
func (h *Handshake) Ready() { h.say(message{}) }

// Failed says why it does not.
func (h *Handshake) Failed(err error) { h.say(message{Reason: err.Error()}) }

func (h *Handshake) say(m message) {
	if h == nil {
		return
	}
	h.once.Do(func() {
		// Whoever waited may be gone; that is no reason not to run.
		_ = json.NewEncoder(h.pipe).Encode(m)
		_ = h.pipe.Close()
	})
}

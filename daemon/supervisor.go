package daemon

import (
	"log/slog"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
)

// supervisor is the service manager that started the poller, when one did
// (systemd). Without one nothing is told to anybody.
type supervisor struct {
	// every is how often it wants to hear that we live: half of its patience; zero
	// when it does not ask.
	every time.Duration
	log   *slog.Logger
}

func newSupervisor(log *slog.Logger) supervisor {
	patience, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog of the service manager is not served", "error", err)
	}
	return supervisor{every: patience / 2, log: log}
}

func (v supervisor) ready()    { v.tell(sd.SdNotifyReady) }
func (v supervisor) stopping() { v.tell(sd.SdNotifyStopping) }

// alive is said after each cycle, and while the next one is far off; a cycle that
// hangs says nothing.
func (v supervisor) alive() {
	if v.every > 0 {
		v.tell(sd.SdNotifyWatchdog)
	}
}

func (v supervisor) tell(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		v.log.Debug("the service manager was not told", "state", state, "error", err)
	}
}

// ticks comes as often as the service manager wants to hear from us.
func (v supervisor) ticks() (<-chan time.Time, func()) {
	if v.every <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(v.every)
	return t.C, t.Stop
}

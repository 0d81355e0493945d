package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"theloop/config"
	"theloop/dispatch"
	"theloop/eventlog"
	"theloop/heartbeat"
	"theloop/localapi"
	"theloop/lock"
	"theloop/poller"
	"theloop/record"
	"theloop/session"
	"theloop/session/tmux"
	"theloop/store"
	"theloop/workitem"
)

// service is a poller that has been started.
type service struct {
	o        Options
	cfg      config.Config
	root     string
	run      string
	settings atomic.Pointer[settings]

	events   *eventlog.Log
	beat     *heartbeat.Writer
	lock     *lock.RunLock
	ledger   *store.Ledger
	tmux     *tmux.Server
	queue    *dispatch.Queue
	trackers atomic.Pointer[trackers] // of the configuration in use
	host     *session.Host
	posts    *posts
	poller   *poller.Poller
	reloader *config.Reloader
	rejected string // why the edit of the configuration is not used
	// untracked is why a command under the run lock has no trackers.
	untracked error

	pid        int
	phase      atomic.Pointer[phase]
	kicks      *kicks
	supervisor supervisor
	chores     chores
	// ended says why, once the poller has run.
	ended string
	// locked says that this process has the run lock.
	locked atomic.Bool
	// closers undo the start, last first.
	closers []func() error
	started time.Time
}

func (s *service) current() *settings { return s.settings.Load() }

func (s *service) onClose(f func() error) { s.closers = append(s.closers, f) }

// close undoes the start in reverse. Every step is tried; the lock goes last.
func (s *service) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

func (s *service) emit(source string) func(string, map[string]any) {
	return func(name string, fields map[string]any) {
		s.events.Append(eventlog.Event{Name: name, Source: source, Fields: fields})
		say(s.o.Log, name, fields)
	}
}

// start brings the parts up in their order. On an error everything that was
// made is taken back.
func start(ctx context.Context, o Options, cfg config.Config) (_ *service, err error) {
	s, err := newService(o, cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	steps := []func(context.Context) error{s.takeLock, s.findTools, s.checkMissing, s.lookFirst, s.openLedger, s.checkEmpty, s.serve}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newService(o Options, cfg config.Config) (*service, error) {
	s := &service{
		o: o, cfg: cfg, run: runID(), started: o.Now(), pid: os.Getpid(), reloader: config.NewReloader(cfg),
		kicks: newKicks(), supervisor: newSupervisor(o.Log),
	}
	s.phase.Store(&phase{})
	s.trackers.Store(&trackers{})
	now, err := settingsOf(o, cfg)
	if err != nil {
		return nil, err
	}
	s.settings.Store(now)
	s.root, err = config.Resolve(cfg.State.Root, o.Env, o.Cwd, o.Home)
	return s, err
}

// logfile is where the output of a poller in the background goes.
func (s *service) logfile() string {
	if s.o.Logfile != "" {
		return s.o.Logfile
	}
	return filepath.Join(s.root, OutputName)
}

// findTools finds what the poller depends on: tmux, and a token per host.
func (s *service) findTools(ctx context.Context) error {
	t, err := openTrackers(ctx, s.o, s.cfg)
	if err != nil {
		return err
	}
	s.trackers.Store(t)
	s.onClose(s.closeTrackers)
	if err := s.checkWeb(); err != nil {
		return err
	}
	_, err = s.newTmux("probe")
	return err
}

func (s *service) newTmux(instance string) (*tmux.Server, error) {
	return tmux.New(tmux.Options{
		Socket: s.cfg.Routing.Tmux.SocketName, Instance: instance, Exe: s.o.Exe, PassEnv: s.cfg.Routing.Tmux.PassEnv,
	})
}

func (s *service) openLedger(ctx context.Context) (err error) {
	s.ledger, err = store.Open(ctx, store.Options{
		Path: filepath.Join(s.root, store.File), Writer: s.o.Version, Timeout: ledgerPatience, Log: s.o.Log, Now: s.o.Now,
	})
	if err != nil {
		return err
	}
	s.onClose(s.ledger.Close)
	last, _ := s.ledger.Cycles(ctx, 1) // a row that does not decode is for `ledger check`
	s.chores = newChores(last, s.started)
	s.chores.log, s.chores.expire = s.o.Log, s.ledger.Expire
	return nil
}

// serve makes the control socket and answers on it once there is something to
// answer from. When the poller stops, the queue ends before the socket, so that
// whoever asks is answered while jobs are waited for.
func (s *service) serve(ctx context.Context) error {
	l, err := localapi.Listen(s.root)
	if err != nil {
		return err
	}
	if err := s.assemble(); err != nil {
		return errors.Join(err, l.Close())
	}
	local := s.local()
	local.Status, local.Kick = s.status, s.kicks.ask
	s.onClose(localapi.Serve(l, local, s.o.Log).Close)
	if err := s.openWeb(ctx); err != nil {
		return err
	}
	s.onClose(s.stopQueue)
	return nil
}

// local answers about the ledger, and forgets.
func (s *service) local() localapi.Local {
	f := forgetter{ledger: s.ledger, host: s.host, queue: s.queue, id: HostID()}
	return localapi.Local{Ledger: s.ledger, Host: HostID(), Instance: s.ledger.Instance(), Faults: faults(s.ledger), Forgetter: f.forget, Adopter: s.adopter,
		Linker: s.link, Registrar: s.register, Commander: s.command, Planner: s.plan}
}

// assemble makes the parts that work: sessions, queue, poller.
func (s *service) assemble() (err error) {
	if s.tmux, err = s.newTmux(s.ledger.Instance()); err != nil {
		return err
	}
	s.chores.sweep = s.tmux.Sweep
	s.posts = newPosts(s.o.Log)
	s.onClose(s.posts.close) // behind the queue, whose jobs post
	s.watch(s.trackers.Load())
	s.host, err = session.New(session.Options{
		Ledger: s.ledger, Tmux: s.tmux, Instance: s.ledger.Instance(), Host: HostID(), Run: s.run, Now: s.o.Now,
		Settings:   func() session.Settings { return s.current().session },
		Admit:      s.admit,
		Authorized: func(a workitem.Author) bool { return s.current().poller.Policy.Authorized(a) },
		Tell:       s.story,
		Tracker:    s.posts.tracker, Later: s.posts.later,
		Emit: s.emit("sessions"), Failpoint: s.o.Failpoint, Log: s.o.Log,
	})
	if err != nil {
		return err
	}
	s.queue = dispatch.New(dispatch.Options{
		Concurrency: s.cfg.Routing.MaxConcurrentDispatches, Timeout: func() time.Duration { return s.current().dispatchTimeout },
		Bound: poller.MaxQueued + sparePlaces,
		OnError: func(j dispatch.Job, err error) {
			if !errors.Is(err, errFailed) {
				s.o.Log.Error("a job failed", "work_item", j.Ref.String(), "job", j.ID, "error", err)
			}
		},
	})
	s.poller = poller.New(s.parts())
	s.beat = heartbeat.NewWriter(filepath.Join(s.root, heartbeat.File), s.o.Log)
	return nil
}

// parts are what decisions are made with, whoever asks for them.
func (s *service) parts() poller.Options {
	return poller.Options{
		Ledger: s.ledger, Sources: s.trackers.Load().sources, Sessions: s.host,
		Queue: work{s.queue, s.host, s.o.Log, s.emit("sessions")}, Settings: func() poller.Settings { return s.current().poller },
		Emit: s.emit("poll"), Now: s.o.Now, Run: s.run, Version: s.o.Version, Host: HostID(), Failpoint: s.o.Failpoint,
		Requests: s.requests,
	}
}

// stopQueue lets jobs that run end and gives the others their attempts back
// (B4).
func (s *service) stopQueue() error {
	held := deliveries(s.queue.Stop(s.o.Drain))
	if len(held) > 0 {
		ids := make([]string, len(held))
		for i, h := range held {
			ids[i] = h.DeliveryID
		}
		s.emit("sessions")("dispatch.abandoned", map[string]any{"count": len(ids), "delivery_ids": ids})
	}
	_, err := poller.ReleaseAbandoned(context.Background(), s.ledger, held, s.emit("poll"))
	return err
}

// unpaid are the jobs that no attempt pays for.
var unpaid = [...]string{string(poller.DoClose), string(poller.DoAdopt), adoptJob, forgetJob}

// deliveries leaves them out.
func deliveries(held []record.Held) []record.Held {
	return slices.DeleteFunc(held, func(h record.Held) bool { return slices.Contains(unpaid[:], h.DeliveryID) })
}

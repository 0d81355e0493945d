package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"theloop/localapi"
	"theloop/poller"
)

// lookEach is how often a poller that waits looks whether pidfile and ledger are
// still its own: until it does, a second one can run beside it. Two lstat calls.
const lookEach = 5 * time.Second

// phase is what the loop is at: in a cycle, or waiting for the next.
type phase struct {
	busy bool
	next time.Time
}

// loop runs cycles from start to start, with a little jitter so that pollers
// that were started together do not stay so. A kick brings the next one forward.
func (s *service) loop(ctx context.Context) (clean bool, err error) {
	defer s.kicks.end()
	err = s.stillOurs(ctx)
	for err == nil && ctx.Err() == nil {
		begin := s.o.Now()
		kicked := s.kicks.take() // first: who edits and then kicks is answered by a cycle on the edit
		s.reload(ctx)
		s.phase.Store(&phase{busy: true})
		report := s.cycle(ctx)
		if err := s.stillOurs(ctx); err != nil {
			kicked.answer(kickedBy(report))
			return false, err // what is told of the cycle would be told in another's name
		}
		if s.o.Once {
			clean = s.finish(ctx, report)
			kicked.answer(kickedBy(report))
			return clean, nil
		}
		s.tell(&report)
		next := begin.Add(jitter(s.interval()))
		s.phase.Store(&phase{next: next})
		kicked.answer(kickedBy(report))
		s.supervisor.alive()
		s.chores.do(ctx, s.o.Now())
		err = s.wait(ctx, next)
	}
	return !s.o.Once && err == nil, err
}

// cycle runs one, and makes an error of a fault of ours: the loop goes on (C5).
func (s *service) cycle(ctx context.Context) (report poller.Report) {
	begin := s.o.Now()
	defer func() {
		if v := recover(); v != nil {
			s.o.Log.Error("a cycle met an internal fault", "fault", v, "stack", string(debug.Stack()))
			report = poller.Report{
				At: begin, Duration: s.o.Now().Sub(begin), Interrupted: ctx.Err() != nil,
				Errors: []string{fmt.Sprintf("internal fault: %v", v)},
			}
		}
	}()
	return s.poller.Cycle(ctx)
}

// wait returns when the next cycle is due, when somebody asks for one, or with
// the stop request. A cycle that a stopped or sleeping machine missed is not made
// up for. It returns an error when what the poller works on was taken away.
func (s *service) wait(ctx context.Context, next time.Time) error {
	due := time.NewTimer(max(0, next.Sub(s.o.Now())))
	defer due.Stop()
	tick, done := s.supervisor.ticks()
	defer done()
	look := time.NewTicker(lookEach)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due.C:
			return s.stillOurs(ctx)
		case <-s.kicks.rung:
			return s.stillOurs(ctx)
		case <-tick:
			s.supervisor.alive()
		case <-look.C:
			if err := s.stillOurs(ctx); err != nil {
				return err
			}
		}
	}
}

// status is the loop's answer on the socket.
func (s *service) status() localapi.Status {
	p := s.phase.Load()
	return localapi.Status{
		PID: s.pid, Version: s.o.Version, StartedAt: localapi.Time{Time: s.started},
		Busy: p.busy, NextCycleAt: localapi.Time{Time: p.next},
	}
}

// finish works the queues of a --once empty, so that a cron job leaves nothing
// lying (C7). A stop request cuts it.
func (s *service) finish(ctx context.Context, report poller.Report) bool {
	_ = s.queue.Wait(ctx)
	s.posts.finish(ctx, postsOnce)
	s.tell(&report)
	for _, e := range report.Errors {
		s.o.Log.Error(e)
	}
	for _, w := range report.Waiting {
		s.o.Log.Warn(w)
	}
	s.chores.do(ctx, s.o.Now())
	return len(report.Errors) == 0 && s.queue.Failed() == 0 && ctx.Err() == nil
}

func jitter(d time.Duration) time.Duration {
	const share = 10 // ±10 %
	return d + time.Duration((rand.Float64()*2-1)*float64(d)/share)
}

package daemon

import (
	"context"
	"errors"
	"fmt"

	"theloop/dispatch"
	"theloop/localapi"
	"theloop/record"
	"theloop/session"
	"theloop/store"
	"theloop/workitem"
)

// forgetJob names the job that ends a session for it.
const forgetJob = "forget"

// forgetter forgets items on a person's word. A session that lives is ended
// first, through its queue, so that nothing is left that no row names.
type forgetter struct {
	ledger *store.Ledger
	host   *session.Host
	queue  *dispatch.Queue
	id     string
}

// forget forgets all of the items or, when one cannot be, none.
func (f forgetter) forget(ctx context.Context, what localapi.Forget) ([]string, error) {
	refs, err := f.which(ctx, what)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.String()
	}
	if what.DryRun || len(refs) == 0 {
		return names, nil
	}
	if err := f.endAndForget(ctx, refs); err != nil {
		return nil, fmt.Errorf("%w; nothing was forgotten", err)
	}
	return names, nil
}

// forgetTries bounds how often a session that has begun meanwhile is ended, too.
const forgetTries = 3

func (f forgetter) endAndForget(ctx context.Context, refs []workitem.Ref) (err error) {
	for range forgetTries {
		for _, ref := range refs {
			if err := f.end(ctx, ref); err != nil {
				return fmt.Errorf("forget %s: %w", ref, err)
			}
		}
		if err = f.ledger.ForgetAll(ctx, refs); !errors.Is(err, store.ErrSessionOpen) {
			return err
		}
	}
	return err
}

// which are the items meant. One that the ledger does not have is an error.
func (f forgetter) which(ctx context.Context, what localapi.Forget) ([]workitem.Ref, error) {
	local := localapi.Local{Ledger: f.ledger, Host: f.id}
	if !what.All {
		for _, ref := range what.Refs {
			if _, err := local.Item(ctx, ref); err != nil {
				return nil, err
			}
		}
		return what.Refs, nil
	}
	var refs []workitem.Ref
	err := local.Items(ctx, func(s localapi.Summary) error {
		ref, err := workitem.ParseRef(s.Ref)
		refs = append(refs, ref)
		return err
	})
	return refs, err
}

// end closes the item's session when its row is open, and waits for it: also for
// the one that a job in hand is about to start, be it by a comment on a pull request.
func (f forgetter) end(ctx context.Context, ref workitem.Ref) error {
	rec, err := f.ledger.Record(ctx, ref)
	if err != nil {
		return err
	}
	if over(rec) && len(f.queue.Held(ref)) == 0 {
		return nil
	}
	if rec.Session.Open() && !rec.Session.Here(f.id) {
		return fmt.Errorf("its session is on another machine; close it there first")
	}
	done := make(chan session.Result, 1)
	queued := f.queue.Put(dispatch.Job{Ref: ref, ID: forgetJob, Run: func(ctx context.Context) error {
		rec, err := f.ledger.Record(ctx, ref)
		switch {
		case err != nil:
			done <- session.Unknown
		case over(rec):
			done <- session.Done // what came of the job before this one left no session
		default:
			done <- f.host.Close(ctx, session.Close{Ref: ref, Reason: "forgotten"})
		}
		return err
	}})
	if !queued {
		return errors.New("it is being forgotten already, or the poller is stopping")
	}
	select {
	case result := <-done:
		if result != session.Done {
			return errors.New("its session could not be closed (tmux did not answer, or an earlier call has not passed its deadline); try again in a moment")
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// over reports whether nothing can reach or bring up a session of the item any more: its
// row is not open, and neither an attempt nor a close is left that a process which was
// killed has begun. Until the deadline of such a one nothing is forgotten (D3).
func over(rec record.Record) bool {
	s := rec.Session
	return !s.Open() && !rec.InHand() && (s == nil || s.Until.IsZero())
}

// faults turns what Check finds into words.
func faults(l *store.Ledger) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		problems, err := l.Check(ctx)
		out := make([]string, len(problems))
		for i, p := range problems {
			out[i] = p.String()
		}
		return out, err
	}
}

// Reader is what answers about a ledger that a command opened for reading.
func Reader(l *store.Ledger) localapi.Local {
	return localapi.Local{Ledger: l, Host: HostID(), Instance: l.Instance(), Faults: faults(l)}
}

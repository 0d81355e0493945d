package session

import (
	"context"
	"errors"

	"theloop/record"
)

// delivered commits that the attempt has arrived, with what is known of the
// session that has it (D7).
func (j *job) delivered(ctx context.Context, l life, via string) verdict {
	row, err := j.commitDelivered(ctx, l)
	j.Failpoint("outcome")
	if err != nil {
		return *unknown(err)
	}
	j.react(stageCompleted)
	j.announce(j.session, &row)
	j.emit("dispatch.succeeded", map[string]any{"harness": l.harness, "via": via, "endpoint": l.look.Name})
	return verdict{Result: Done}
}

func (j *job) commitDelivered(ctx context.Context, l life) (record.Session, error) {
	ctx, cancel := unstoppable(ctx)
	defer cancel()
	for range maxConflicts {
		v, err := j.read(ctx)
		if err != nil {
			return record.Session{}, err
		}
		var changes []record.Change
		if v.row.DeliveryID == j.deliveryID && (v.row.InHand() || j.row != "") {
			changes = []record.Change{record.Deliver{Comment: j.row}}
		}
		l.by = j.deliveryID
		row, ofSession := j.alive(v.owner, l)
		_, err = j.commit(ctx, v, changes, ofSession)
		if !errors.Is(err, record.ErrChanged) {
			return row, err
		}
	}
	return record.Session{}, record.ErrChanged
}

// fail spends the attempt (D12). mayRepeat says that something may have arrived.
// One that is in nobody's hands any more has its outcome already.
func (j *job) fail(ctx context.Context, cause error, mayRepeat bool) verdict {
	attempts, ours := 0, false
	err := j.update(ctx, j.ref, func(rec record.Record) []record.Change {
		d := j.delivery(rec)
		if ours = d.InHand() && d.DeliveryID == j.deliveryID; !ours {
			return nil
		}
		attempts = d.Attempts
		return []record.Change{record.Fail{Comment: j.row, MayRepeat: mayRepeat}}
	})
	j.Failpoint("outcome")
	if err != nil {
		return *unknown(err)
	}
	if !ours {
		return verdict{Result: Dropped, err: cause}
	}
	again := attempts < j.settings.MaxRetries
	if !again {
		j.react(stageError)
	}
	j.emit("dispatch.failed", map[string]any{"error": safeError(cause), "will_retry": again})
	return verdict{Result: Failed, err: cause}
}

// refused tells of a comment that was settled instead of being started (X5).
func (j *job) refused(applied []record.Change) {
	for _, c := range applied {
		settled, ok := c.(record.Settle)
		if !ok {
			continue
		}
		j.emit("poll.comment_settled", map[string]any{"comment_id": j.row, "outcome": settled.Outcome})
		if droppedReasons[settled.Outcome] {
			j.emit("dispatch.dropped", map[string]any{"reason": settled.Outcome})
		}
	}
}

// droppedReasons are the outcomes that dispatch.dropped has a word for.
var droppedReasons = map[string]bool{
	record.SpawnPolicy: true, record.AwaitingStart: true, record.SessionPaused: true, record.SessionStopped: true,
}

// giveBack returns an attempt that has not started.
func (j *job) giveBack(ctx context.Context) *verdict {
	err := j.update(ctx, j.ref, func(record.Record) []record.Change {
		return []record.Change{record.Release{Comment: j.row, DeliveryID: j.deliveryID}}
	})
	if err != nil {
		return unknown(err)
	}
	return &verdict{Result: Dropped}
}

package session

import "context"

// The stages that a comment's delivery is answered at.
const (
	stageStarted   = "started"
	stageCompleted = "completed"
	stageError     = "error"
)

// react answers the comment with the reaction of a stage, behind the session's
// own work (C6, D12). Each stage is answered once in the life of this process;
// trackers take the same reaction twice for one. A failure is an event.
func (j *job) react(stage string) {
	if j.comment == nil {
		return
	}
	reaction := j.settings.Reactions.of(stage)
	t, ok := j.tracker(j.ref)
	if !ok || reaction == "" {
		return
	}
	if stage != stageStarted {
		j.begun.Delete(j.deliveryID)
	} else if _, was := j.begun.LoadOrStore(j.deliveryID, true); was {
		return // a retry
	}
	ref, comment, id := j.ref, *j.comment, j.deliveryID
	j.Later(ref, "react "+stage+" "+id, func(ctx context.Context) error {
		err := t.React(ctx, ref, comment, reaction)
		if err != nil {
			j.Host.emit(ref, "reaction.failed", map[string]any{
				"comment_id": comment.ID, "delivery_id": id, "reason": stage, "error": safeError(err),
			})
		}
		return err
	})
}

func (r Reactions) of(stage string) string {
	switch stage {
	case stageStarted:
		return r.Started
	case stageCompleted:
		return r.Completed
	}
	return r.Error
}

package record

// State is what has become of a comment.
type State string

// The states of a comment row. Only Pending may ever be sent; the others are
// resolved.
const (
	Baselined State = "baselined"
	Pending   State = "pending"
	Delivered State = "delivered"
	Settled   State = "settled"
	GaveUp    State = "gave-up"
)

// The outcomes of baselined and settled rows.
const (
	FirstSight   = "first-sight"
	Unauthorized = "unauthorized"
	SelfAuthored = "self-authored"
	Late         = "late"
	Imported     = "imported"

	AwaitingStart    = "awaiting-start"
	SessionPaused    = "session-paused"
	SessionStopped   = "session-stopped"
	SpawnPolicy      = "spawn-policy"
	ItemEnded        = "ended"
	ControlExecuted  = "control-executed"
	ControlRejected  = "control-rejected"
	ControlAmbiguous = "control-ambiguous"
	Revoked          = "revoked"
	TooLong          = "too-long"
	Deleted          = "deleted"
)

// Phase is a comment row's place in its life: its state, and for a pending row
// how far its attempt has come.
type Phase string

// The phases of a comment row. Absent is a comment without a row.
const (
	Absent  Phase = "absent"
	IsBase  Phase = "baselined"
	Idle    Phase = "idle"
	Queued  Phase = "queued"
	Running Phase = "started"
	IsDone  Phase = "delivered"
	IsSet   Phase = "settled"
	IsGiven Phase = "gave-up"
)

// Phase returns where the row stands.
func (c Comment) Phase() Phase {
	switch c.State {
	case "":
		return Absent
	case Baselined:
		return IsBase
	case Delivered:
		return IsDone
	case Settled:
		return IsSet
	case GaveUp:
		return IsGiven
	}
	return c.Delivery.phase()
}

func (d Delivery) phase() Phase {
	switch {
	case d.Started():
		return Running
	case d.InHand():
		return Queued
	}
	return Idle
}

// op is one step in the life of a row.
type op string

const (
	opBaseline op = "baseline"
	opHold     op = "hold"
	opQueue    op = "queue"
	opStart    op = "start"
	opUnstart  op = "unstart"
	opGiveBack op = "unstart and give back"
	opDeliver  op = "deliver"
	opFail     op = "fail"
	opGiveUp   op = "give up"
	opSettle   op = "settle"
	opRelease  op = "release"
	opRearm    op = "rearm"
	opRevise   op = "revise"
	opNotice   op = "post notice"
)

// steps is the whole life of a comment row: from which phase which step leads
// where. A step that is not here is illegal, but for the ones in idempotent.
var steps = map[Phase]map[op]Phase{
	Absent: {
		opBaseline: IsBase,
		opHold:     Idle,
		opSettle:   IsSet,
	},
	Idle: {
		opQueue:   Queued, // one more attempt is spent (B1)
		opSettle:  IsSet,
		opGiveUp:  IsGiven,
		opDeliver: IsDone, // the ring proved it late
		opRevise:  Idle,
	},
	Queued: {
		opQueue:   Queued, // the attempt was never started: used again, not counted (B1)
		opStart:   Running,
		opRelease: Idle,  // the attempt comes back (B4)
		opFail:    Idle,  // it failed before tmux was asked; the attempt is spent
		opSettle:  IsSet, // the attempt comes back (X5)
		opDeliver: IsDone,
		opRevise:  Queued,
	},
	Running: {
		opUnstart:  Queued, // proved that nothing was sent (D3)
		opGiveBack: Idle,   // cut before its tmux call: both come back (B4)
		opDeliver:  IsDone,
		opFail:     Idle,
	},
	IsSet: {
		opNotice: IsSet, // of a text that is too long (A5)
	},
	IsGiven: {
		opRearm:  Idle, // by another release alone (B7)
		opNotice: IsGiven,
	},
}

// idempotent steps change nothing where they do not apply, instead of being
// illegal: releasing twice, or after the outcome arrived, is no error (B4).
var idempotent = map[op]bool{opRelease: true, opNotice: true}

// next returns the phase that a step leads to. changes is false when the step
// is legal and does nothing.
func next(from Phase, step op) (to Phase, changes, legal bool) {
	if to, ok := steps[from][step]; ok {
		return to, true, true
	}
	return from, false, idempotent[step]
}

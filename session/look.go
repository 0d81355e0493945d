package session

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// Look looks at the session of an item: one tmux call, or two when another item
// of this ledger has the session name of its slug (D6). A session row of another
// machine counts as none.
//
// A session that a close has let go is absent: it is nobody's, until its item is
// started again.
func (h *Host) Look(ctx context.Context, ref workitem.Ref, rec record.Record) record.Pane {
	p := h.seek(ctx, ref, rec, "")
	if p.leftBehind() && p.pane.State == record.PaneLive && !h.local(rec).Open() {
		return record.Pane{State: record.PaneAbsent}
	}
	return p.pane
}

// Live counts the sessions of this ledger that are alive (D1). It errs when tmux
// does not answer (D4).
func (h *Host) Live(ctx context.Context) (int, error) {
	all, err := h.Tmux.LookAll(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the sessions: %w", err)
	}
	n := 0
	for _, l := range all {
		if l.State == tmux.Live && strings.HasPrefix(l.Owner, h.Instance+"-") {
			n++
		}
	}
	return n, nil
}

// local is the session row when it is this machine's, else nil.
func (h *Host) local(rec record.Record) *record.Session {
	if rec.Session.Here(h.Host) {
		return rec.Session
	}
	return nil
}

// place is where an item's session is, or would be.
type place struct {
	name  string // of the tmux session to make
	owner string // the mark of the item
	look  tmux.Look
	pane  record.Pane
	// text is what was loaded beside the look, to be pasted.
	text   string
	loaded tmux.Loaded
}

// seek is find for whoever uses the item's session or makes it. A harness that was let
// go and has no row any more (a cleanup took it) is not gone on with: it keeps its
// tmux session, and the one that begins afresh gets another name (X4).
func (h *Host) seek(ctx context.Context, ref workitem.Ref, rec record.Record, text string) place {
	p := h.find(ctx, ref, rec, text)
	if h.local(rec) != nil || !p.leftBehind() || p.pane.State != record.PaneLive {
		return p
	}
	p.name += "-" + ref.SlugHash()
	p.look = h.Tmux.Look(ctx, tmux.Target{Name: p.name, Owner: p.owner})
	p.pane = p.judge(nil, true) // one that was let go there as well has the name
	return p
}

// find looks at tmux. What exists wins over what names say: a pane that carries
// the item's mark, then the session that the row names, then the name of the
// slug, then that with a hash (D6). A text is loaded on the way.
func (h *Host) find(ctx context.Context, ref workitem.Ref, rec record.Record, text string) place {
	row := h.local(rec)
	p := place{name: sessionName(ref), owner: tmux.OwnerMark(h.Instance, ref.Key()), text: text}
	target := tmux.Target{Name: p.name, Owner: p.owner}
	if row != nil {
		target.PaneID, target.Identity = row.Pane, row.Identity
		if row.TmuxTarget != "" {
			target.Name = tmuxWord(row.TmuxTarget)
		}
	}
	p.look, p.loaded = h.Tmux.LookAndLoad(ctx, target, []byte(text))
	if h.anothers(p.look, p.owner) {
		p.name = sessionName(ref) + "-" + ref.SlugHash()
		target.Name, target.PaneID, target.Identity = p.name, "", ""
		p.look = h.Tmux.Look(ctx, target)
	} else if plainWord(target.Name) {
		p.name = target.Name
	}
	if rec.Bygone() && forgotten(row, p.look) {
		p.look.Ring = nil
	}
	p.pane = p.judge(row, rec.Bygone())
	if p.look.State == tmux.Absent && row != nil && row.Identity != "" {
		p.pane = survived(p.pane, h.Tmux.Survivor(ctx, row.Identity, row.LastEventAt, 0))
	}
	return p
}

// survived is what a harness makes of a pane that is gone when it did not end with it:
// the item has its session as long as it runs, and no other begins beside it (D2).
// Nothing can be said to it any more, and ending it is for whoever took its pane away:
// only a pane with our mark shows what is ours to be ended (D9).
func survived(p record.Pane, pid int) record.Pane {
	if pid == 0 {
		return p
	}
	return record.Pane{
		State:  record.PaneForeign,
		Holder: fmt.Sprintf("the agent of this item goes on as process %d, although its terminal is gone", pid),
		Remedy: fmt.Sprintf("look at it (ps -fp %d) and end it (kill %d, or kill -9 %d), so that it can be started again", pid, pid, pid),
	}
}

// forgotten reports whether a pane still shows the life that its item was forgotten
// with. Its marks are of other deliveries, which may have had the same ids (D5).
func forgotten(row *record.Session, l tmux.Look) bool {
	return row != nil && l.State == tmux.Dead && (row.Identity == "" || row.Identity == l.Identity)
}

// anothers reports whether the pane belongs to another item of this ledger: two
// refs can have one slug.
func (h *Host) anothers(l tmux.Look, owner string) bool {
	ofUs := strings.HasPrefix(l.Owner, h.Instance+"-") || strings.HasPrefix(l.Owner, tmux.LeftMark(h.Instance+"-"))
	return ofUs && l.Owner != owner && l.Owner != tmux.LeftMark(owner)
}

// leftBehind reports whether the pane is the item's and was let go by a close
// that left its harness running.
func (p place) leftBehind() bool { return p.look.Owner == tmux.LeftMark(p.owner) }

// judge says what the look means for the item (D4, D5).
func (p place) judge(row *record.Session, bygone bool) record.Pane {
	l := p.look
	switch l.State {
	case tmux.Silent:
		return record.Pane{State: record.PaneUnknown}
	case tmux.Absent:
		if row == nil {
			return record.Pane{State: record.PaneNone}
		}
		return record.Pane{State: record.PaneAbsent}
	}
	if why := p.foreign(row, bygone); why != "" {
		return record.Pane{State: record.PaneForeign, Holder: "tmux session " + safeText(l.Name, maxHolder) + " (" + why + ")"}
	}
	state := record.PaneLive
	if l.State == tmux.Dead {
		state = record.PaneDead
	}
	return record.Pane{
		State: state, ID: l.PaneID, Identity: l.Identity, Ring: l.Ring,
		HarnessSessionID: l.HarnessSession, Adoptable: true,
	}
}

// foreign says, for people, why the pane is not the item's session; empty when
// it is.
func (p place) foreign(row *record.Session, bygone bool) string {
	l, ours := p.look, p.look.Owner == p.owner || p.leftBehind()
	switch {
	case l.Owner == "" && !imported(l, row):
		return "it carries no mark of the-loop"
	case l.Owner != "" && !ours:
		return "it is marked as " + safeText(l.Owner, maxHolder)
	case p.leftBehind() && bygone && l.State == tmux.Live:
		return "its harness was left running when its session was closed"
	case ours && l.State == tmux.Live && !l.Ours() && !known(row, l):
		return "somebody started another program in its pane" // a shell would run what is said (D3)
	}
	return ""
}

// known reports whether the row names this very life of the pane, or the
// conversation that started it.
func known(row *record.Session, l tmux.Look) bool {
	return row != nil && (row.Identity == l.Identity || imported(l, row))
}

// imported reports whether a session that we did not start is the one that the
// row names: it has that name, and the conversation's id stands in the command
// that started it (D5).
func imported(l tmux.Look, row *record.Session) bool {
	return row != nil && row.TmuxTarget != "" && tmuxWord(row.TmuxTarget) == l.Name &&
		usableSessionID(row.HarnessSessionID) && holdsWord(l.StartCommand, row.HarnessSessionID)
}

// holdsWord reports whether the word stands in s, not as a part of a longer one.
func holdsWord(s, word string) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) })
	return slices.Contains(words, word)
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

const maxHolder = 80

// maxSessionName is far below what tmux takes, so that a hash still fits.
const maxSessionName = 200

// sessionName is the tmux name of an item's session: loop-<slug> (D6). One that
// is too long ends in the ref's hash instead.
func sessionName(ref workitem.Ref) string {
	name := tmux.SessionName(ref.Slug())
	if len(name) > maxSessionName {
		name = name[:maxSessionName] + "-" + ref.SlugHash()
	}
	return name
}

// tmuxWord writes a name as tmux does: rows of earlier releases have dots.
func tmuxWord(name string) string {
	return strings.NewReplacer(".", "_", ":", "_").Replace(name)
}

// plainWord reports whether a name may be given to tmux for a new session.
func plainWord(name string) bool {
	for i := range len(name) {
		if !wordByte(name[i]) {
			return false
		}
	}
	return name != "" && name[0] != '-' && len(name) <= maxSessionName+len("-01234567")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is what is known about a pane (D4).
type State int

const (
	// Silent is the state when tmux did not answer, or not in a way that can be read: nothing may be concluded.
	Silent State = iota
	// Absent means that tmux says that there is no such session, or that no server runs.
	Absent
	// Live means that the pane's program runs.
	Live
	// Dead means that the program has exited and the pane was kept, with its marks and its text.
	Dead
)

func (s State) String() string { return [...]string{"unknown", "absent", "live", "dead"}[s] }

// Target names the pane to look for. Name alone will do; each further field makes the answer more certain.
type Target struct {
	Name     string // session name, as tmux has it
	PaneID   string // "%3", as stored; users split, rename and move panes
	Owner    string // our owner mark: a pane that carries it is the one, wherever it is now (D2)
	Identity string // as stored; tells a server whose socket was deleted from one that is gone (Linux only)
}

// Look is what tmux said about one pane. Strings other than the ids may hold anything: they are for comparing, and are
// to be escaped before they are shown.
type Look struct {
	State          State
	Name           string   // of its session
	PaneID         string   // "%3"
	Identity       string   // "#{pid}/#{session_created}/#{pane_pid}"
	Owner          string   // empty: not marked
	HarnessSession string   // the harness's own session id, empty when unmarked
	Ring           []string // marks, oldest first: 16 hex digits, with "_" before when not proved (D5)
	StartCommand   string
	CurrentCommand string
	ExitStatus     string // of a dead pane: "exit 3", "signal 9"; empty when tmux does not know
	TTY            string
	InputOff       bool  // the user switched the pane's input off (select-pane -d): pastes are refused
	Panes          int   // in its session; more than 1 when the user split it
	Err            error // why the state is Silent

	session, window string // tmux ids
}

// Ours tells whether the pane runs what Spawn or Respawn started in it. A user's respawn-pane puts another program under
// our marks, a shell perhaps.
func (l Look) Ours() bool { return strings.Contains(l.StartCommand, sessionExec) }

// Proves tells whether the pane's ring shows that the delivery of that mark arrived. On a live pane a first prompt that
// has not been proved yet counts too, on a dead one it does not (D5).
func (l Look) Proves(mark string) bool {
	return slices.Contains(l.Ring, mark) || l.State == Live && slices.Contains(l.Ring, "_"+mark)
}

// place is the pane's target: session, window and pane by tmux's ids. All three, because a window may be in several
// sessions (a grouped one, say), and then a pane id alone leaves it to tmux which session's creation time is compared.
func (l Look) place() (arg, error) {
	pane, err := id("%", l.PaneID)
	if err != nil || l.session == "" {
		return pane, err
	}
	session, err := id("$", l.session)
	if err != nil {
		return "", err
	}
	window, err := id("@", l.window)
	return session + ":" + window + "." + pane, err
}

// isAt holds when tmux found the very target: for a pane or window that is gone it takes the session's current one.
func isAt(target arg) arg {
	if strings.HasPrefix(string(target), "%") {
		return equal("#{pane_id}", target)
	}
	return equal("#{session_id}:#{window_id}.#{pane_id}", target)
}

// rowTag starts every row, so that a line break in a user's pane cannot pass for one of ours.
const rowTag = "loop-pane"

// rowFormat is one pane. What may hold anything comes last.
const rowFormat arg = "#{session_id}\t#{window_id}\t#{pane_id}\t" + isPane +
	"\t#{pane_dead}\t#{pane_dead_status}\t#{pane_dead_signal}\t#{pane_input_off}\t#{pane_tty}" +
	"\t#{@the_loop_owner}\t#{@the_loop_session}\t#{@the_loop_ring}" +
	"\t#{session_name}\t#{pane_current_command}\t#{pane_start_command}"

const rowFields = 15

// parseRow reads what rowFormat printed.
func parseRow(row string) (Look, bool) {
	f := strings.SplitN(row, "\t", rowFields)
	if len(f) != rowFields {
		return Look{}, false
	}
	l := Look{
		State: Live, session: f[0], window: f[1], PaneID: f[2], Identity: f[3], InputOff: f[7] == "1", TTY: f[8],
		Owner: f[9], HarnessSession: readSession(f[10]), Ring: parseRing(f[11]),
		Name: f[12], CurrentCommand: f[13], StartCommand: f[14],
	}
	if f[4] == "1" {
		l.State, l.ExitStatus = Dead, exitStatus(f[5], f[6])
	}
	_, err := l.place()
	_, badIdentity := identityNumbers(l.Identity)
	return l, err == nil && badIdentity == nil && (f[4] == "0" || f[4] == "1")
}

func exitStatus(status, signal string) string {
	if signal != "" {
		return "signal " + signal
	}
	if status != "" {
		return "exit " + status
	}
	return ""
}

// Look asks about one pane, with one tmux process, or two when a dead pane's exit status is not known yet (D4). Of several panes the one that carries t.Owner is taken; then, in
// the session of that name, the stored pane, one that carries any owner mark, the first; then the stored pane with the
// stored identity elsewhere. Whether it is ours is for the caller to judge, by Owner.
func (s *Server) Look(ctx context.Context, t Target) Look { return s.look(ctx, t, call{}) }

// A server that is on its way up or out answers nothing, or something that cannot be read, for a moment: it is asked
// again, three times, after 50, 100 and 200 ms. One that did not answer in time is not.
const (
	lookTries = 4
	lookAgain = 50 * time.Millisecond
)

// look asks about one pane; first begins the tmux process that does.
func (s *Server) look(ctx context.Context, t Target, first call) (l Look) {
	for wait, try := lookAgain, 1; ; wait, try = 2*wait, try+1 {
		l = s.lookOnce(ctx, t, first)
		if l.State != Silent || errors.Is(l.Err, ErrNoAnswer) || try == lookTries {
			return l
		}
		select {
		case <-ctx.Done():
			return l
		case <-time.After(wait):
		}
	}
}

func (s *Server) lookOnce(ctx context.Context, t Target, first call) Look {
	l, rows, err := s.find(ctx, t, first)
	if n, bad := identityNumbers(l.Identity); err == nil && bad == nil && l.State == Dead && l.ExitStatus == "" {
		nudge(int(n[0]))
		l, rows, err = s.find(ctx, t, call{})
	}
	if err == nil && l.State == Absent && !sameServer(rows, t.Identity) {
		err = lostSocket(t.Identity)
	}
	if err != nil {
		return Look{State: Silent, Name: t.Name, Err: fmt.Errorf("look at tmux session %q: %w", t.Name, err)}
	}
	return l
}

func (s *Server) find(ctx context.Context, t Target, first call) (Look, []Look, error) {
	rows, err := s.rows(ctx, first)
	if errors.Is(err, errNoServer) {
		rows, err = nil, nil
	}
	return pick(rows, t), rows, err
}

// sameServer tells whether the server that answered is the one of a stored identity.
func sameServer(rows []Look, stored string) bool {
	server, _, ok := strings.Cut(stored, "/")
	return ok && len(rows) > 0 && strings.HasPrefix(rows[0].Identity, server+"/")
}

// Survivor is the number of the process that a stored identity names, when its pane is gone and it is proved to go on
// (Linux only), else 0. seen is when it was last known to run in its pane; one that is about to end is given the wait.
// Nothing is done to it.
func (s *Server) Survivor(ctx context.Context, identity string, seen time.Time, wait time.Duration) (pid int) {
	end := s.now().Add(wait)
	for pid = survivor(identity, seen); pid != 0 && ctx.Err() == nil && s.now().Before(end); pid = survivor(identity, seen) {
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
	return pid
}

// LookAll returns every pane that carries an owner mark, of whatever instance, by session name. No server: none.
func (s *Server) LookAll(ctx context.Context) ([]Look, error) {
	rows, err := s.rows(ctx, call{})
	if errors.Is(err, errNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list tmux panes: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b Look) int { return strings.Compare(a.Name, b.Name) })
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(l Look) bool {
		twice := seen[l.PaneID]
		seen[l.PaneID] = true
		return l.Owner == "" || twice
	}), nil
}

// rows are all panes of the server, asked for behind the commands of c. By list-sessions, because list-panes calls it an
// error when there are none.
func (s *Server) rows(ctx context.Context, c call) ([]Look, error) {
	c.args = append(slices.Clip(c.args), "list-sessions", "-F", "#{W:#{P:"+rowTag+"\t"+rowFormat+"\n}}")
	out, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	var rows []Look
	panes := map[string]int{}
	for line := range strings.Lines(out) {
		row, tagged := strings.CutPrefix(strings.TrimSuffix(line, "\n"), rowTag+"\t")
		if l, ok := parseRow(row); tagged && ok {
			rows = append(rows, l)
			panes[l.session]++
		}
	}
	for i := range rows {
		rows[i].Panes = panes[rows[i].session]
	}
	return rows, nil
}

func pick(rows []Look, t Target) Look {
	best, rank := Look{State: Absent, Name: t.Name}, 0
	for _, l := range rows {
		if r := l.rank(t); r > rank || r == rank && r > 0 && older(l, best) {
			best, rank = l, r
		}
	}
	return best
}

// rank says how surely the pane is the one that t names; 0 is not at all.
func (l Look) rank(t Target) int {
	named, stored := l.Name == t.Name, l.PaneID == t.PaneID
	switch {
	case t.Owner != "" && l.Owner == t.Owner:
		return 100 + 4*one(l.State == Live) + 2*one(stored) + one(named)
	case named:
		return 10 + 2*one(stored) + one(l.Owner != "")
	case stored && t.Identity != "" && l.Identity == t.Identity:
		return 1
	}
	return 0
}

// older prefers, of a pane that is in several sessions, the row of the session made first; and the pane made first.
func older(a, b Look) bool {
	return cmp.Or(compareIDs(a.session, b.session), compareIDs(a.PaneID, b.PaneID)) < 0
}

// compareIDs orders "$9" before "$10".
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

package tmux

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// procStat is what is used here of /proc/<pid>/stat.
type procStat struct {
	command  string
	parent   int
	session  int
	terminal uint64
	started  int64 // in ticks since boot
}

func readStat(pid int) (procStat, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	open, shut := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if err != nil || open < 0 || shut < open {
		return procStat{}, false
	}
	f := strings.Fields(string(text[shut+1:]))     // from the state on, which is field 3
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" { // a process that has ended and waits to be collected
		return procStat{}, false
	}
	parent, _ := strconv.Atoi(f[1])
	session, _ := strconv.Atoi(f[3])
	terminal, _ := strconv.ParseInt(f[4], 10, 64)
	started, _ := strconv.ParseInt(f[19], 10, 64)
	return procStat{command: string(text[open+1 : shut]), parent: parent, session: session, terminal: uint64(uint32(terminal)), started: started}, true
}

// startOf is when the process began, in ticks.
func startOf(pid int) (int64, bool) {
	p, ok := readStat(pid)
	return p.started, ok
}

// onTerminal tells whether the process's controlling terminal is tty.
func onTerminal(pid int, tty string) bool {
	p, ok := readStat(pid)
	var st unix.Stat_t
	if !ok || unix.Stat(tty, &st) != nil {
		return false
	}
	major, minor := uint64(unix.Major(st.Rdev)), uint64(unix.Minor(st.Rdev))
	return p.terminal == minor&0xff|major<<8|(minor&^0xff)<<12
}

// family are the processes of a terminal session, whatever their groups, those that known has by number and start, and
// all that descend from any of them: what an agent starts may have made a session of its own (setsid). A leader of 0 is
// no session. This process and what it has started are never among them, also where it was started in that very terminal.
func family(leader int, known map[int]int64) map[int]int64 {
	all := processes()
	kin := map[int]int64{}
	for pid, p := range all {
		if started, ok := known[pid]; ok && started == p.started || leader > 1 && p.session == leader {
			kin[pid] = p.started
		}
	}
	kin = descend(all, kin)
	self := os.Getpid()
	if started, inside := kin[self]; inside {
		own := descend(all, map[int]int64{self: started})
		maps.DeleteFunc(kin, func(pid int, _ int64) bool { _, ours := own[pid]; return ours })
	}
	return kin
}

// descend adds all that descend from those in kin.
func descend(all map[int]procStat, kin map[int]int64) map[int]int64 {
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			_, in := kin[pid]
			if _, child := kin[p.parent]; child && !in {
				kin[pid], grown = p.started, true
			}
		}
	}
	return kin
}

func processes() map[int]procStat {
	entries, _ := os.ReadDir("/proc")
	all := make(map[int]procStat, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 1 {
			if p, ok := readStat(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// ticksPerSecond is the unit of start times in /proc, the same on every Linux that Go runs on.
const ticksPerSecond = 100

// lostSocket is not nil when the server that a stored identity names still runs although nobody listens: its socket was
// deleted (by a cleaner of temporary files, say). Its sessions are alive, and to start them again would double them. The
// process is that server when it began before the session was made which it then held.
func lostSocket(identity string) error {
	n, err := identityNumbers(identity)
	if err != nil {
		return nil
	}
	p, ok := readStat(int(n[0]))
	if !ok || !strings.HasPrefix(p.command, "tmux") || bootTime() == 0 || bootTime()+p.started/ticksPerSecond > n[1]+1 {
		return nil
	}
	return fmt.Errorf("the tmux server (pid %d) runs but its socket is gone; `kill -USR1 %d` makes it again", n[0], n[0])
}

// survivor is the process of a stored identity when it is proved to have outlived its pane, else 0: a user took the
// pane away, and the program did not end of that. What has its number now and began before that one was last seen is
// that one, since both would have had the number at once. Beside that it began with the tmux session or after it, leads
// a session whose terminal is gone, and is a child of the server that the identity names if that still runs. All of it
// is as good as the machine's clock, which may have been set: enough to wait for, not to end a process by.
func survivor(identity string, seen time.Time) int {
	n, err := identityNumbers(identity)
	if err != nil {
		return 0
	}
	server, pid, boot := int(n[0]), int(n[2]), bootTime()
	p, alive := readStat(pid)
	parent, up := readStat(server)
	up = up && strings.HasPrefix(parent.command, "tmux")
	began := boot + p.started/ticksPerSecond // in whole seconds, as the others
	switch {
	case boot == 0, !alive, p.session != pid, p.terminal != 0, up && p.parent != server:
		return 0
	case began < n[1]-1, began > seen.Unix()+1:
		return 0
	}
	return pid
}

func bootTime() int64 {
	text, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "btime "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			return n
		}
	}
	return 0
}

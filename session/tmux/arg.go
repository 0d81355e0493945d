package tmux

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// arg is text that may stand in an argument of tmux (D8). tmux expands formats, runs "#(…)" and takes a trailing ";"
// for a new command, so nothing that others wrote may get in. An untyped constant converts to arg by itself; a string
// value does not, and word, number and identity are the only places that convert one. A test holds the package to that.
type arg string

// maxWord bounds a single value: a session name of host, owner and repository may have 400 characters, and tmux takes
// about 16 KiB for all arguments.
const maxWord = 512

// word lets a value into an argument: 1 to 512 of [A-Za-z0-9_-], not starting with "-".
func word(what, s string) (arg, error) {
	if s == "" || len(s) > maxWord || s[0] == '-' {
		return "", fmt.Errorf("%s %q cannot be given to tmux: it must be 1 to %d letters, digits, _ or -, and not start with -", what, s, maxWord)
	}
	for i := range len(s) {
		if !wordByte(s[i]) {
			return "", fmt.Errorf("%s %q cannot be given to tmux: only letters, digits, _ and - are let through", what, s)
		}
	}
	return arg(s), nil
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// number lets a whole number into an argument.
func number(n int64) arg { return arg(strconv.FormatInt(n, 10)) }

// id lets one of tmux's own ids in: $1, @2, %3. Only the digits are taken from s.
func id(sigil arg, s string) (arg, error) {
	digits, ok := strings.CutPrefix(s, string(sigil))
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil {
		return "", fmt.Errorf("%q is not a tmux id of the form %sN", s, sigil)
	}
	return sigil + number(int64(n)), nil
}

var errIdentity = errors.New("not of the form <server pid>/<session created>/<pane pid>")

// identity lets a pane's identity in, rebuilt from its three numbers.
func identity(s string) (arg, error) {
	n, err := identityNumbers(s)
	if err != nil {
		return "", err
	}
	return number(n[0]) + "/" + number(n[1]) + "/" + number(n[2]), nil
}

func identityNumbers(s string) (n [3]int64, err error) {
	parts := strings.Split(s, "/")
	if len(parts) != len(n) {
		return n, fmt.Errorf("pane identity %q: %w", s, errIdentity)
	}
	for i, part := range parts {
		if n[i], err = strconv.ParseInt(part, 10, 64); err != nil || n[i] < 0 {
			return n, fmt.Errorf("pane identity %q: %w", s, errIdentity)
		}
	}
	return n, nil
}

// The pieces of a guard. Each yields "1" or "0" (or, for a thing that is gone, empty, which counts as false).

func equal(a, b arg) arg { return "#{==:" + a + "," + b + "}" }

func holds(list, entry arg) arg { return "#{m:*|" + entry + "|*," + list + "}" }

func not(c arg) arg { return equal(c, "0") }

func either(a, b arg) arg { return "#{||:" + a + "," + b + "}" }

// all nests, because tmux up to 3.4 joins two conditions at a time.
func all(first arg, rest ...arg) arg {
	for _, c := range rest {
		first = "#{&&:" + first + "," + c + "}"
	}
	return first
}

// within holds from one second before start until one second before the deadline, by the server's clock (D3). @loop_now
// holds "%s"; were it missing, the time would count as 0, which is why there are two bounds. The second at each end is
// for the difference between two readings of a clock: the server counts whole seconds, by a coarse clock that may be some
// milliseconds behind (measured: a paste landed right after its deadline had passed here).
func within(start, until time.Time) arg {
	const now = "#{T:@loop_now}"
	return all("#{e|>=|:"+now+","+number(start.Unix()-1)+"}", "#{e|<|:"+now+","+number(until.Unix()-1)+"}")
}

const (
	ours    arg = "#{@the_loop_owner}"
	ring    arg = "#{@the_loop_ring}"
	alive   arg = "#{==:#{pane_dead},0}"
	dead    arg = "#{==:#{pane_dead},1}"
	isThere arg = "#{||:#{==:#{pane_dead},0},#{==:#{pane_dead},1}}"
	takesIn arg = "#{==:#{pane_input_off},0}"
	isPane  arg = "#{pid}/#{session_created}/#{pane_pid}"
)

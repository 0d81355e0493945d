package session

import (
	"context"
	"errors"
	"testing"

	"theloop/record"
	"theloop/session/tmux"
)

// looked answers every look by name with this one.
type looked tmux.Look

func (l looked) Look(_ context.Context, to tmux.Target) tmux.Look {
	l.Name = to.Name
	return tmux.Look(l)
}

// D4, D5: how a session that should be there fares, told by the mark of this ledger (D6).
func TestFind(t *testing.T) {
	const id, key = "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "github:octo/repo#15"
	mark := tmux.OwnerMark("0123456789abcdef", key)
	none := looked{State: tmux.Absent}
	for name, tt := range map[string]struct {
		all  []tmux.Look
		by   looked
		want record.PaneState
	}{
		"its mark, alive":                {[]tmux.Look{{Owner: mark, State: tmux.Dead}, {Owner: mark, State: tmux.Live}}, none, record.PaneLive},
		"its mark, ended":                {[]tmux.Look{{Owner: mark, State: tmux.Dead}}, none, record.PaneDead},
		"another item's mark":            {[]tmux.Look{{Owner: tmux.OwnerMark("i", "github:octo/repo#16"), State: tmux.Live}}, none, record.PaneAbsent},
		"another ledger's mark":          {[]tmux.Look{{Owner: tmux.OwnerMark("i", key), State: tmux.Live}}, none, record.PaneAbsent},
		"let go by a close":              {[]tmux.Look{{Owner: tmux.LeftMark(mark), State: tmux.Live}}, none, record.PaneAbsent},
		"nothing":                        {nil, none, record.PaneAbsent},
		"imported, alive":                {nil, looked{State: tmux.Live, StartCommand: "claude --resume " + id}, record.PaneLive},
		"imported, ended":                {nil, looked{State: tmux.Dead, StartCommand: "claude --resume " + id}, record.PaneDead},
		"started for a longer id":        {nil, looked{State: tmux.Live, StartCommand: "claude --resume " + id + "-2"}, record.PaneForeign},
		"of its name, without a mark":    {nil, looked{State: tmux.Live, StartCommand: "sleep 600"}, record.PaneForeign},
		"of its name, with another mark": {nil, looked{State: tmux.Live, Owner: "other", StartCommand: id}, record.PaneForeign},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Find(t.Context(), tt.by, tt.all, mark, "loop-15", id); got != tt.want || err != nil {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	silent := looked{State: tmux.Silent, Err: errors.New("no answer")}
	if got, err := Find(t.Context(), silent, nil, mark, "loop-15", id); got != record.PaneUnknown || !errors.Is(err, silent.Err) {
		t.Errorf("a silent tmux: %s, %v", got, err)
	}
	if got, err := Find(t.Context(), silent, nil, mark, "", id); got != record.PaneAbsent || err != nil {
		t.Errorf("a row without a name: %s, %v", got, err)
	}
}

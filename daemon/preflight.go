package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"theloop/escape"
	"theloop/store"
)

// CheckCommand is the hidden command of this program that looks at a ledger in a
// process of its own; its argument is the path.
const CheckCommand = "ledger-look"

// lookFirst checks the whole ledger after an unclean stop, in a process of its
// own: a page fault would end whoever meets it. A ledger that is damaged is left
// as it is and refuses the start.
func (s *service) lookFirst(ctx context.Context) error {
	path := filepath.Join(s.root, store.File)
	if _, err := os.Lstat(path); s.lock.StalePID == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	problems, err := store.CheckInChild(ctx, path, s.o.Exe, CheckCommand, path)
	var damaged *store.DamagedError
	switch {
	case errors.As(err, &damaged):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // who has it, or what keeps us from it, is said when it is opened
		s.o.Log.Warn("the ledger could not be checked after an unclean stop", "error", err)
	case len(problems) > 0:
		s.o.Log.Warn("the ledger has faults that concern their items alone; see 'the-loop ledger check'",
			"faults", len(problems), "first", escape.Line(problems[0].String()))
	}
	return nil
}

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"theloop/record"
	"theloop/store"
)

// uses is everything that can be asked of a ledger.
func uses() map[string]func(context.Context, *store.Ledger) error {
	return map[string]func(context.Context, *store.Ledger) error{
		"record": func(ctx context.Context, l *store.Ledger) error {
			_, err := l.Record(ctx, ref(7))
			return err
		},
		"items": func(ctx context.Context, l *store.Ledger) error {
			for _, err := range l.Items(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"known":      func(ctx context.Context, l *store.Ledger) error { _, err := l.Known(ctx, "s1"); return err },
		"pending":    func(ctx context.Context, l *store.Ledger) error { _, err := l.Pending(ctx); return err },
		"unfinished": func(ctx context.Context, l *store.Ledger) error { _, err := l.Unfinished(ctx); return err },
		"linked":     func(ctx context.Context, l *store.Ledger) error { _, err := l.Linked(ctx, ref(1)); return err },
		"cycles":     func(ctx context.Context, l *store.Ledger) error { _, err := l.Cycles(ctx, 0); return err },
		"backup":     func(ctx context.Context, l *store.Ledger) error { return l.Backup(ctx, io.Discard) },
		"check": func(ctx context.Context, l *store.Ledger) error {
			problems, err := l.Check(ctx)
			if err == nil && len(problems) > 0 { // a list is as good as an error here
				return &store.DamagedError{Path: l.Path(), Reason: problems[0].Text}
			}
			return err
		},
		"commit": func(ctx context.Context, l *store.Ledger) error {
			rec, err := l.Record(ctx, ref(9))
			if err == nil {
				_, err = l.Commit(ctx, ref(9), rec.Item.Rev, []record.Change{record.Withhold{Author: fmt.Sprint(rec.Item.Rev)}})
			}
			return err
		},
		"cycle": func(ctx context.Context, l *store.Ledger) error { return l.EndCycle(ctx, record.Cycle{At: noon}, nil) },
		"release": func(ctx context.Context, l *store.Ledger) error {
			_, err := l.Release(ctx, []record.Held{held(11, "IC_9")})
			return err
		},
		"forget": func(ctx context.Context, l *store.Ledger) error {
			rec, err := l.Record(ctx, ref(1))
			if err == nil {
				_, err = l.Commit(ctx, ref(1), rec.Item.Rev, []record.Change{observe(ref(1), fmt.Sprint(rec.Item.Rev))})
			}
			if err != nil {
				return err
			}
			return l.ForgetAll(ctx, refs()[:1])
		},
		"expire": func(ctx context.Context, l *store.Ledger) error { _, err := l.Expire(ctx, noon); return err },
	}
}

// mayFail is an error that a use of a file that was cut short may end in: one
// that says that it was, or for a reader nothing at all.
func mayFail(err error) bool {
	var damaged *store.DamagedError
	return err == nil || errors.As(err, &damaged) && strings.Contains(err.Error(), "the-loop ledger check")
}

// TestHarmedInEveryUse: a ledger that is cut short at any page or overwritten
// under the process ends whatever it is asked for in an error that names it, and
// nothing is written into what is left.
func TestHarmedInEveryUse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 40)
	runs(t, "uses", path)
}

func childUses(args []string) error {
	ctx := context.Background()
	whole, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	n, told := 0, map[string]bool{}
	for name, use := range uses() {
		for what, left := range harmed(whole) {
			n++
			path := fmt.Sprint(args[0], ".", n) // one that met a fault stays locked
			err := withHarm(ctx, path, whole, left, use)
			if !mayFail(err) {
				return fmt.Errorf("%s, %s: %w", name, what, err)
			}
			told[name] = told[name] || err != nil
			if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, left) {
				return fmt.Errorf("%s, %s: it was written to (%w)", name, what, err)
			}
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		if !told[name] {
			return fmt.Errorf("%s never noticed", name)
		}
	}
	return nil
}

// harmed is what may be left of a ledger.
func harmed(whole []byte) map[string][]byte {
	all := map[string][]byte{
		"zeros": make([]byte, len(whole)),
		"text":  bytes.Repeat([]byte("a log line\n"), len(whole)/11+1),
	}
	for size := 0; size < len(whole)/2; size += 8192 { // more than half of it is in use
		all[fmt.Sprint("the first ", size, " bytes")] = whole[:size]
	}
	return all
}

// withHarm opens a ledger, puts something else into its file and uses it.
func withHarm(ctx context.Context, path string, whole, left []byte, use func(context.Context, *store.Ledger) error) error {
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		return err
	}
	l, err := store.Open(ctx, options(path))
	if err == nil {
		err = l.Damage(ctx)
	}
	if err != nil {
		return err
	}
	if bytes.HasPrefix(whole, left) {
		err = os.Truncate(path, int64(len(left)))
	} else {
		err = overwrite(path, left)
	}
	if err != nil {
		return err
	}
	failed := use(ctx, l)
	if l.Damage(ctx) == nil {
		failed = errors.New("it is said to be sound")
	}
	return errors.Join(failed, l.Close())
}

// overwrite puts other bytes into a file without cutting it short first.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// TestCutAtAnyMoment is the same while all of it goes on: the process lives,
// nothing waits for ever, and in the end every use says what is wrong. (Only a
// file that loses its very first pages while a transaction begins is left out.)
func TestCutAtAnyMoment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 60)
	runs(t, "races", path, fmt.Sprint(rounds(t, 10)))
}

func childRaces(args []string) error {
	whole, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscan(args[1], &n); err != nil {
		return err
	}
	for round := range n {
		if err := cutRace(fmt.Sprint(args[0], ".", round), whole, 8192+rand.IntN(len(whole)/2-8192)); err != nil {
			return err
		}
	}
	return nil
}

// cutRace uses a ledger in every way at once, and cuts it short meanwhile.
func cutRace(path string, whole []byte, size int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		return err
	}
	l, err := store.Open(ctx, options(path))
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	begun, ends := make(chan struct{}, 1), make(chan error, len(uses()))
	for name, use := range uses() {
		all.Go(func() {
			for {
				err := use(ctx, l)
				select {
				case begun <- struct{}{}:
				default:
				}
				var row *store.RowError
				switch {
				case errors.As(err, &row): // the cut goes through the middle of it: the rest of its page is zeros
				case err != nil:
					ends <- fmt.Errorf("%s: %w", name, err)
					return
				}
			}
		})
	}
	for range 1 + rand.IntN(20) {
		<-begun
	}
	err = os.Truncate(path, int64(size))
	all.Wait()
	close(ends)
	for end := range ends {
		if !mayFail(end) {
			err = errors.Join(err, end)
		}
	}
	return errors.Join(err, l.Close())
}

// TestReaderOutlivesDamage: a transaction that is open when the first pages of
// the file go ends, whatever is asked meanwhile: nobody dies with the locks that
// it needs for that.
func TestReaderOutlivesDamage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 5)
	l := open(t, path)
	slow := slowWriter{begun: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error)
	go func() { ended <- l.Backup(t.Context(), slow) }()
	<-slow.begun
	must(t, os.Truncate(path, 0))
	for name, use := range uses() {
		if err := use(t.Context(), l); err == nil || !mayFail(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(slow.goOn)
	select {
	case err := <-ended:
		if err == nil || !mayFail(err) {
			t.Errorf("the reader: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the reader waits for ever")
	}
	closes(t, l)
}

// slowWriter takes its first bytes and waits.
type slowWriter struct{ begun, goOn chan struct{} }

func (w slowWriter) Write(b []byte) (int, error) {
	select {
	case <-w.begun:
	default:
		close(w.begun)
		<-w.goOn
	}
	return len(b), nil
}

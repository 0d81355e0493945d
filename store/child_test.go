package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"theloop/record"
	"theloop/store"
)

// children is what a child process can be told to do; more of it is in
// child_unix_test.go.
func children() map[string]func(args []string) error {
	all := map[string]func([]string) error{
		"hold":    childHold,
		"commit":  childCommit,
		"cut":     childCut,
		"refill":  childRefill,
		"uses":    childUses,
		"races":   childRaces,
		"check":   childCheck,
		"release": childRelease,
		"migrate": childMigrate,
	}
	addUnixChildren(all)
	return all
}

// childHold opens the ledger and keeps it until its input ends.
func childHold(args []string) error {
	opts := options(args[0])
	opts.Timeout = 300 * time.Millisecond
	l, err := store.Open(context.Background(), opts)
	var inUse *store.InUseError
	if errors.As(err, &inUse) {
		fmt.Println("in use")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return l.Close()
}

// childCommit spends one attempt after the other, and says so after each.
func childCommit(args []string) error {
	ctx := context.Background()
	l, err := store.Open(ctx, options(args[0]))
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		r := ref(n%7 + 1)
		rec, err := l.Record(ctx, r)
		if err != nil {
			return err
		}
		id := fmt.Sprintf("IC_%d", rec.Comments.Len()+1)
		if _, err := l.Commit(ctx, r, rec.Item.Rev, queued(id)); err != nil {
			return err
		}
		fmt.Println(r, id)
	}
}

// childCut cuts the file short while it is open: every call afterwards either
// still answers from what is there or says what is wrong, and Close returns.
func childCut(args []string) error {
	ctx := context.Background()
	size, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	l, err := store.Open(ctx, options(args[0]))
	if err != nil {
		return err
	}
	if err := os.Truncate(args[0], size); err != nil {
		return err
	}
	var damaged *store.DamagedError
	for n := range 40 {
		if _, err := l.Record(ctx, ref(n+1)); err != nil && !errors.As(err, &damaged) {
			return fmt.Errorf("read: %w", err)
		}
	}
	if damaged == nil && size == 0 {
		return errors.New("an empty file was read without an error")
	}
	if _, err := l.Check(ctx); !errors.As(err, &damaged) {
		return fmt.Errorf("check: %w", err)
	}
	_, err = l.Commit(ctx, ref(1), 1, []record.Change{record.Withhold{Author: "x"}})
	if !errors.As(err, &damaged) {
		return fmt.Errorf("commit: %w", err)
	}
	if err := l.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if info, err := os.Stat(args[0]); err != nil || info.Size() != size {
		return fmt.Errorf("the file was touched: %d bytes, %w", info.Size(), err)
	}
	return nil
}

// childRefill cuts copies of a ledger at every page while they are open, and
// writes. Where a start would refuse what is left, the write does as well: it
// must not put holes where the rest was.
func childRefill(args []string) error {
	ctx := context.Background()
	whole, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for size := 4096; size < len(whole); size += 4096 {
		path := fmt.Sprint(args[0], ".", size)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			return err
		}
		l, err := store.Open(ctx, options(path))
		if err != nil {
			return err
		}
		if err := os.Truncate(path, int64(size)); err != nil {
			return err
		}
		if err := os.WriteFile(path+".left", whole[:size], 0o600); err != nil {
			return err
		}
		_, refused := store.Open(ctx, options(path+".left"))
		err = l.EndCycle(ctx, record.Cycle{}, nil)
		var damaged *store.DamagedError
		if errors.As(refused, &damaged) != errors.As(err, &damaged) {
			return fmt.Errorf("cut to %d bytes: %w; a start would say: %w", size, err, refused)
		}
		if info, err := os.Stat(path); refused != nil && (err != nil || info.Size() != int64(size)) {
			return fmt.Errorf("cut to %d bytes: it has %d (%w)", size, info.Size(), err)
		}
	}
	return nil
}

//go:build unix

package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

func addUnixChildren(all map[string]func([]string) error) {
	all["full-create"] = childFullCreate
	all["full-commit"] = childFullCommit
	addLinuxChildren(all)
}

// limitFiles makes writing behind an offset fail, as a full disk does; -1 lifts
// the limit.
func limitFiles(size int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	if size >= 0 {
		limit.Cur = uint64(size)
	}
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
}

// childFullCreate makes ledgers with more and more room until one fits.
func childFullCreate(args []string) error {
	ctx := context.Background()
	failed := 0
	for size := int64(0); ; size += 4096 {
		dir := filepath.Join(args[0], fmt.Sprint(size))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		path := filepath.Join(dir, "ledger.db")
		if err := limitFiles(size); err != nil {
			return err
		}
		l, err := store.Open(ctx, options(path))
		if lifted := limitFiles(-1); lifted != nil {
			return lifted
		}
		if err == nil && failed > 3 {
			return l.Close()
		}
		if err == nil {
			return fmt.Errorf("%d bytes were enough", size)
		}
		failed++
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			return fmt.Errorf("with room for %d bytes: %s was left behind (%w)", size, left[0].Name(), err)
		}
		if l, err = store.Open(ctx, options(path)); err != nil {
			return fmt.Errorf("open with room again: %w", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
}

// childFullCommit commits until the file cannot grow, and goes on when it can.
func childFullCommit(args []string) error {
	ctx := context.Background()
	l, err := store.Open(ctx, options(args[0]))
	if err != nil {
		return err
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return err
	}
	if err := limitFiles(info.Size()); err != nil {
		return err
	}
	commit := func() (record.Record, error) {
		rec, err := l.Record(ctx, ref(1))
		if err != nil {
			return rec, err
		}
		item := workitem.Item{Ref: ref(1), Title: strings.Repeat("x", 500*int(rec.Item.Rev+1))}
		_, err = l.Commit(ctx, ref(1), rec.Item.Rev, []record.Change{record.Observe{Item: item}})
		return rec, err
	}
	var before record.Record
	for err == nil {
		before, err = commit()
	}
	if !errors.Is(err, record.ErrUnknown) || !errors.Is(err, unix.EFBIG) && !strings.Contains(err.Error(), "too large") {
		return fmt.Errorf("a full disk: %w", err)
	}
	for range 3 { // it stays up, and nothing is lost
		if after, err := commit(); !errors.Is(err, record.ErrUnknown) || after.Item.Rev != before.Item.Rev {
			return fmt.Errorf("revision %d after %d: %w", after.Item.Rev, before.Item.Rev, err)
		}
	}
	if err := limitFiles(-1); err != nil {
		return err
	}
	if _, err := commit(); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	rec, err := l.Record(ctx, ref(1))
	if err != nil || rec.Item.Rev != before.Item.Rev+1 {
		return fmt.Errorf("revision %d after %d: %w", rec.Item.Rev, before.Item.Rev, err)
	}
	problems, err := l.Check(ctx)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v, %w", problems, err)
	}
	return l.Close()
}

// fault touches a page that is not there.
func fault() {
	f, err := os.CreateTemp("", "fault-*")
	if err != nil {
		return
	}
	_ = os.Remove(f.Name())
	_ = f.Truncate(4096)
	page, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return
	}
	_ = f.Truncate(0)
	fmt.Println(page[0])
}

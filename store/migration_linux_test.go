package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"theloop/store"
)

// TestMigratePowerCut makes the files that a power cut at any moment of a
// migration would leave: each is the old ledger or the migrated one, and where
// the old one is gone its copy is on the disk.
func TestMigratePowerCut(t *testing.T) {
	dir := fastFolder(t)
	path := filepath.Join(dir, store.File)
	populate(t, path, 60)
	old, _ := sumOf(t, options(path))
	d := laid(t, path)
	calls := traced(t, nil, "migrate", path)
	migrated, _ := sumOf(t, later(path))
	images := make(chan image)
	go func() {
		defer close(images)
		random := rand.New(rand.NewPCG(5, 6))
		for i, c := range calls {
			if c.syncs() {
				d.images(rounds(t, 8), random, func(files map[string][]byte) { images <- image{files: files, at: i} })
			}
			d.do(c)
		}
	}()
	n, new := 0, 0
	for im := range images {
		n++
		is, err := im.migrated(t.Context(), fastFolder(t), old, migrated)
		if err != nil {
			t.Errorf("a power cut before call %d of %d: %v", im.at, len(calls), err)
			continue
		}
		if is {
			new++
		}
	}
	t.Logf("%d calls, %d images, %d of them migrated", len(calls), n, new)
	if n < 100 || new < 2 {
		t.Errorf("only %d images were tried, %d of them migrated", n, new)
	}
}

// migrated reports whether the ledger that was left is the migrated one.
func (i image) migrated(ctx context.Context, dir string, old, migrated uint64) (bool, error) {
	defer os.RemoveAll(dir)
	for name, data := range i.files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return false, err
		}
	}
	path := filepath.Join(dir, store.File)
	is, err := eitherState(ctx, path)
	if err != nil || is == old {
		return false, err
	}
	if is != migrated {
		return false, errors.New("it is neither of the two")
	}
	kept, _, err := sumWith(ctx, options(path+".v1.bak"))
	if err == nil && kept != old {
		err = errors.New("the copy is another ledger")
	}
	return true, err
}

// TestMigrateInjected lets every single call fail that a migration makes: the
// ledger is the old one or the migrated one, nothing half made is left, and the
// next start has it migrated, with one copy.
func TestMigrateInjected(t *testing.T) {
	needsStrace(t)
	for _, f := range []struct {
		call, errno string
		least       int
	}{{"pwrite64", "ENOSPC", 20}, {"fdatasync", "EIO", 2}, {"fsync", "EIO", 4}, {"ftruncate", "ENOSPC", 1}} {
		t.Run(f.call, func(t *testing.T) {
			t.Parallel()
			dir := fastFolder(t)
			populate(t, filepath.Join(dir, "whole"), 60)
			cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-o", os.DevNull, "-e", "signal=none", "-e", "trace="+f.call,
				"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", f.call, f.errno, nth), os.Args[0], dir, f.call)
			cmd.Env = append(childEnv("migrate-injected"), "GODEBUG=asyncpreemptoff=1")
			out, err := cmd.CombinedOutput()
			said := regexp.MustCompile(`(\d+) calls failed`).FindSubmatch(out)
			if err != nil || said == nil {
				t.Fatalf("%v\n%s", err, tail(out))
			}
			if n, _ := strconv.Atoi(string(said[1])); n < f.least {
				t.Errorf("only %d calls failed", n)
			}
		})
	}
}

// childMigrateInjected migrates a ledger with the first, second, … call failing
// until none does.
func childMigrateInjected(args []string) error {
	dir, call := args[0], args[1]
	path := filepath.Join(dir, store.File)
	ctx := context.Background()
	whole, err := os.ReadFile(filepath.Join(dir, "whole"))
	if err != nil {
		return err
	}
	old, _, err := sumWith(ctx, options(filepath.Join(dir, "whole")))
	if err != nil {
		return err
	}
	migrate := func() error {
		l, err := store.Open(ctx, later(path))
		if err != nil {
			return err
		}
		return l.Close()
	}
	failed, quiet := 0, 0
	for n := 1; quiet < 5; n++ {
		_ = os.Remove(path + ".v1.bak")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			return err
		}
		var failure error
		err := onThread(func() error {
			if err := (&scenario{dir: dir}).burn(call, nth-n); err != nil {
				return fmt.Errorf("before it: %w", err)
			}
			failure = migrate()
			return nil
		})
		if quiet++; failure != nil {
			failed, quiet = failed+1, 0
		}
		if err == nil {
			err = onThread(func() error { return migratedAfter(ctx, path, old, failure, migrate) })
		}
		if err != nil {
			return fmt.Errorf("with call %d failing (%v): %w", n, failure, err)
		}
	}
	fmt.Println(failed, "calls failed")
	return nil
}

// migratedAfter looks at what a migration left that failed, or did not.
func migratedAfter(ctx context.Context, path string, old uint64, failure error, migrate func() error) error {
	is, err := eitherState(ctx, path)
	if err != nil {
		return err
	}
	if is != old { // then its own check has to find nothing
		if problems, err := store.CheckFileWith(ctx, later(path)); err != nil || len(problems) > 0 {
			return fmt.Errorf("check: %v, %w", problems, err)
		}
	}
	if is == old && failure == nil {
		return errors.New("it is not migrated and nobody says so")
	}
	if err := migrate(); err != nil {
		return fmt.Errorf("the next start: %w", err)
	}
	if kept, _, err := sumWith(ctx, options(path+".v1.bak")); err != nil || kept != old {
		return fmt.Errorf("the copy is another ledger: %w", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		switch e.Name() {
		case "whole", "scratch", store.File, store.File + ".v1.bak":
		default:
			return fmt.Errorf("%s is left behind", e.Name())
		}
	}
	return err
}

// migrateWithoutRoom is tried on a full disk: the copy has no room, so the ledger
// stays as it is, and with room it is migrated.
func migrateWithoutRoom(dir, path string) error {
	ctx := context.Background()
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	release, err := occupy(dir, 4096)
	if err != nil {
		return err
	}
	_, failed := store.Open(ctx, later(path))
	after, err := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	switch {
	case err != nil:
		return err
	case !errors.Is(failed, unix.ENOSPC) || !regexp.MustCompile(`copy it to .*v1\.bak first.*nothing was changed`).MatchString(failed.Error()):
		return fmt.Errorf("no room for the copy: %w", failed)
	case string(after) != string(before):
		return errors.New("no room for the copy, and the ledger was changed")
	case len(entries) != 2:
		return fmt.Errorf("no room for the copy, and %v lie there", entries)
	}
	if err := release(); err != nil {
		return err
	}
	l, err := store.Open(ctx, later(path))
	if err != nil {
		return fmt.Errorf("migrate with room: %w", err)
	}
	return l.Close()
}

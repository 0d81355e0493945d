package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// TestSmallDisk is a real disk that is full: the first creation on it leaves
// nothing, a commit on it is unknown (B9) and changes nothing, reading goes on,
// a migration has no room for its copy and changes nothing, and all of it works
// again, in the same process, once there is room.
func TestSmallDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], t.TempDir())
	cmd.Env = childEnv("small-disk")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (len(out) == 0 || strings.HasPrefix(string(out), noMount)) {
		t.Skipf("no file system can be mounted here (%v %s): a full disk is tried by TestFullDisk and TestFirstCreationOnAFullDisk alone, "+
			"with a limit on the size of files", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
}

const noMount = "mount: "

// childSmallDisk runs where nobody else sees what it mounts.
func childSmallDisk(args []string) error {
	dir := args[0]
	err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("none", dir, "tmpfs", 0, "size=300k")
	}
	if err != nil {
		fmt.Print(noMount)
		return err
	}
	path := filepath.Join(dir, store.File)
	if err := createWithoutRoom(dir, path); err != nil {
		return err
	}
	return fillUp(dir, path)
}

// createWithoutRoom makes a ledger with more and more room until one fits.
func createWithoutRoom(dir, path string) error {
	for room := 0; ; room += 4096 {
		release, err := occupy(dir, room)
		if err != nil {
			return err
		}
		l, failed := store.Open(context.Background(), options(path))
		left, err := os.ReadDir(dir)
		switch {
		case err != nil:
			return err
		case failed == nil && room < 4*4096:
			return fmt.Errorf("%d bytes of room were enough", room)
		case failed == nil:
			return errors.Join(l.Close(), release())
		case !errors.Is(failed, unix.ENOSPC):
			return fmt.Errorf("with %d bytes of room: %w", room, failed)
		case len(left) != 1:
			return fmt.Errorf("with %d bytes of room %s is left behind", room, left[1].Name())
		}
		if err := release(); err != nil {
			return err
		}
	}
}

// occupy fills the disk but for some room and returns what empties it again.
func occupy(dir string, room int) (release func() error, err error) {
	path := filepath.Join(dir, "filling")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	size := 0
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
		size += 4096
	}
	if !errors.Is(err, unix.ENOSPC) {
		return nil, err
	}
	err = f.Truncate(int64(size - 4096 - room))
	return func() error { return os.Remove(path) }, errors.Join(err, f.Close())
}

// fillUp commits until the disk is full, and goes on when there is room.
func fillUp(dir, path string) error {
	ctx := context.Background()
	l, err := store.Open(ctx, options(path))
	if err != nil {
		return err
	}
	release, err := occupy(dir, 16*4096)
	if err != nil {
		return err
	}
	commit := func() (uint64, error) {
		rec, err := l.Record(ctx, ref(1))
		if err != nil {
			return 0, fmt.Errorf("read: %w", err)
		}
		item := workitem.Item{Ref: ref(1), Title: strings.Repeat("x", 3000*int(rec.Item.Rev+1))}
		_, err = l.Commit(ctx, ref(1), rec.Item.Rev, []record.Change{record.Observe{Item: item}})
		return rec.Item.Rev, err
	}
	var rev uint64
	for err == nil {
		rev, err = commit()
	}
	for range 3 { // it stays up, and what is there is read as before
		if !errors.Is(err, record.ErrUnknown) || !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("a full disk: %w", err)
		}
		var after uint64
		if after, err = commit(); after != rev {
			return fmt.Errorf("revision %d, after %d: %w", after, rev, err)
		}
	}
	if err := release(); err != nil {
		return err
	}
	for range 3 {
		if _, err := commit(); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	problems, err := l.Check(ctx)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v, %w", problems, err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	return migrateWithoutRoom(dir, path)
}

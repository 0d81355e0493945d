package lock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func commandLine(pid int) string {
	f, err := os.Open(procPath(pid, "cmdline"))
	if err != nil {
		return ""
	}
	defer f.Close() // read only
	b, err := io.ReadAll(io.LimitReader(f, noteLimit))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
}

func hasOpen(path string, pid int) (open, known bool) {
	want, err := os.Lstat(path)
	if err != nil {
		return false, false
	}
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return false, false // no /proc, or that of another pid namespace
	}
	dir := procPath(pid, "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && os.SameFile(info, want) {
			return true, true
		}
	}
	return false, true
}

func procPath(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// checkName refuses what stands in the place of the pidfile and is no file (L9), before it is opened: opening a device can
// have effects of its own. No file is fine.
func checkName(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the pidfile: %w", err)
	}
	return checkKind(path, info)
}

func checkKind(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("pidfile %s is %s, not a file, and is not touched: find out who made it, then move it away with 'mv %s %s'",
		path, kindOf(path, info.Mode()), shellQuote(path), shellQuote(path+".old"))
}

func kindOf(path string, m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		if to, err := os.Readlink(path); err == nil {
			return fmt.Sprintf("a symlink to %s", to)
		}
		return "a symlink"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// shellQuote makes the remedy in a message safe to paste.
func shellQuote(path string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_%+=:,./][A-Za-z0-9_%+=:,./@-]*$`).MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

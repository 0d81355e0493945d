package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Where a configuration is looked for, after the flag.
const (
	EnvFile  = "THE_LOOP_CLI_CONFIG"
	fileName = ".the-loop/cli-config.yaml"
)

// NotFoundError is returned when no configuration file is where it was looked
// for.
type NotFoundError struct {
	Looked []string // absolute paths
	Named  string   // "--config" or "$THE_LOOP_CLI_CONFIG" when one of them named it
}

// Error says where and what to do.
func (e *NotFoundError) Error() string {
	if e.Named != "" {
		return fmt.Sprintf("no configuration file at %s, which %s names: correct the path, or make the file with 'the-loop config init --to FILE'",
			strings.Join(e.Looked, ", "), e.Named)
	}
	return fmt.Sprintf("no configuration file: looked for %s; make one with 'the-loop config init', or name one with --config FILE or $%s",
		strings.Join(e.Looked, " and "), EnvFile)
}

// Find returns the absolute path of the configuration file: the one that flag
// names, else the one $THE_LOOP_CLI_CONFIG names, else the first of
// ./.the-loop/cli-config.yaml and ~/.the-loop/cli-config.yaml. One that is
// named and missing is an error, never a reason to take another. The error is
// a *NotFoundError when there is none.
func Find(flag string, env func(string) string, cwd, home string) (string, error) {
	if flag != "" {
		return findNamed(flag, "--config", env, cwd, home)
	}
	if path := env(EnvFile); path != "" {
		return findNamed(path, "$"+EnvFile, env, cwd, home)
	}
	looked := []string{filepath.Join(cwd, fileName)}
	if home != "" && filepath.Clean(home) != filepath.Clean(cwd) {
		looked = append(looked, filepath.Join(home, fileName))
	}
	for _, path := range looked {
		if there, err := exists(path); there || err != nil {
			return path, err
		}
	}
	return "", &NotFoundError{Looked: looked}
}

func findNamed(path, by string, env func(string) string, cwd, home string) (string, error) {
	path, err := Resolve(path, env, cwd, home)
	if err != nil {
		return "", fmt.Errorf("find the configuration that %s names: %w", by, err)
	}
	there, err := exists(path)
	if err == nil && !there {
		err = &NotFoundError{Looked: []string{path}, Named: by}
	}
	if err != nil {
		return "", err
	}
	return path, nil
}

// exists tells apart a file that is not there from one that cannot be looked
// at: behind a closed folder might be the one that counts.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the configuration: %w", err)
	}
	return true, nil
}

var variable = regexp.MustCompile(`\$(?:\{[^}]*\}|[A-Za-z_][A-Za-z0-9_]*)`)

// Resolve makes a path of a flag, a variable or the file absolute: a ~ in
// front is home, $NAME and ${NAME} are looked up in env, what is relative is
// relative to cwd. An unknown variable is an error, since the path without it
// is another one.
func Resolve(path string, env func(string) string, cwd, home string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home == "" {
			return "", fmt.Errorf("resolve %s: the home directory is not known; write the path out", quote(path))
		}
		path = home + path[1:]
	}
	missing := ""
	path = variable.ReplaceAllStringFunc(path, func(name string) string {
		value := env(strings.Trim(name, "${}"))
		if value == "" {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("resolve the path: %s is not set; set it or write the path out", plain(missing))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path), nil
}

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"theloop/config"
	"theloop/view"
)

// version is set by the build; releases begin with a v.
var version = ""

// deps is the world outside: what a command reads and where it prints.
type deps struct {
	stdout, stderr io.Writer
	env            func(string) string
	cwd, home, exe string
	now            func() time.Time
}

func newDeps() (*deps, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory (was it removed?): %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program's own file: %w", err)
	}
	home, _ := os.UserHomeDir() // without one, ~ cannot be expanded and says so
	return &deps{
		stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv,
		cwd: cwd, home: home, exe: exe, now: time.Now,
	}, nil
}

// release is the version for people and records: the one the build set, or the
// module's, or dev.
func release() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func (d *deps) style() view.Style {
	file, ok := d.stdout.(*os.File)
	if !ok {
		return view.Style{}
	}
	_, tty := view.Terminal(file)
	return view.StyleFor(tty, d.env("NO_COLOR"), d.env("TERM"))
}

// width is how many columns the answer may take; 0 when it goes to a file.
func (d *deps) width() int {
	file, ok := d.stdout.(*os.File)
	if !ok {
		return 0
	}
	columns, _ := view.Terminal(file)
	return columns
}

func (d *deps) print(text string) error {
	_, err := io.WriteString(d.stdout, text)
	return err
}

func (d *deps) printJSON(v any) error {
	doc, err := view.JSON(v)
	if err != nil {
		return err
	}
	_, err = d.stdout.Write(doc)
	return err
}

func (d *deps) log() *slog.Logger {
	level := slog.LevelInfo
	if d.env("THE_LOOP_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(d.stderr, &slog.HandlerOptions{Level: level}))
}

// configFile finds the configuration file.
func (d *deps) configFile(g *Global) (string, error) {
	return config.Find(g.Config, d.env, d.cwd, d.home)
}

// load finds and reads the configuration.
func (d *deps) load(g *Global) (config.Config, []config.Problem, error) {
	path, err := d.configFile(g)
	if err != nil {
		return config.Config{}, nil, err
	}
	return config.Load(path)
}

// resolve makes a path of the configuration or of a flag absolute.
func (d *deps) resolve(path string) (string, error) {
	return config.Resolve(path, d.env, d.cwd, d.home)
}

// root is the state root that the configuration names.
func (d *deps) root(g *Global) (string, config.Config, error) {
	cfg, _, err := d.load(g)
	if err != nil {
		return "", cfg, err
	}
	root, err := d.resolve(cfg.State.Root)
	return root, cfg, err
}

// eventLog is where the decision trail of a configuration is.
func (d *deps) eventLog(root string, cfg config.Config) (string, error) {
	if cfg.EventLog.Path == "" {
		return filepath.Join(root, "logs", "events.jsonl"), nil
	}
	return d.resolve(cfg.EventLog.Path)
}

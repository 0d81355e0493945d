package main

import (
	"context"
	"fmt"

	"theloop/daemon"
	"theloop/escape"
	"theloop/migrate"
	"theloop/store"
)

type migrateGroup struct {
	ImportJSON importCmd `cmd:"" name:"import-json" help:"Bring the records of earlier releases into the ledger."`
	ExportJSON exportCmd `cmd:"" name:"export-json" help:"Write the ledger out in the format of earlier releases."`
}

type importCmd struct {
	format
	From        string `placeholder:"DIR|FILE" help:"A state root, a folder of records, or a poll-state.json; else the configured root."`
	DryRun      bool   `help:"Report what would be done and change nothing."`
	Overwrite   bool   `help:"Where ledger and file differ, the file wins."`
	NoSessions  bool   `help:"Make no session rows."`
	KeepGiveUps bool   `name:"keep-give-ups" help:"What was given up stays so, until the next release."`
}

// Help is shown by --help.
func (importCmd) Help() string {
	return `Reads what earlier releases kept, changes nothing of it, and may be run again: what is there already is unchanged. The
poller must be stopped.

Example: the-loop migrate import-json --dry-run

Exit codes: 0 done, also when there was nothing to import; 1 when something was invalid (it is listed, the rest is imported),
or when the ledger could not be written.`
}

// Run imports the records (L11, L12).
func (c *importCmd) Run(ctx context.Context, d *deps, g *Global) error {
	at, err := d.earlier(g, c.From)
	if err != nil {
		return err
	}
	files, err := migrate.Files(at.places)
	if err != nil {
		return err
	}
	if len(files) == 0 && !c.json() {
		return d.print(fmt.Sprintf("there are no records of earlier releases in %s: nothing to import\n", escape.Line(firstOf(c.From, at.root))))
	}
	ctx, done := stopSignals(ctx)
	defer done()
	report, err := c.run(ctx, d, at, c.DryRun || len(files) == 0) // with nothing to import, no ledger is made
	if err != nil {
		return err
	}
	report.DryRun = c.DryRun
	if c.json() {
		err = d.printJSON(report)
	} else {
		err = d.print(importText(report, d.now(), d.style()))
	}
	if err == nil && len(report.Invalid) > 0 {
		return no
	}
	return err
}

func (c *importCmd) run(ctx context.Context, d *deps, at earlier, dry bool) (r migrate.Report, err error) {
	bar := d.progress()
	defer bar.end()
	o := migrate.ImportOptions{
		Places: at.places, DryRun: dry, Overwrite: c.Overwrite, NoSessions: c.NoSessions, KeepGiveUps: c.KeepGiveUps,
		Host: daemon.HostID(), Version: release(), Now: d.now, Log: d.log(), Progress: bar.tell,
	}
	err = d.offline(ctx, at.root, "migrate import-json", dry, func(l *store.Ledger) (err error) {
		if l != nil {
			o.Ledger = l
		}
		r, err = migrate.Import(ctx, o)
		return err
	})
	if err == nil && !dry {
		at.emit("ledger.imported", map[string]int{
			"imported": r.Imported, "unchanged": r.Unchanged, "conflicts": len(r.Conflicts), "invalid": len(r.Invalid),
			"links": r.Links, "sessions": r.Sessions.Live + r.Sessions.Gone + r.Sessions.Foreign,
		})
	}
	return r, err
}

type exportCmd struct {
	format
	To       string `required:"" placeholder:"DIR" help:"The folder that gets portable/ and, with --sessions, local/."`
	Sessions bool   `help:"Write the handles of sessions too, so that an earlier release can go on with them."`
	Force    bool   `help:"Write although there are records; those of the same name are replaced."`
}

// Help is shown by --help.
func (exportCmd) Help() string {
	return `Writes one file per work item, as earlier releases kept them. What was imported and has not changed since comes out equal.
The poller must be stopped.

Example: the-loop migrate export-json --to way-back --sessions

Exit codes: 0 done; 1 when an item could not be read (it is listed, the rest is written), or the folder has records already.`
}

// Run exports the records. It holds the run lock, so that they are of one
// moment and no start waits for it.
func (c *exportCmd) Run(ctx context.Context, d *deps, g *Global) error {
	at, err := d.earlier(g, "")
	if err != nil {
		return err
	}
	if c.To == "" { // of a variable that is not set, say
		return usage("--to is empty: name the folder to export to")
	}
	to, err := d.resolve(c.To)
	if err != nil {
		return err
	}
	ctx, done := stopSignals(ctx)
	defer done()
	if err := d.needLedger(at.root); err != nil {
		return err
	}
	var out migrate.Exported
	bar := d.progress()
	err = d.offline(ctx, at.root, "migrate export-json", false, func(l *store.Ledger) error {
		export := func() (err error) {
			out, err = migrate.Export(ctx, migrate.ExportOptions{
				Ledger: l, To: to, Sessions: c.Sessions, Force: c.Force, Progress: bar.tell,
			})
			return err
		}
		if sameFolder(to, at.root) {
			return migrate.InStep(ctx, l, at.places, d.now, export)
		}
		return export()
	})
	bar.end()
	if err != nil {
		return err
	}
	at.emit("ledger.exported", map[string]int{"records": out.Records, "sessions": out.Sessions, "invalid": len(out.Invalid)})
	if c.json() {
		err = d.printJSON(out)
	} else {
		err = d.print(exportText(out, to, d.style()))
	}
	if err == nil && len(out.Invalid) > 0 {
		return no
	}
	return err
}

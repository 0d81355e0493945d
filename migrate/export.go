package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// Reader is what an export needs of the ledger; *store.Ledger is it.
type Reader interface {
	Record(context.Context, workitem.Ref) (record.Record, error)
	// Items yields each item in key order, without its comments.
	Items(context.Context) iter.Seq2[record.Record, error]
	Sources(context.Context) (map[string]record.SourceRow, error)
}

// ExportOptions say what is written and where.
type ExportOptions struct {
	Ledger Reader
	// To is the folder that gets a portable and, with Sessions, a local folder. It
	// is made, with its missing parents.
	To string
	// Sessions writes the handles of sessions too.
	Sessions bool
	// Force writes into folders that have records already. Files of the same name
	// are replaced, others stay.
	Force bool
	// Progress is told how many items of how many are done; nil is fine.
	Progress Progress
}

// Exported says what was written.
type Exported struct {
	Records  int `json:"records"`
	Sessions int `json:"sessions"`
	// Invalid are the items whose rows cannot be read.
	Invalid []Invalid `json:"invalid"`
}

const (
	indexName   = "index.json"
	portableDir = "portable"
	localDir    = "local"

	// maxName leaves room for what is put behind a name; file systems take 255.
	maxName = 200
	dirMode = 0o700 // records say who said what to whom
)

// Export writes the ledger's records as earlier releases kept them. Every file
// is whole or not there. Items that those releases would know nothing of (only
// bound to another's session) have no file.
func Export(ctx context.Context, o ExportOptions) (Exported, error) {
	if o.Progress == nil {
		o.Progress = func(Step, int, int) {}
	}
	x := &exporter{
		o: o, out: Exported{Invalid: []Invalid{}},
		members: map[string][]member{}, hosts: map[string]bool{}, names: map[string]bool{},
	}
	for _, step := range []func(context.Context) error{x.prepare, x.survey, x.write, x.index} {
		if err := step(ctx); err != nil {
			return x.out, err
		}
	}
	return x.out, nil
}

type exporter struct {
	o       ExportOptions
	out     Exported
	sources map[string]record.SourceRow
	refs    []workitem.Ref
	// members are the pull requests of each item, by its key.
	members map[string][]member
	// hosts are the items with a session of their own.
	hosts map[string]bool
	// names are the file names that are taken, in lower case.
	names   map[string]bool
	entries []indexEntry
}

// indexEntry is one record in the index that earlier releases keep beside them.
type indexEntry struct {
	Ref      string   `json:"ref"`
	URL      string   `json:"url"`
	File     string   `json:"file"`
	Sections []string `json:"sections"`
}

// prepare makes the folders, or refuses those that hold records.
func (x *exporter) prepare(context.Context) error {
	dirs := []string{portableDir}
	if x.o.Sessions {
		dirs = append(dirs, localDir)
	}
	for _, name := range dirs {
		dir := filepath.Join(x.o.To, name)
		found, err := (&place{kind: portables, path: dir}).files(seen{})
		if err != nil {
			return fmt.Errorf("look into the folder to export to: %w", err)
		}
		if len(found) > 0 && !x.o.Force {
			return fmt.Errorf("%s has records already (%s): export to another folder, or replace them with --force", dir, found[0].name)
		}
	}
	for _, name := range dirs {
		if err := os.MkdirAll(filepath.Join(x.o.To, name), dirMode); err != nil {
			return fmt.Errorf("make the folder to export to: %w; name another one", err)
		}
	}
	return nil
}

// survey finds out what there is, and which pull requests belong to which item.
func (x *exporter) survey(ctx context.Context) (err error) {
	if x.sources, err = x.o.Ledger.Sources(ctx); err != nil && !isRow(err) {
		return fmt.Errorf("read when the sources were listed: %w", err)
	}
	for rec, err := range x.o.Ledger.Items(ctx) {
		if isRow(err) {
			x.out.Invalid = append(x.out.Invalid, Invalid{Reason: err.Error()})
			continue
		}
		if err != nil {
			return fmt.Errorf("read the items of the ledger: %w", err)
		}
		ref, err := workitem.ParseRef(rec.Item.Ref)
		if err != nil {
			x.out.Invalid = append(x.out.Invalid, Invalid{Reason: fmt.Sprintf("the row of an item has no ref: %v", err)})
			continue
		}
		x.refs = append(x.refs, ref)
		x.hosts[ref.Key()] = rec.Session != nil
		x.member(ref, rec)
	}
	return nil
}

func isRow(err error) bool {
	var row *store.RowError
	return errors.As(err, &row)
}

func (x *exporter) member(ref workitem.Ref, rec record.Record) {
	if rec.Link == nil {
		return
	}
	target, err := workitem.ParseRef(rec.Link.Target)
	if err != nil {
		return
	}
	m := member{ref: ref, link: *rec.Link}
	if rec.Session != nil && readKept(rec.Session.Extra[keptKey]).Nested {
		m.session = rec.Session
	}
	x.members[target.Key()] = append(x.members[target.Key()], m) // in key order, as the items come
}

// write writes the files of every item.
func (x *exporter) write(ctx context.Context) error {
	for i, ref := range x.refs {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("export: stopped after %d of %d items: %w", i, len(x.refs), err)
		}
		rec, err := x.o.Ledger.Record(ctx, ref)
		if isRow(err) {
			x.out.Invalid = append(x.out.Invalid, Invalid{Reason: err.Error()})
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		if err := x.item(ref, rec); err != nil {
			return err
		}
		x.o.Progress(Exporting, i+1, len(x.refs))
	}
	return nil
}

// item writes what there is of one item.
func (x *exporter) item(ref workitem.Ref, rec record.Record) error {
	polledAt := rec.Item.ReadAt
	if at := x.sources[rec.Item.Source].CompleteAt; at.After(polledAt) {
		polledAt = at
	}
	name := x.name(ref)
	doc := formed(rec, polledAt)
	if sections := sectionsOf(doc); len(sections) > 0 || readKept(rec.Item.Sections).File {
		if err := writeDoc(filepath.Join(x.o.To, portableDir, name), doc); err != nil {
			return err
		}
		x.out.Records++
		x.entries = append(x.entries, indexEntry{rec.Item.Ref, rec.Item.URL, name, sections})
	}
	if !x.o.Sessions || rec.Session == nil || x.nested(rec) {
		return nil
	}
	x.out.Sessions++
	handle := formedHandle(ref, rec.Item.URL, *rec.Session, x.members[ref.Key()])
	return writeDoc(filepath.Join(x.o.To, localDir, name), handle)
}

// nested reports whether the item's session stands in the handle of another.
func (x *exporter) nested(rec record.Record) bool {
	if rec.Link == nil || !readKept(rec.Session.Extra[keptKey]).Nested {
		return false
	}
	target, err := workitem.ParseRef(rec.Link.Target)
	return err == nil && x.hosts[target.Key()]
}

// name is the file name of an item; a second one of the same name gets a hash
// (D6). Case does not tell files apart everywhere.
func (x *exporter) name(ref workitem.Ref) string {
	name := ref.Slug()
	if len(name) > maxName {
		name = name[:maxName] + "-" + ref.SlugHash()
	}
	if x.names[strings.ToLower(name)] {
		name += "-" + ref.SlugHash()
	}
	x.names[strings.ToLower(name)] = true
	return name + ".json"
}

// index writes the list of records that earlier releases keep beside them.
func (x *exporter) index(context.Context) error {
	if x.entries == nil {
		x.entries = []indexEntry{}
	}
	return writeDoc(filepath.Join(x.o.To, portableDir, indexName), object{"workItems": encode(x.entries)})
}

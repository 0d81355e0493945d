package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// subject is everything the files say of one work item.
type subject struct {
	ref workitem.Ref
	// doc is the record, with the sections of older places filled in; nil when
	// there is none, but a session or a link.
	doc      object
	file     string
	modified time.Time
	handle   *handle
	// handleFile is where the handle stands. nested says that it does as an entry
	// in that of an issue.
	handleFile string
	nested     bool
	link       *record.Link
	// told are comments that were delivered into the item's session and that no
	// record counts.
	told []string
}

func (s *subject) sealed() bool {
	sealed, _ := asFlag(s.doc["sealed"])
	return sealed
}

// collection is what all files say.
type collection struct {
	subjects map[string]*subject
	// lone holds, by key, the files of records that nothing else is said about.
	// There may be a hundred thousand of them: each is read again when its turn
	// comes, and not held meanwhile.
	lone   map[string]source
	report *Report
	// delivered holds, by tracker, the comments that sessions were given.
	delivered map[string]map[string]bool
	given     []given
	// merged holds, by key, where in the report the files of an item are listed.
	merged map[string]int
}

// given is one comment that a session was given.
type given struct {
	to workitem.Ref
	id string
}

// gather reads every file. Those that win come first. It returns the error of a
// context that has ended.
func gather(ctx context.Context, sources []source, r *Report, progress Progress) (*collection, error) {
	c := &collection{subjects: map[string]*subject{}, report: r, delivered: map[string]map[string]bool{}, merged: map[string]int{}}
	for i, f := range ahead(len(sources), func(i int) document { return read(sources[i], aheadBytes) }) {
		if f.late {
			f = read(sources[i], maxFile)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("import: stopped after %d of %d files were read, nothing was imported: %w", i, len(sources), err)
		}
		c.add(f)
		progress(Reading, i+1, len(sources))
	}
	c.resolve()
	return c, nil
}

// file is one that was read.
type file struct {
	source
	path     string
	modified time.Time
	data     []byte
	lines    *lines
}

// document is what stands in a file, or why it cannot be used and from which line
// on.
type document struct {
	file
	doc  object
	line int
	bad  string
	// late says that it was not read: it is larger than it might be.
	late bool
}

func read(s source, most int64) (d document) {
	d.source, d.path = s, s.path()
	var err error
	if d.data, d.modified, err = readFile(d.path, s.wasFile(), most); err != nil {
		d.late, d.bad = errors.Is(err, errLate), plainError(err)
		return d
	}
	d.lines = newLines(d.data)
	if d.doc, d.line, err = parse(d.data); err != nil {
		d.bad = err.Error()
	}
	return d
}

// add takes one file in, or lists why it cannot.
func (c *collection) add(d document) {
	switch {
	case d.bad != "":
		c.invalid(d.path, d.line, d.bad)
	case d.place.kind == portables:
		c.portable(d.file, d.doc)
	case d.place.kind == handles:
		c.handle(d.file, d.doc)
	case d.place.kind == controls:
		c.control(d.file, d.doc)
	case d.place.kind == polls:
		c.polls(d.file, d.doc)
	}
}

func (c *collection) invalid(path string, line int, reason string) {
	c.report.Invalid = append(c.report.Invalid, Invalid{path, line, reason})
}

// bad lists a fault; about says of what it is.
func (c *collection) bad(f file, about string, bad *fault) {
	where := ""
	for _, step := range bad.at {
		if key, ok := step.(string); ok && len(key) <= maxEcho {
			where += "." + strings.Trim(echo(key), `"`)
		}
	}
	reason := bad.reason
	if where != "" {
		reason = where[1:] + ": " + reason
	}
	c.invalid(f.path, f.lines.of(bad.at), about+reason)
}

// subject returns what is known of an item, to be added to.
func (c *collection) subject(ref workitem.Ref) *subject {
	s := c.find(ref.Key())
	if s == nil {
		s = &subject{ref: ref}
		c.subjects[ref.Key()] = s
	}
	return s
}

// find returns what is known of an item, nil when that is nothing.
func (c *collection) find(key string) *subject {
	if from, is := c.lone[key]; is {
		delete(c.lone, key)
		if s, _ := again(key, from, maxFile); s != nil {
			c.subjects[key] = s
		} else {
			c.changed(from)
		}
	}
	return c.subjects[key]
}

// again reads a record that is all there is about an item once more; nil when it
// is not what it was, or late: larger than it might be.
func again(key string, from source, most int64) (s *subject, late bool) {
	d := read(from, most)
	if ref, bad := refOf(d.doc["ref"]); d.bad == "" && bad == nil && ref.Key() == key {
		return &subject{ref: ref, doc: d.doc, file: d.path, modified: d.modified}, false
	}
	return nil, d.late
}

// changed lists a record that is not what it was when it was read first.
func (c *collection) changed(from source) {
	c.invalid(from.path(), 0, "it was changed while it was imported: import again")
}

// take returns what is known of an item, at its turn. A record that is all there is
// about an item is not kept: it is nil when that was changed meanwhile, or is late.
func (c *collection) take(key string, most int64) (s *subject, late bool) {
	if from, is := c.lone[key]; is {
		return again(key, from, most)
	}
	return c.subjects[key], false
}

// keys are those of all items, in order.
func (c *collection) keys() []string {
	keys := make([]string, 0, len(c.subjects)+len(c.lone))
	keys = slices.AppendSeq(keys, maps.Keys(c.subjects))
	keys = slices.AppendSeq(keys, maps.Keys(c.lone))
	slices.Sort(keys)
	return keys
}

// onlyThat stands before the fault of a part that does not spoil the rest.
const onlyThat = "this part is left out, the rest is imported: "

// twice lists the files that are about one item.
func (c *collection) twice(ref workitem.Ref, files ...string) {
	i, is := c.merged[ref.Key()]
	if !is {
		i = len(c.report.Merged)
		c.merged[ref.Key()] = i
		c.report.Merged = append(c.report.Merged, Merged{Ref: ref.String()})
	}
	m := &c.report.Merged[i]
	for _, file := range files {
		if !slices.Contains(m.Files, file) {
			m.Files = append(m.Files, file)
		}
	}
}

package migrate

import (
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
	report   *Report
	// delivered holds, by tracker, the comments that sessions were given.
	delivered map[string]map[string]bool
	given     []given
}

// given is one comment that a session was given.
type given struct {
	to workitem.Ref
	id string
}

// gather reads every file. Those that win come first.
func gather(sources []source, r *Report, progress Progress) *collection {
	c := &collection{subjects: map[string]*subject{}, report: r, delivered: map[string]map[string]bool{}}
	for i, s := range sources {
		c.read(s)
		progress(Reading, i+1, len(sources))
	}
	c.resolve()
	return c
}

// read takes one file in, or lists why it cannot.
func (c *collection) read(s source) {
	data, err := readFile(s.path)
	if err != nil {
		c.invalid(s.path, 0, plainError(err))
		return
	}
	doc, line, err := parse(data)
	if err != nil {
		c.invalid(s.path, line, err.Error())
		return
	}
	f := file{source: s, data: data}
	switch s.kind {
	case portables:
		c.portable(f, doc)
	case handles:
		c.handle(f, doc)
	case controls:
		c.control(f, doc)
	case polls:
		c.polls(f, doc)
	}
}

// file is one that was read.
type file struct {
	source
	data []byte
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
	c.invalid(f.path, lineOf(f.data, bad.at), about+reason)
}

func (c *collection) subject(ref workitem.Ref) *subject {
	s := c.subjects[ref.Key()]
	if s == nil {
		s = &subject{ref: ref}
		c.subjects[ref.Key()] = s
	}
	return s
}

// onlyThat stands before the fault of a part that does not spoil the rest.
const onlyThat = "this part is left out, the rest is imported: "

// twice lists the files that are about one item.
func (c *collection) twice(ref workitem.Ref, files ...string) {
	all := &c.report.Merged
	i := slices.IndexFunc(*all, func(m Merged) bool { return strings.EqualFold(m.Ref, ref.String()) })
	if i < 0 {
		i = len(*all)
		*all = append(*all, Merged{Ref: ref.String()})
	}
	m := &(*all)[i]
	for _, file := range files {
		if !slices.Contains(m.Files, file) {
			m.Files = append(m.Files, file)
		}
	}
}

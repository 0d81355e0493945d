package migrate

import (
	"path/filepath"

	"theloop/record"
)

// handle takes a session in. A file beside them that names no work item is
// something else's.
func (c *collection) handle(f file, doc object) {
	if _, has := doc["workItem"]; !has {
		return
	}
	h, bad := parseHandle(doc)
	if !h.ref.Zero() {
		c.deliveries(h)
	}
	if bad != nil {
		c.bad(f, "", bad)
		return
	}
	seen := map[string]bool{}
	for _, p := range h.pulls {
		if p.bad != nil {
			c.bad(f, onlyThat, p.bad.in(pullsKey))
		} else if key := p.ref.Key(); key != h.ref.Key() && !seen[key] {
			seen[key] = true
			c.pull(f, h, p)
		}
	}
	s := c.subject(h.ref)
	if s.handle != nil && !s.nested {
		if filepath.Dir(s.handleFile) == filepath.Dir(f.path) {
			c.twice(h.ref, s.handleFile, f.path)
		}
		if filepath.Dir(s.handleFile) != filepath.Dir(f.path) || !h.session.LastEventAt.After(s.handle.session.LastEventAt) {
			return
		}
	}
	s.handle, s.handleFile, s.nested = &h, f.path, false
}

// pull takes in a pull request that belongs to a session (P3). Of two issues
// that claim one, the first has it, unless it closed there.
func (c *collection) pull(f file, issue handle, p pull) {
	s := c.subject(p.ref)
	ended := p.session.Status == record.Shut
	if s.link != nil && (ended || !s.link.Ended) {
		return
	}
	s.link = &record.Link{Target: issue.ref.String(), Since: p.session.CreatedAt, Source: linkSource, Ended: ended}
	if s.handle == nil && !p.bound && !ended {
		s.handle, s.handleFile, s.nested = &p.handle, f.path, true
	}
}

// linkSource says of a link where it came from.
const linkSource = "import"

package migrate

import (
	"bytes"
	"maps"
	"time"

	"theloop/workitem"
)

// portable takes a record in.
func (c *collection) portable(f file, doc object) {
	ref, bad := refOf(doc["ref"])
	if bad != nil {
		c.bad(f, "", bad.in("ref"))
		return
	}
	if _, bad = asText(doc["url"]); bad != nil {
		c.bad(f, "", bad.in("url"))
		return
	}
	if _, bad = asFlag(doc["sealed"]); bad != nil {
		c.bad(f, "", bad.in("sealed"))
		return
	}
	if _, bad = parsePoll(doc["poll"]); bad != nil {
		c.bad(f, "", bad.in("poll"))
		return
	}
	if _, bad = parseControl(doc["control"]); bad != nil {
		c.bad(f, onlyThat, bad.in("control"))
	}
	s := c.find(ref.Key())
	if s == nil {
		if c.lone == nil {
			c.lone = map[string]source{}
		}
		c.lone[ref.Key()] = f.source
		return
	}
	if s.doc == nil {
		s.ref, s.doc, s.file, s.modified = ref, doc, f.path, f.modified
		return
	}
	c.twice(ref, s.file, f.path)
	if newerDoc(doc, f.modified, s.doc, s.modified) {
		s.ref, s.doc, s.file, s.modified = ref, mergeDocs(doc, s.doc), f.path, f.modified
	} else {
		s.doc = mergeDocs(s.doc, doc)
	}
}

// newerDoc says which of two records was written later: by what they say, else
// by their files.
func newerDoc(a object, aFile time.Time, b object, bFile time.Time) bool {
	aPolled, bPolled := polledAt(a), polledAt(b)
	if !aPolled.Equal(bPolled) {
		return aPolled.After(bPolled)
	}
	return aFile.After(bFile)
}

func polledAt(doc object) time.Time {
	p, _ := parsePoll(doc["poll"])
	return p.polledAt
}

// mergeDocs joins two records of one item. A section that the newer one has, or
// has emptied, wins; of the poll sections nothing that was finished with is lost.
func mergeDocs(newer, older object) object {
	merged := object{}
	maps.Copy(merged, without(older, "sealed"))
	maps.Copy(merged, newer)
	if isObject(newer["poll"]) && isObject(older["poll"]) {
		n, _ := asObject(newer["poll"])
		o, _ := asObject(older["poll"])
		merged["poll"] = encode(mergePolls(n, o))
	}
	return merged
}

// older fills a section in from an older place, unless a newer one has it or has
// emptied it, and reports whether it did.
func (c *collection) older(f file, ref workitem.Ref, key string, section []byte) bool {
	s := c.subject(ref)
	if s.doc == nil {
		s.ref, s.file, s.modified = ref, f.path, f.modified
		s.doc = object{"ref": encode(ref.String())}
	}
	_, has := s.doc[key]
	if has || s.sealed() {
		return false
	}
	s.doc[key] = section
	return true
}

// control takes in the control record of an older place.
func (c *collection) control(f file, doc object) {
	ref, bad := refOf(doc["ref"])
	if bad != nil {
		c.bad(f, "", bad.in("ref"))
		return
	}
	if _, bad = parseControl(f.data); bad != nil {
		c.bad(f, "", bad)
		return
	}
	c.older(f, ref, "control", bytes.TrimSpace(f.data))
}

// polls takes in the poll sections of an older place.
func (c *collection) polls(f file, doc object) {
	items, bad := asObject(doc["items"])
	if bad == nil && items == nil {
		bad = faultf("there is no poll state in it: the key items is missing")
	}
	if bad != nil {
		c.bad(f, "", bad.in("items"))
		return
	}
	filled := map[string]bool{} // from this file
	for _, key := range sortedKeys(items) {
		ref, err := workitem.ParseRef(key)
		if err != nil {
			c.bad(f, "", faultf("%v", err).in("items", key))
			continue
		}
		if _, bad := parsePoll(items[key]); bad != nil {
			c.bad(f, "", bad.in("items", key))
			continue
		}
		if filled[ref.Key()] { // another spelling of it in this file
			s := c.find(ref.Key())
			s.doc = mergeDocs(s.doc, object{"poll": items[key]})
			c.twice(ref, f.path, f.path)
			continue
		}
		filled[ref.Key()] = c.older(f, ref, "poll", items[key])
	}
}

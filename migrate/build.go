package migrate

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// wanted is what the files want the ledger to hold of an item.
type wanted struct {
	ref  workitem.Ref
	file string
	// isRecord says that there is a record, not only a session or a link.
	isRecord bool
	rec      record.Record
	// bytes is about how much the document holds.
	bytes int
	// The rest is for the report.
	handleFile   string
	handleStatus record.Status
	strange      []string
	retries      []Retry
}

// builder turns what the files say into records.
type builder struct {
	all     *collection
	host    string
	version string
	now     time.Time
	// keepGiveUps and noSessions are the options of that name.
	keepGiveUps, noSessions bool
}

// prepared is what the files want of an item.
type prepared struct {
	*wanted
	// changed says that its file is not what it was, late that it is too large to be
	// read before its turn.
	changed, late bool
}

// prepare only reads what the builder has, so that several may run at once. Of a
// file that is all there is about the item it takes so many bytes.
func (b builder) prepare(key string, most int64) prepared {
	s, late := b.all.take(key, most)
	if s == nil {
		return prepared{changed: !late, late: late}
	}
	return prepared{wanted: b.build(s)}
}

// build is pure but for looking whether a session's folder is here.
func (b builder) build(s *subject) *wanted {
	w := &wanted{ref: s.ref, file: cmp.Or(s.file, s.handleFile), isRecord: s.doc != nil, handleFile: s.handleFile}
	open := openSections(s.doc)
	p, _ := pollOf(open.poll)
	i := b.item(s, open)
	var rows []record.Comment
	if open.poll != nil && !s.sealed() {
		i.FirstSeenAt = firstSeen(b.now, p, s.handle)
		i.ReadAt = p.polledAt
		i.LateUntil = lateUntil(p, i, s.handle)
		i.InlineUntil = inlineUntil(p, b.now)
		i.Spawn = spawnRow(p)
		rows = b.rows(s, p)
		w.retries = b.retries(s.ref, p, rows)
	}
	if i.Control.Arming() { // X7
		i.Control.Served = i.Spawn.Attempts == 0 || i.Spawn.GaveUp
	}
	w.rec = record.Import{Item: i, Comments: rows, Link: b.link(s)}.Record()
	for _, part := range s.doc {
		w.bytes += len(part)
	}
	if s.doc != nil {
		doc, sections := recordParts(w.rec, i.ReadAt)
		w.rec.Item.Sections = kept{File: true, Form: recordForm(s.doc, open, doc, sections)}.encode()
	}
	if s.handle != nil && !b.noSessions {
		row := b.session(s)
		w.rec.Session, w.strange, w.handleStatus = &row, s.handle.strange, s.handle.session.Status
	}
	return w
}

// item is the row but for what the poll section says.
func (b builder) item(s *subject, open sections) record.Item {
	i := record.Item{Ref: s.ref.String()}
	i.Source, _, _ = strings.Cut(s.ref.Key(), "#") // so that it is asked for when it is not listed (P8)
	if s.doc == nil {
		if s.handle != nil {
			i.URL = s.handle.url
		}
		return i
	}
	i.URL, _ = asText(s.doc["url"])
	if control, bad := controlOf(open.control); bad == nil {
		i.Control = control
	}
	if !isNone(s.doc[graphKey]) {
		i.Graph = s.doc[graphKey]
	}
	i.Extra = without(s.doc, "ref", "url", controlKey, pollKey, graphKey, sealedKey)
	if s.sealed() {
		i.EndedAt = b.now
	}
	return i
}

// firstSeen is before everything that is known of the item: a session that was
// made later is not one of before a reopening (P8).
func firstSeen(now time.Time, p poll, h *handle) time.Time {
	at := now
	times := []time.Time{p.polledAt}
	if h != nil {
		times = append(times, h.session.CreatedAt, h.session.LastEventAt)
	}
	for _, t := range times {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	return at
}

// remembered is how many seen comments earlier releases kept of an item, the
// newest ones.
const remembered = 500

// lateUntil is zero unless the item may have more comments than were kept: those
// were dealt with too, and are told by their age (the last thing that is known
// to have happened).
func lateUntil(p poll, i record.Item, h *handle) (at time.Time) {
	if len(p.seen) < remembered {
		return time.Time{}
	}
	times := []time.Time{p.polledAt}
	if i.Control != nil {
		times = append(times, i.Control.RequestedAt)
	}
	if h != nil {
		times = append(times, h.session.LastEventAt)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// inlineID is how GitHub's ids of inline review comments begin, oldInlineID how
// those of before did: "024:PullRequestReviewCommen" in base64.
const inlineID, oldInlineID = "PRRC_", "MDI0OlB1bGxSZXF1ZXN0UmV2aWV3Q29tbWVu"

// inlineUntil is when the item was last looked at by a release that read no
// inline review comments: what they said up to then is old, and nobody expects
// it to be sent now. It is zero when the record names one: then whoever wrote it
// read them.
func inlineUntil(p poll, now time.Time) time.Time {
	for _, id := range slices.Concat(p.seen, p.gaveUp, sortedKeys(p.attempts)) {
		if strings.HasPrefix(id, inlineID) || strings.HasPrefix(id, oldInlineID) {
			return time.Time{}
		}
	}
	if p.polledAt.IsZero() {
		return now
	}
	return p.polledAt
}

func spawnRow(p poll) record.Spawn {
	s := record.Spawn{GaveUp: p.spawn.gaveUp}
	s.Attempts, s.DeliveryID = p.spawn.attempts, p.spawn.deliveryID
	if s.GaveUp {
		s.Version = p.version
	}
	s.MayRepeat = s.Attempts > 0 && !s.GaveUp
	return s
}

func (b builder) link(s *subject) *record.Link {
	if s.link == nil {
		return nil
	}
	link := *s.link
	link.Ended = link.Ended || s.sealed()
	return &link
}

// elsewhere is the host of a session whose folder is not here: whose machine it
// is was not written down.
const elsewhere = "elsewhere"

// session is the row of a handle.
func (b builder) session(s *subject) record.Session {
	row := s.handle.session
	row.Announced = linkSource // once per session, not per import (D12)
	row.Host = elsewhere
	if isFolder(row.Cwd) {
		row.Host = b.host
	}
	if s.sealed() {
		row.Status = record.Shut // a session that is not closed would not have been sealed (P8)
	}
	if row.Status == record.Shut {
		row.EndedAt = b.now
		for _, t := range []time.Time{row.LastEventAt, row.CreatedAt} {
			if !t.IsZero() {
				row.EndedAt = t
				break
			}
		}
	}
	k := kept{Nested: true}
	if !s.nested {
		url := b.item(s, sections{}).URL
		k = keepHandle(*s.handle, url, row, b.members(s))
	}
	row.Extra = object{keptKey: k.encode()}
	return row
}

func isFolder(path string) bool {
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// members are the pull requests of a handle that are bound to its item.
func (b builder) members(s *subject) []member {
	var members []member
	seen := map[string]bool{}
	for _, p := range s.handle.pulls {
		pr := b.all.subjects[p.ref.Key()]
		if p.bad != nil || pr == nil || pr.link == nil || pr.link.Target != s.handle.ref.String() || seen[p.ref.Key()] {
			continue
		}
		seen[p.ref.Key()] = true
		m := member{ref: p.ref, link: *b.link(pr)}
		if pr.nested && pr.handleFile == s.handleFile {
			row := b.session(pr)
			m.session = &row
		}
		members = append(members, m)
	}
	sortMembers(members)
	return members
}

func sortMembers(members []member) {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.ref.Key(), b.ref.Key()) })
}

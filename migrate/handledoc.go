package migrate

import (
	"encoding/json"
	"fmt"

	"theloop/record"
	"theloop/workitem"
)

// keptKey is where the extra of a session row holds how its handle was written.
const keptKey = "import"

// member is a pull request that belongs to the session of a handle; its session
// is nil when it has none, or a handle of its own.
type member struct {
	ref     workitem.Ref
	session *record.Session
	link    record.Link
}

// handleDoc is the document of a session as it would be written here; order is
// that of its pull requests, which stand in it by their keys.
func handleDoc(ref workitem.Ref, url string, s record.Session, members []member) (doc object, order []string) {
	doc = sessionDoc(ref, s)
	if url != "" {
		doc["url"] = encode(url)
	}
	entries := object{}
	for _, m := range members {
		entries[m.ref.Key()] = encode(m.doc())
		order = append(order, m.ref.Key())
	}
	doc[pullsKey] = encode(entries)
	return doc, order
}

const pullsKey = "pullRequests"

func (m member) doc() object {
	s := m.session
	if s == nil {
		s = &record.Session{Status: record.Active, CreatedAt: m.link.Since}
	}
	doc := sessionDoc(m.ref, *s)
	if m.link.Ended {
		doc["status"] = encode(record.Shut)
	}
	return doc
}

// sessionDoc is what a handle says of one session. Its deliveries are those it
// was imported with: later ones are among the seen comments.
func sessionDoc(ref workitem.Ref, s record.Session) object {
	item := map[string]any{
		"ref": ref.String(), "provider": ref.Provider, "owner": ref.Owner, "repo": ref.Repo, "number": ref.Number,
	}
	if ref.Host != "" {
		item["host"] = ref.Host
	}
	last := encode(nil)
	if !s.LastEventAt.IsZero() {
		last = encode(timeText(s.LastEventAt))
	}
	return object{
		"workItem": encode(item), "harness": encode(s.Harness), "harnessSessionId": encode(s.HarnessSessionID),
		"cwd": encode(s.Cwd), "status": encode(s.Status), "createdAt": encode(timeText(s.CreatedAt)),
		"lastEventAt": last, "tmuxTarget": encode(s.TmuxTarget), "recentDeliveries": encode([]string{}),
	}
}

// keepHandle returns how a handle was written, against how it would be.
func keepHandle(h handle, url string, s record.Session, members []member) kept {
	stood, wasOrder := keyed(h)
	written, order := handleDoc(h.ref, url, s, members)
	k := kept{File: true, Form: compareObjects(stood, written)}
	if fmt.Sprint(order) != fmt.Sprint(wasOrder) {
		k.Order = wasOrder
	}
	return k
}

// keyed is the document of a handle with its pull requests by their keys. One
// that cannot be read, or comes twice, has its place for a key.
func keyed(h handle) (doc object, order []string) {
	doc = without(h.raw)
	if isNone(doc[pullsKey]) {
		return doc, nil
	}
	entries := object{}
	for i, p := range h.pulls {
		key := p.ref.Key()
		if _, twice := entries[key]; twice || p.bad != nil {
			key = fmt.Sprintf("#%d", i)
		}
		entries[key] = p.raw
		order = append(order, key)
	}
	doc[pullsKey] = encode(entries)
	return doc, order
}

// formedHandle is the document of a session in the form that it was imported in.
func formedHandle(ref workitem.Ref, url string, s record.Session, members []member) object {
	k := readKept(s.Extra[keptKey])
	written, order := handleDoc(ref, url, s, members)
	doc := k.Form.applyObject(written)
	if !isObject(doc[pullsKey]) {
		return doc // it was absent or null, and still is
	}
	entries, _ := asObject(doc[pullsKey])
	list := []json.RawMessage{}
	for _, key := range append(k.Order, order...) {
		if entry, has := entries[key]; has {
			list = append(list, entry)
			delete(entries, key)
		}
	}
	for _, key := range sortedKeys(entries) { // unreadable ones behind
		list = append(list, entries[key])
	}
	doc[pullsKey] = encode(list)
	return doc
}

// sameHandle reports whether two session rows say the same of a conversation.
func sameHandle(a, b record.Session) bool {
	return a.Harness == b.Harness && a.HarnessSessionID == b.HarnessSessionID && a.Cwd == b.Cwd &&
		a.TmuxTarget == b.TmuxTarget && a.Status == b.Status && equalJSON(a.Extra[keptKey], b.Extra[keptKey])
}

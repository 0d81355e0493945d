package migrate

import (
	"slices"
	"strings"

	"theloop/record"
	"theloop/workitem"
)

// handle is what an earlier release kept of a session on its machine.
type handle struct {
	raw object
	ref workitem.Ref
	url string
	// session is the row it becomes; Host and EndedAt are not said.
	session record.Session
	// bound says that it names no conversation: a pull request that only belongs
	// to an issue's session.
	bound bool
	// deliveries are the ids of what was delivered into the session last.
	deliveries []string
	// strange says which fields have a form that nothing is done with.
	strange []string
	pulls   []pull
}

// pull is a pull request that belongs to a session. raw is the entry as it
// stands; bad says why it cannot be used.
type pull struct {
	handle
	raw []byte
	bad *fault
}

// parseHandle reads a session handle. What it says of deliveries and pull
// requests is good also beside a fault in the rest.
func parseHandle(doc object) (handle, *fault) {
	h := handle{raw: doc}
	var bad *fault
	if h.ref, bad = handleRef(doc); bad != nil {
		return h, bad
	}
	if h.deliveries, bad = asTexts(doc["recentDeliveries"]); bad != nil {
		return h, bad.in("recentDeliveries")
	}
	if h.pulls, bad = parsePulls(doc["pullRequests"]); bad != nil {
		return h, bad.in("pullRequests")
	}
	if h.url, bad = asText(doc["url"]); bad != nil {
		return h, bad.in("url")
	}
	h.session, bad = parseSession(doc)
	h.tame()
	return h, bad
}

func handleRef(doc object) (workitem.Ref, *fault) {
	item, bad := asObject(doc["workItem"])
	if bad != nil {
		return workitem.Ref{}, bad.in("workItem")
	}
	ref, bad := refOf(item["ref"])
	return ref, bad.in("workItem", "ref")
}

// refOf reads a ref; it must be there.
func refOf(raw []byte) (workitem.Ref, *fault) {
	text, bad := asText(raw)
	if bad != nil {
		return workitem.Ref{}, bad
	}
	ref, err := workitem.ParseRef(text)
	if err != nil {
		return workitem.Ref{}, faultf("%v", err)
	}
	return ref, nil
}

func parsePulls(raw []byte) ([]pull, *fault) {
	list, bad := asList(raw)
	if bad != nil {
		return nil, bad
	}
	pulls := make([]pull, len(list))
	for i, entry := range list {
		p := &pulls[i]
		p.raw = entry
		doc, bad := asObject(entry)
		if bad == nil {
			p.handle, bad = parseHandle(doc)
		}
		p.bad = bad.in(i)
	}
	return pulls, nil
}

func parseSession(doc object) (s record.Session, bad *fault) {
	status := string(record.Active)
	for _, field := range []struct {
		key string
		to  *string
	}{
		{"harness", &s.Harness}, {"harnessSessionId", &s.HarnessSessionID}, {"cwd", &s.Cwd},
		{"tmuxTarget", &s.TmuxTarget}, {"status", &status},
	} {
		text, bad := asText(doc[field.key])
		if bad != nil {
			return s, bad.in(field.key)
		}
		if field.key != "status" || text != "" {
			*field.to = text
		}
	}
	if s.Status = record.Status(status); !slices.Contains([]record.Status{record.Active, record.Paused, record.Shut}, s.Status) {
		return s, faultf("%s is no status; there are active, paused and closed", echo(status)).in("status")
	}
	if s.CreatedAt, bad = asTime(doc["createdAt"]); bad != nil {
		return s, bad.in("createdAt")
	}
	if s.LastEventAt, bad = asTime(doc["lastEventAt"]); bad != nil {
		return s, bad.in("lastEventAt")
	}
	return s, nil
}

// tame takes out what has a form that no release gave it, so that nothing is
// ever done with it (A5). It stays in the form of the document.
func (h *handle) tame() {
	h.bound = h.session.HarnessSessionID == "" && h.session.TmuxTarget == ""
	h.session.TmuxTarget = strings.NewReplacer(".", "_", ":", "_").Replace(h.session.TmuxTarget)
	for _, field := range []struct {
		name  string
		value *string
		good  func(string) bool
	}{
		{"harness", &h.session.Harness, record.IsHarness},
		{"harnessSessionId", &h.session.HarnessSessionID, record.IsConversation},
		{"cwd", &h.session.Cwd, record.IsFolder},
		{"tmuxTarget", &h.session.TmuxTarget, record.IsTmuxName},
	} {
		if *field.value != "" && !field.good(*field.value) {
			h.strange = append(h.strange, field.name)
			*field.value = ""
		}
	}
}

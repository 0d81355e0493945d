package session

import (
	"maps"
	"strings"

	"theloop/escape"
	"theloop/workitem"
)

// maxError is how much of an error an event carries.
const maxError = 500

// emit writes an event about the attempt.
func (j *job) emit(event string, fields map[string]any) {
	all := map[string]any{"delivery_id": j.deliveryID}
	all["gh_event"], all["action"] = j.kind()
	if j.row == "" {
		all["spawn"] = true
	}
	maps.Copy(all, fields)
	j.Host.emit(j.session, event, all)
}

// emit writes an event about an item's session; empty fields are left out.
func (h *Host) emit(ref workitem.Ref, event string, fields map[string]any) {
	all := map[string]any{"work_item": ref.String()}
	for name, value := range fields {
		if value != "" && value != nil {
			all[name] = value
		}
	}
	h.Emit(event, all)
}

func safeError(err error) string {
	if err == nil {
		return ""
	}
	return safeText(err.Error(), maxError)
}

// safeText makes one printable line of at most limit bytes of a text.
func safeText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if escape.Hidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return cut(s, limit)
}

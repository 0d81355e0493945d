package migrate

import (
	"fmt"
	"slices"

	"theloop/record"
)

// written reports an item that is in the ledger now.
func (in *importer) written(w *wanted, v verdict) {
	r := in.r
	if v.record {
		r.Imported++
		r.Retries = append(r.Retries, w.retries...)
		if !w.rec.Item.Known() && !w.rec.Item.Sealed() {
			r.FirstSight = append(r.FirstSight, w.ref.String())
		}
	}
	if v.link {
		r.Links++
	}
	if v.session {
		in.session(w)
	}
	in.o.Log.Debug("imported", "work_item", w.ref.String(), "comments", w.rec.Comments.Len(), "file", w.file)
}

// session reports a session row, and what of it nothing is done with.
func (in *importer) session(w *wanted) {
	s, r := w.rec.Session, &in.r.Sessions
	left := func(format string, args ...any) {
		r.Left = append(r.Left, Left{w.ref.String(), w.handleFile, fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Status == record.Shut:
		r.Gone++
	case s.Host == elsewhere:
		r.Foreign++
		if s.Cwd == "" {
			left("it names no folder to tell whether it is of this machine: it counts as no session")
		} else {
			left("its folder %s is not here: it counts as no session of this machine", echo(s.Cwd))
		}
	default:
		r.Live++
		r.Adopt = append(r.Adopt, w.ref.String())
	}
	if !slices.Contains([]record.Status{"", s.Status}, w.handleStatus) {
		left("its work item has ended: a session that still runs is left alone")
	}
	for _, field := range w.strange {
		left("its %s has a form that is not used: it is kept as it is and nothing is done with it", field)
	}
}

package session

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"theloop/record"
	"theloop/workitem"
)

//go:embed text/announcement.md
var announcementTemplate string

// owed begins Session.Announced while the announcement of that delivery's session
// is still to be posted. It is written with the session's row, so that a kill
// between the spawn and the post loses nothing (D12).
const owed = "owed "

// Announce posts the announcements that an earlier process owed, once each, in
// the background. Those that fail wait for the next start.
func (h *Host) Announce(ctx context.Context, refs []workitem.Ref) error {
	for _, ref := range refs {
		rec, err := h.Ledger.Record(ctx, ref)
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		h.announce(ref, h.local(rec))
	}
	return nil
}

// announce posts what the row owes, behind the session's own work (C6).
func (h *Host) announce(ref workitem.Ref, row *record.Session) {
	t, ok := h.tracker(ref)
	id := owedBy(row)
	if !ok || id == "" || !h.Settings().Announce {
		return
	}
	h.Later(ref, "announce "+id, func(ctx context.Context) error {
		err := h.postAnnouncement(ctx, t, ref, id)
		if err != nil {
			h.emit(ref, "session.announce_failed", map[string]any{"delivery_id": id, "error": safeError(err), "will_retry": true})
		}
		return err
	})
}

// owedBy is the delivery id of the announcement that a living session owes.
func owedBy(row *record.Session) string {
	if !row.Open() {
		return ""
	}
	id, ok := strings.CutPrefix(row.Announced, owed)
	if !ok {
		return ""
	}
	return id
}

// postAnnouncement says on the item that its session runs, unless that stands
// there already: whether an earlier post arrived is asked of the thread (D12).
func (h *Host) postAnnouncement(ctx context.Context, t Tracker, ref workitem.Ref, id string) error {
	rec, err := h.Ledger.Record(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	row := h.local(rec)
	if owedBy(row) != id {
		return nil // it ended meanwhile, or somebody else has said it
	}
	item := workitem.Item{Ref: ref, Kind: rec.Item.Kind, URL: rec.Item.URL, Title: rec.Item.Title, Source: rec.Item.Source}
	said, err := stands(ctx, t, item, announcedMarker(id))
	if err != nil {
		return fmt.Errorf("look for the announcement: %w", err)
	}
	if !said {
		if _, err := t.Post(ctx, ref, announcement(ref, row.TmuxTarget, id)); err != nil {
			return err
		}
	}
	h.Failpoint("announced")
	err = h.update(ctx, ref, func(rec record.Record) []record.Change {
		if owedBy(h.local(rec)) != id {
			return nil
		}
		return []record.Change{record.Announce{DeliveryID: id}}
	})
	if err != nil {
		return fmt.Errorf("record that it is announced: %w", err)
	}
	h.emit(ref, "session.announced", map[string]any{"delivery_id": id, "tmux_target": safeText(row.TmuxTarget, maxName)})
	return nil
}

// stands reports whether a marker of ours stands in the thread. It counts from
// our own account alone (A2): anybody can write it.
func stands(ctx context.Context, t Tracker, item workitem.Item, marker string) (bool, error) {
	self, err := t.Self(ctx)
	if err != nil {
		return false, err
	}
	thread, err := t.Comments(ctx, item)
	if err != nil {
		return false, err
	}
	for _, c := range thread {
		if sameAccount(c.Author, self) && strings.Contains(c.Body, marker) {
			return true, nil
		}
	}
	return false, nil
}

func sameAccount(a, b workitem.Author) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return !a.Nobody() && strings.EqualFold(a.Login, b.Login)
}

func announcedMarker(id string) string { return "<!-- the-loop:announced " + plain(id) + " -->" }

// announcement is what stands on the item: the session's name and how to attach
// to it. No path, no id of the conversation, no name of a machine.
func announcement(ref workitem.Ref, session, id string) string {
	return expand(announcementTemplate, map[string]string{
		"session": plain(session), "attach": "the-loop sessions attach " + ref.String(), "delivery_id": plain(id),
	})
}

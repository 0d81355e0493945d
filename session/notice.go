package session

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"theloop/record"
	"theloop/workitem"
)

//go:embed text/notice.md
var noticeTemplate string

//go:embed text/notice-spawn.md
var spawnNoticeTemplate string

//go:embed text/notice-too-long.md
var longNoticeTemplate string

// Notify posts the notice that a row owes: of a comment that was given up or is
// too long, or of the item's spawn when comment is empty (B3, A5). It is posted
// where the comment was written, behind the session's own work (C6), unless it
// stands there already; then the row says so. It reports whether the post was
// taken on.
func (h *Host) Notify(ref workitem.Ref, comment string) bool {
	t, ok := h.tracker(ref)
	if !ok {
		return false
	}
	return h.Later(ref, "notice "+comment, func(ctx context.Context) error {
		err := h.postNotice(ctx, t, ref, comment)
		if err != nil {
			h.emit(ref, "poll.giveup_report_failed", map[string]any{"comment_id": comment, "error": safeError(err)})
		}
		return err
	})
}

func (h *Host) postNotice(ctx context.Context, t Tracker, ref workitem.Ref, comment string) error {
	rec, err := h.Ledger.Record(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	body, marker, ok := notice(ref, rec, comment)
	if !ok {
		return nil // it was re-armed meanwhile, or somebody else has said it
	}
	item := workitem.Item{Ref: ref, Kind: rec.Item.Kind, URL: rec.Item.URL, Title: rec.Item.Title, Source: rec.Item.Source}
	said, err := stands(ctx, t, item, marker)
	if err != nil {
		return fmt.Errorf("look for the notice: %w", err)
	}
	if !said {
		if _, err := t.Post(ctx, ref, body); err != nil {
			return err
		}
	}
	h.Failpoint("noticed")
	err = h.update(ctx, ref, func(record.Record) []record.Change {
		return []record.Change{record.PostNotice{Comment: comment}}
	})
	if err != nil {
		return fmt.Errorf("record that it is posted: %w", err)
	}
	h.emit(ref, "poll.giveup_reported", map[string]any{"comment_id": comment})
	return nil
}

// notice makes the text that a row owes; ok is false when it owes none. It names
// the comment and never quotes it. The marker is of the id and the release, so
// that a give-up of another release has a notice of its own (story 19).
func notice(ref workitem.Ref, rec record.Record, comment string) (body, marker string, ok bool) {
	template, id, link := noticeTemplate, comment, ""
	var row record.Delivery
	version := rec.Item.Spawn.Version
	if comment == "" {
		template, row = spawnNoticeTemplate, rec.Item.Spawn.Delivery
		id = row.DeliveryID
		if rec.Item.Control != nil {
			link = rec.Item.Control.Note
		}
	} else if c, known := rec.Comments.Get(comment); known {
		row, version, link = c.Delivery, c.Version, c.URL
		if c.State == record.Settled {
			template = longNoticeTemplate
		}
	}
	if row.Notice != record.NoticeOwed {
		return "", "", false
	}
	marker = "<!-- the-loop:notice " + plain(id) + " " + plain(version) + " -->"
	named := "`" + plain(id) + "`"
	if plainLink(link) {
		named += " (" + link + ")"
	}
	return expand(template, map[string]string{
		"comment": named, "attempts": strconv.Itoa(row.Attempts), "item": ref.String(), "marker": marker,
		"longest": strconv.Itoa(MaxText>>10) + " KiB",
	}), marker, true
}

// plainLink reports whether a link may stand in a text of ours as it is.
func plainLink(link string) bool {
	return strings.HasPrefix(link, "https://") && !strings.ContainsFunc(link, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("<>()[]`\\\"'", r)
	})
}

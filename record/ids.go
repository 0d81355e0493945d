package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"theloop/workitem"
)

const commentDelivery = "poll-comment-"

// CommentDeliveryID is the delivery id of a comment: derived, so that the same
// comment has the same id after any restart.
func CommentDeliveryID(comment string) string { return commentDelivery + comment }

// SpawnDeliveryID is the delivery id of an item's n-th spawn without a comment.
func SpawnDeliveryID(ref workitem.Ref, n uint64) string {
	return fmt.Sprintf("poll-spawn-%s-%d", ref.Slug(), n)
}

// DeliveryComment returns the comment that a delivery id is for; ok is false
// for a spawn's.
func DeliveryComment(deliveryID string) (comment string, ok bool) {
	return strings.CutPrefix(deliveryID, commentDelivery)
}

// Mark is what a delivery leaves in the ring of its pane: 16 hex digits of the
// SHA-256 of its id (D3).
func Mark(deliveryID string) string {
	sum := sha256.Sum256([]byte(deliveryID))
	return hex.EncodeToString(sum[:8])
}

// TextHash is the SHA-256 of a comment's text, in hex (A6).
func TextHash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// Account returns the name that an author is listed under: a bot's ends in
// [bot], however its tracker spells the login. Rows keep it, so that their
// authors can be judged again by it alone (A1, A7).
func Account(a workitem.Author) string {
	if a.Nobody() || !a.Bot || strings.HasSuffix(strings.ToLower(a.Login), botSuffix) {
		return a.Login
	}
	return a.Login + botSuffix
}

const botSuffix = "[bot]"

// NoteOf returns what a row keeps of a comment.
func NoteOf(c workitem.Comment) Note {
	return Note{
		ID: c.ID, Author: c.Author, SHA256: TextHash(c.Body), URL: c.URL,
		At: c.CreatedAt, Surface: c.Surface, DatabaseID: c.DatabaseID,
	}
}

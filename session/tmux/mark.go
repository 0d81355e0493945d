package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// RingSize is how many deliveries a pane remembers at least (D3).
const RingSize = 20

// ringKeep is how many characters of the ring stay when a mark is added: 19 entries of at most 19 ("|_" + 16 + "|").
// Entries without "_" are one shorter, so a piece of an older entry may be left at the front; it matches nothing.
const ringKeep arg = "361"

// codedSession starts a harness session id that had to be written in hex; see sessionWord.
const codedSession = "x--"

// OwnerMark names whose pane it is (D6): the ledger's instance and 16 hex digits of the item key's SHA-256, so that two
// state roots on one server never take each other's sessions.
func OwnerMark(instance, itemKey string) string { return instance + "-" + Mark(itemKey) }

// letGo begins the owner mark of a pane that was closed while its harness goes on: nobody's session any more, and known
// again when its item is started again.
const letGo = "left-"

// LeftMark is the owner mark of a pane that Close has let go.
func LeftMark(owner string) string { return letGo + owner }

// Mark is 16 hex digits of the SHA-256 of a delivery id (D3). Delivery ids carry comment ids, which are not ours; this
// is.
func Mark(deliveryID string) string {
	sum := sha256.Sum256([]byte(deliveryID))
	return hex.EncodeToString(sum[:8])
}

// SessionName is the tmux session name of a slug (D6). tmux itself turns "." and ":" into "_", silently.
func SessionName(slug string) string {
	return "loop-" + strings.NewReplacer(".", "_", ":", "_").Replace(slug)
}

// parseRing reads "|a||_b|", oldest first; pieces that are not a whole mark are left out.
func parseRing(s string) []string {
	var marks []string
	for entry := range strings.SplitSeq(s, "|") {
		if isMark(strings.TrimPrefix(entry, "_")) {
			marks = append(marks, entry)
		}
	}
	return marks[max(0, len(marks)-RingSize):]
}

func isMark(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 16
}

// markWord lets a delivery's mark into an argument.
func markWord(mark string) (arg, error) {
	if !isMark(mark) {
		return "", fmt.Errorf("delivery mark %q: it must be 16 hex digits", mark)
	}
	return word("delivery mark", mark)
}

// sessionWord makes a harness session id fit for an option: ids are the harness's own and may hold anything.
func sessionWord(id string) (arg, error) {
	if a, err := word("harness session id", id); err == nil && !strings.HasPrefix(id, codedSession) {
		return a, nil
	}
	return word("harness session id", codedSession+hex.EncodeToString([]byte(id)))
}

func readSession(s string) string {
	coded, ok := strings.CutPrefix(s, codedSession)
	if raw, err := hex.DecodeString(coded); ok && err == nil {
		return string(raw)
	}
	return s
}

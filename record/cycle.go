package record

import "time"

// Cycle is the summary of one polling cycle, as the ledger keeps the last of
// them.
type Cycle struct {
	At                time.Time `json:"at"`
	DurationMS        int64     `json:"durationMs"`
	ItemsSeen         int       `json:"itemsSeen"`
	Spawns            int       `json:"spawns"`
	CommentsForwarded int       `json:"commentsForwarded"`
	Closures          int       `json:"closures"`
	Failures          int       `json:"failures"`
	Errors            int       `json:"errors"`
	Interrupted       bool      `json:"interrupted"`
}

// SourceRow says when a source was last listed, when completely, and until when
// it wants to be left alone.
type SourceRow struct {
	ID         string    `json:"id"`
	ListedAt   time.Time `json:"listedAt,omitzero"`
	CompleteAt time.Time `json:"completeAt,omitzero"`
	Error      string    `json:"error,omitempty"`
	// Until is set by a source that limits requests: it is not asked before (P7).
	Until time.Time `json:"until,omitzero"`
}

// Held names one delivery of one item: what a stopping queue gives back (B4).
type Held struct {
	Ref        string
	DeliveryID string
}

package inbox

import (
	"context"
	"fmt"

	"theloop/workitem"
)

// Links returns nothing: an inbox has no pull requests (P3).
func (s *Source) Links(ctx context.Context, it workitem.Item) (workitem.Links, error) {
	if err := s.owns(it.Ref); err != nil {
		return workitem.Links{}, fmt.Errorf("read links: %w", err)
	}
	return workitem.Links{}, ctx.Err()
}

// Closing returns nothing: nothing in an inbox closes an item of any source.
func (s *Source) Closing(ctx context.Context, _ []workitem.Ref) ([]workitem.Linked, error) {
	return nil, ctx.Err()
}

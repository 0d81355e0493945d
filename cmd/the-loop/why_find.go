package main

import (
	"context"
	"fmt"
	"strings"

	"theloop/localapi"
	"theloop/workitem"
)

// find returns the item, and the comment of it that is asked for, if one is.
func (c *ledgerWhyCmd) find(ctx context.Context, r reader) (item localapi.Item, comment *localapi.Comment, err error) {
	if ref, notRef := workitem.ParseRefOrURL(c.What); notRef == nil {
		if item, err = r.Item(ctx, ref); err != nil {
			return item, nil, err
		}
		for i := range item.Comments {
			if item.Comments[i].URL == c.What {
				return item, &item.Comments[i], nil
			}
		}
		if strings.Contains(c.What, "#issuecomment") || strings.Contains(c.What, "#discussion_r") || strings.Contains(c.What, "#pullrequestreview") {
			return item, nil, fmt.Errorf("%s has no comment %s in the ledger: it was not seen yet, or it was removed from the ledger", item.Ref, c.What)
		}
		return item, nil, nil
	}
	var refs []workitem.Ref
	err = r.Items(ctx, func(s localapi.Summary) error {
		ref, err := workitem.ParseRef(s.Ref)
		refs = append(refs, ref)
		return err
	})
	if err != nil {
		return item, nil, err
	}
	for _, ref := range refs {
		if item, err = r.Item(ctx, ref); err != nil {
			return item, nil, err
		}
		for i, row := range item.Comments {
			if row.ID == c.What || workitem.SameComment(row.ID, c.What) {
				return item, &item.Comments[i], nil
			}
		}
	}
	return item, nil, &noComment{id: c.What}
}

// noComment is returned for what may be a comment's id, and is none that is known.
type noComment struct {
	id string
	// meant is the work item that it may be another spelling of.
	meant string
}

func (e *noComment) Error() string {
	text := fmt.Sprintf("no work item of the ledger has a comment %s: it was not seen yet, or its author's words were never read", e.id)
	if e.meant != "" {
		return text + "; did you mean the work item " + e.meant + "?"
	}
	return text + "; 'the-loop ledger inspect REF' lists those of a work item"
}

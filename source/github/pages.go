package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	gogithub "github.com/google/go-github/v88/github"
)

const (
	// perPage is the most that GitHub gives.
	perPage = "100"
	// maxPages bounds a listing; more is an error, never a short list (P10).
	maxPages = 100
	// maxWalks is how often a list is read that shifts while it is read.
	maxWalks = 3
	// blindMargin stands in for a Date that a server does not send: what changed
	// in the last hour is then read again rather than missed (P1).
	blindMargin = time.Hour
)

// element is one member of a list.
type element struct {
	id  int64
	raw json.RawMessage
}

// list is all of a list, in the tracker's order.
type list struct {
	elements []element
	// date is the tracker's clock when the list began to be read.
	date time.Time
}

// page is one page of a list.
type page struct {
	elements []element
	next     string
	header   http.Header
}

// readList reads every page of a list, or fails (P1). A page number is no
// cursor: something removed from a page that was read already pulls what
// follows over the edge, unseen. So every page but the last is looked at a
// second time, and a walk whose pages have shifted is made again.
func (c *Client) readList(ctx context.Context, path string, query url.Values) (list, error) {
	query.Set("per_page", perPage)
	start := path + "?" + query.Encode()
	asked := c.now()
	var date time.Time
	for range maxWalks {
		w, err := c.walk(ctx, start)
		if err != nil {
			return list{}, err
		}
		if date.IsZero() {
			date = serverTime(w.pages[0].header, asked.Add(-blindMargin))
		}
		steady, err := c.isSteady(ctx, w)
		if err != nil {
			return list{}, err
		}
		if steady {
			return list{elements: w.merged(), date: date}, nil
		}
	}
	return list{}, fmt.Errorf("the list shifted each of the %d times it was read; it is tried again next cycle", maxWalks)
}

// walk is one way through all pages of a list.
type walk struct {
	addresses []string
	pages     []page
}

func (c *Client) walk(ctx context.Context, address string) (walk, error) {
	var w walk
	for address != "" {
		if len(w.pages) == maxPages {
			return walk{}, fmt.Errorf("the list has more than %d pages; narrow it with a label", maxPages)
		}
		if slices.Contains(w.addresses, address) {
			return walk{}, fmt.Errorf("page %d of the list leads back to an earlier one", len(w.pages))
		}
		p, err := c.readPage(ctx, address)
		if err != nil {
			return walk{}, pageError(len(w.pages)+1, err)
		}
		w.addresses, w.pages = append(w.addresses, address), append(w.pages, p)
		address = p.next
	}
	return w, nil
}

func pageError(number int, err error) error {
	if number == 1 {
		return err
	}
	return fmt.Errorf("page %d: %w", number, err)
}

// isSteady reports whether every page that has a next one still holds what it
// held. An answer that did not change at all costs GitHub's limit nothing.
func (c *Client) isSteady(ctx context.Context, w walk) (bool, error) {
	for i, p := range w.pages[:len(w.pages)-1] {
		same, err := c.isSame(ctx, w.addresses[i], p)
		if err != nil {
			return false, pageError(i+1, err)
		}
		if !same {
			return false, nil
		}
	}
	return true, nil
}

func (c *Client) isSame(ctx context.Context, address string, p page) (bool, error) {
	again, err := c.readPage(ctx, address, ifNoneMatch(p.header.Get("ETag"))...)
	if hasStatus(err, http.StatusNotModified) && p.header.Get("ETag") != "" {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(p.elements, again.elements, func(a, b element) bool { return a.id == b.id }), nil
}

func ifNoneMatch(etag string) []gogithub.RequestOption {
	if etag == "" {
		return nil
	}
	return []gogithub.RequestOption{func(r *http.Request) { r.Header.Set("If-None-Match", etag) }}
}

// merged is what all pages hold, each element once: an insertion while they
// were read shows an element on two pages.
func (w walk) merged() []element {
	var all []element
	seen := make(map[int64]bool)
	for _, p := range w.pages {
		for _, e := range p.elements {
			if e.id != 0 && seen[e.id] {
				continue
			}
			seen[e.id] = true
			all = append(all, e)
		}
	}
	return all
}

func (c *Client) readPage(ctx context.Context, address string, opts ...gogithub.RequestOption) (page, error) {
	a, err := c.call(ctx, http.MethodGet, address, nil, nil, opts...)
	if err != nil {
		return page{}, err
	}
	elements, err := decodeArray(a.body)
	if err != nil {
		return page{}, err
	}
	return page{elements: elements, next: nextLink(a.header.Get("Link")), header: a.header}, nil
}

// decodeArray takes a JSON array apart. Anything else is a failure, null above
// all, and never an empty list (P1).
func decodeArray(raw json.RawMessage) ([]element, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("the answer is not a JSON array")
	}
	var members []json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("decode the list: %w", err)
	}
	elements := make([]element, 0, len(members))
	for _, member := range members {
		elements = append(elements, element{id: idOf(member), raw: member})
	}
	return elements, nil
}

// idOf returns an element's number; zero when it has none that can be read,
// which its own decoding will complain about.
func idOf(raw json.RawMessage) int64 {
	var e struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return 0
	}
	return e.ID
}

package store

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// schema is the version of the layout below. A newer one is refused by name; an
// older one is migrated when it is opened for writing (see migration.go).
const schema = 1

// The buckets. All of them are made with the file.
const (
	metaBucket     = "meta"
	itemsBucket    = "items"
	commentsBucket = "comments"
	openBucket     = "open"
	sessionsBucket = "sessions"
	linksBucket    = "links"
	sourcesBucket  = "sources"
	cyclesBucket   = "cycles"
)

func buckets() []string {
	return []string{
		metaBucket, itemsBucket, commentsBucket, openBucket,
		sessionsBucket, linksBucket, sourcesBucket, cyclesBucket,
	}
}

// itemBuckets are those with rows of items.
func itemBuckets() []string {
	return []string{itemsBucket, commentsBucket, openBucket, sessionsBucket, linksBucket}
}

// The keys of the meta bucket. Values are text: a decimal number, RFC 3339, a
// release, a UUID.
const (
	metaSchema   = "schema"
	metaCreated  = "created"
	metaWriter   = "writer"
	metaInstance = "instance"
	metaImported = "imported"
)

// sep parts the item key from a comment id, so that `…#1` is no prefix of
// `…#15`. next is the first byte after it: key+next is behind everything of
// that item and before everything of others.
const (
	sep  = "\x00"
	next = "\x01"
)

func commentKey(item, comment string) string { return item + sep + comment }

// itemOf returns the item key at the front of a row's key.
func itemOf(key []byte) string { return string(itemIn(key)) }

// itemIn is itemOf without a copy.
func itemIn(key []byte) []byte {
	item, _, _ := bytes.Cut(key, []byte(sep))
	return item
}

// commentOf returns the comment id behind the item key; ok is false for a key
// that is an item's own.
func commentOf(key string) (id string, ok bool) {
	_, id, ok = strings.Cut(key, sep)
	return id, ok
}

// cycleKey sorts as its number does.
func cycleKey(seq uint64) string {
	return string(binary.BigEndian.AppendUint64(nil, seq))
}

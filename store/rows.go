package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"theloop/record"
)

// rawRecord is the rows of one item, copied out of a transaction and not yet
// decoded: decoding takes longer than a transaction should.
type rawRecord struct {
	key                 string
	item, session, link []byte
	comments            []rawComment
	// open is the keys in the open bucket; only readAll fills it.
	open []string
}

type rawComment struct {
	key   string
	value []byte
}

// readComments copies the comment rows of an item.
func readComments(rows *tapes, key string) (comments []rawComment) {
	prefix, c := []byte(key+sep), &rows.comments
	for c.to(prefix); bytes.HasPrefix(c.key, prefix); c.next() {
		comments = append(comments, rawComment{string(c.key), bytes.Clone(c.value)})
	}
	return comments
}

// readItem copies the rows of an item but for its comments.
func readItem(rows *tapes, key []byte) rawRecord {
	return rawRecord{key: string(key), item: rows.items.at(key), session: rows.sessions.at(key), link: rows.links.at(key)}
}

// none reports that there is no row.
func (raw rawRecord) none() bool {
	return raw.item == nil && raw.session == nil && raw.link == nil && len(raw.comments) == 0
}

// decode returns the record that the rows are, the zero Record when there are
// none.
func (raw rawRecord) decode() (record.Record, error) {
	if raw.none() {
		return record.Record{}, nil
	}
	item, err := raw.decodeItem()
	if err != nil {
		return record.Record{}, err
	}
	rec := record.Record{Item: item}
	if rec.Session, err = raw.decodeSession(); err != nil {
		return record.Record{}, err
	}
	if rec.Link, err = raw.decodeLink(); err != nil {
		return record.Record{}, err
	}
	if len(raw.comments) == 0 {
		return rec, nil
	}
	comments := make([]record.Comment, len(raw.comments))
	for i, c := range raw.comments {
		if comments[i], err = c.decode(); err != nil {
			return record.Record{}, err
		}
	}
	rec.Comments = record.NewThread(comments)
	return rec, nil
}

// decodeItem returns the zero Item when there is no row.
func (raw rawRecord) decodeItem() (record.Item, error) {
	if raw.item == nil {
		return record.Item{}, nil
	}
	if item, ok := plainItem(raw.item); ok {
		return item, nil
	}
	var item record.Item
	err := decodeRow(itemsBucket, raw.key, raw.item, &item)
	return item, err
}

// decodeSession returns nil when there is no row.
func (raw rawRecord) decodeSession() (*record.Session, error) {
	if raw.session == nil {
		return nil, nil
	}
	if session, ok := plainSession(raw.session); ok {
		return &session, nil
	}
	var session *record.Session
	err := decodeRow(sessionsBucket, raw.key, raw.session, &session)
	return session, err
}

// decodeLink returns nil when there is no row.
func (raw rawRecord) decodeLink() (*record.Link, error) {
	if raw.link == nil {
		return nil, nil
	}
	var link *record.Link
	err := decodeRow(linksBucket, raw.key, raw.link, &link)
	return link, err
}

func (c rawComment) decode() (record.Comment, error) {
	if row, ok := plainComment(c.value); ok {
		return row, nil
	}
	var row record.Comment
	err := decodeRow(commentsBucket, c.key, c.value, &row)
	return row, err
}

// decodeRow reads one value into to; a row that is not there leaves it as it is.
func decodeRow(bucket, key string, value []byte, to any) error {
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, to); err != nil {
		return &RowError{Bucket: bucket, Key: key, Err: err}
	}
	return nil
}

// encode writes a value as JSON, readable: no escapes but the ones JSON needs.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

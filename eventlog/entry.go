package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Entry is one line of the log, read back.
type Entry struct {
	Event
	Time    time.Time
	PID     int
	Version string
	// Cut names the fields that were shortened.
	Cut []string
	// Raw is the line as it stands in the file, without its newline.
	Raw []byte
}

// header is what filters look at; the rest of a line is decoded only when it
// passes.
type header struct {
	TS          string   `json:"ts"`
	Source      string   `json:"source"`
	Event       string   `json:"event"`
	Level       string   `json:"level"`
	PID         int      `json:"pid"`
	V           string   `json:"v"`
	Cut         []string `json:"cut"`
	WorkItem    string   `json:"work_item"`
	WorkItems   []string `json:"work_items"`
	DeliveryID  string   `json:"delivery_id"`
	DeliveryIDs []string `json:"delivery_ids"`

	at    time.Time
	level Level
}

var errForeign = errors.New("not a line of the event log")

// parseHeader decodes the envelope of a line. A level that is not known, or
// absent, counts as info.
func parseHeader(line []byte) (header, error) {
	var h header
	err := json.Unmarshal(line, &h)
	// A field of an unexpected type, in a line of an older version say, is no
	// reason to lose the line; the rest has been decoded.
	var odd *json.UnmarshalTypeError
	if err != nil && !(errors.As(err, &odd) && odd.Field != "") {
		return h, fmt.Errorf("decode an event: %w", err)
	}
	at, err := time.Parse(time.RFC3339, h.TS)
	if err != nil || h.Event == "" {
		return h, errForeign
	}
	h.at, h.level = at, Info
	if level, err := ParseLevel(h.Level); err == nil {
		h.level = level
	}
	return h, nil
}

// entry decodes the whole of a line that parseHeader has accepted.
func (h header) entry(line []byte) (Entry, error) {
	// Numbers stay as they were written: ids do not fit into a float.
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil && !errors.Is(err, io.EOF) {
		return Entry{}, fmt.Errorf("decode the fields of an event: %w", err)
	}
	for _, key := range []string{"ts", "source", "event", "level", "pid", "v", "cut"} {
		delete(fields, key)
	}
	return Entry{
		Event: Event{Name: h.Event, Source: h.Source, Level: h.level, Fields: fields},
		Time:  h.at, PID: h.PID, Version: h.V, Cut: h.Cut,
		Raw: bytes.Clone(line),
	}, nil
}

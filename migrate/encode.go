package migrate

import (
	"bytes"
	"encoding/json"
)

// encode writes a value of ours, which cannot fail: texts, numbers, lists and
// maps of them, and JSON that was read.
func encode(value any) json.RawMessage {
	if raw, ok := brief(value); ok {
		return raw
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// brief writes what nearly all of them are, as an encoder would: texts in which
// nothing has to be escaped, lists of these, and what has nothing in it.
func brief(value any) (json.RawMessage, bool) {
	switch value := value.(type) {
	case string:
		return appendText(make([]byte, 0, len(value)+2), value)
	case []string:
		if value == nil {
			return nil, false
		}
		raw, ok := []byte{'['}, true
		for i, text := range value {
			if i > 0 {
				raw = append(raw, ',')
			}
			if raw, ok = appendText(raw, text); !ok {
				return nil, false
			}
		}
		return append(raw, ']'), true
	case map[string]int:
		return json.RawMessage("{}"), value != nil && len(value) == 0
	case object:
		return json.RawMessage("{}"), value != nil && len(value) == 0
	}
	return nil, false
}

func appendText(raw []byte, text string) ([]byte, bool) {
	for i := range len(text) {
		if c := text[i]; !isPlain(c) {
			return nil, false
		}
	}
	return append(append(append(raw, '"'), text...), '"'), true
}

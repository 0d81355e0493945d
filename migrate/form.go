package migrate

import (
	"encoding/json"
	"maps"
)

// form is how a value was written, where that differs from how it would have
// been written here. It is a leaf with the value as it stood, or a branch with
// those keys of an object that differ. A nil form is no difference.
type form struct {
	// Value stood there; empty when the key was absent.
	Value json.RawMessage `json:"value,omitempty"`
	// Was is the digest of what would have been written instead. As long as that
	// is the same, what stood there is written again.
	Was  string           `json:"was,omitempty"`
	Keys map[string]*form `json:"keys,omitempty"`
}

// compare returns the form of what stood, against what would be written.
func compare(stood, written json.RawMessage) *form {
	if isObject(stood) && isObject(written) {
		s, _ := asObject(stood)
		w, _ := asObject(written)
		return compareObjects(s, w)
	}
	if equalJSON(stood, written) {
		return nil
	}
	return &form{Value: stood, Was: digest(written)}
}

func compareObjects(stood, written object) *form {
	var f form
	for key, value := range stood {
		f.differs(key, compare(value, written[key]))
	}
	return f.absent(stood, written)
}

// absent takes in what would be written and did not stand. The form is nil then when
// nothing differs.
func (f *form) absent(stood, written object) *form {
	for key, value := range written {
		if _, both := stood[key]; !both {
			f.differs(key, compare(nil, value))
		}
	}
	if f.Keys == nil {
		return nil
	}
	return f
}

func (f *form) differs(key string, by *form) {
	if by == nil {
		return
	}
	if f.Keys == nil {
		f.Keys = map[string]*form{}
	}
	f.Keys[key] = by
}

// recordForm is the form of a record, against the parts that would be written: of
// both, the sections are open already.
func recordForm(stood object, stoodOpen sections, written object, writtenOpen sections) *form {
	var f form
	for key, value := range stood {
		if section := writtenOpen.of(key); section != nil {
			f.differs(key, sectionForm(key, value, stoodOpen.of(key), section))
		} else {
			f.differs(key, compare(value, written[key]))
		}
	}
	for _, key := range [...]string{controlKey, pollKey} {
		if section := writtenOpen.of(key); section != nil && stood[key] == nil {
			f.differs(key, compare(nil, encode(section)))
		}
	}
	return f.absent(stood, written)
}

// sectionForm is compare for a section that is written only when it has to be. A
// control section is one thing: another command is written as it would be here.
func sectionForm(key string, stood json.RawMessage, open, written object) *form {
	if open == nil {
		return compare(stood, encode(written))
	}
	by := compareObjects(open, written)
	if by != nil && key == controlKey {
		return &form{Value: stood, Was: digest(encode(written))}
	}
	return by
}

// apply gives what is written the form that stood before, where it still says
// the same. The result is empty for a key that is to be absent.
func (f *form) apply(written json.RawMessage) json.RawMessage {
	switch {
	case f == nil:
		return written
	case f.Keys == nil && f.Was == digest(written):
		return f.Value
	case f.Keys == nil || !isObject(written):
		return written
	}
	o, _ := asObject(written)
	return encode(f.applyObject(o))
}

func (f *form) applyObject(written object) object {
	if f == nil {
		return written
	}
	out := maps.Clone(written)
	for key, form := range f.Keys {
		if value := form.apply(written[key]); len(value) > 0 {
			out[key] = value
		} else {
			delete(out, key)
		}
	}
	return out
}

// kept is what the ledger keeps of how a document was written.
type kept struct {
	// File says that there was a document.
	File bool `json:"file,omitempty"`
	// Nested says that it stood as an entry in that of another item.
	Nested bool  `json:"nested,omitempty"`
	Form   *form `json:"form,omitempty"`
	// Order are the keys of the pull requests in a handle, as they stood.
	Order []string `json:"order,omitempty"`
}

func (k kept) encode() json.RawMessage { return encode(k) }

// readKept reads what encode wrote; anything else is nothing kept.
func readKept(raw json.RawMessage) (k kept) {
	if len(raw) > 0 && json.Unmarshal(raw, &k) != nil {
		return kept{}
	}
	return k
}

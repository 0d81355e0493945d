package store

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// plain reads JSON of the form that encode writes and that nearly every row has: no
// blanks, no escapes, no null, and keys that the reader knows. What it reads, it reads
// as encoding/json does, in a fraction of the time. Of anything else it says only that
// it is odd: then encoding/json reads the row, or says what is wrong with it
// (docs/decisions/0010).
type plain struct {
	text []byte
	at   int
	odd  bool
}

// whole reports whether all of it was read and nothing was odd.
func (p *plain) whole() bool { return !p.odd && p.at == len(p.text) }

// take goes over one byte, if it is this one.
func (p *plain) take(b byte) bool {
	if p.odd || p.at >= len(p.text) || p.text[p.at] != b {
		return false
	}
	p.at++
	return true
}

// must goes over one byte, which has to be this one.
func (p *plain) must(b byte) {
	if !p.take(b) {
		p.odd = true
	}
}

// first goes into an object and returns its first key, nil when it is empty. The
// value behind a key is to be read before the next key is asked for.
func (p *plain) first() []byte {
	if p.must('{'); p.take('}') {
		return nil
	}
	return p.key()
}

// next returns the next key of an object, nil behind its end.
func (p *plain) next() []byte {
	if p.take('}') {
		return nil
	}
	p.must(',')
	return p.key()
}

func (p *plain) key() []byte {
	key := p.quoted()
	if p.must(':'); p.odd {
		return nil
	}
	return key
}

// quoted returns what is between two quotes, nil when that is odd.
func (p *plain) quoted() []byte {
	p.must('"')
	end := -1
	if !p.odd {
		end = bytes.IndexByte(p.text[p.at:], '"')
	}
	if end < 0 {
		p.odd = true
		return nil
	}
	part := p.text[p.at : p.at+end]
	ascii := true
	for _, b := range part {
		if b < ' ' || b == '\\' {
			p.odd = true
			return nil
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(part) {
		p.odd = true
		return nil
	}
	p.at += end + 1
	return part
}

func text[T ~string](p *plain, to *T) {
	if part := p.quoted(); !p.odd {
		*to = T(part)
	}
}

// digits are so few that they fit into every 64-bit number.
const digits = 18

func number[T ~int | ~int64 | ~uint64](p *plain, to *T) {
	var n uint64
	begin := p.at
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		n = n*10 + uint64(p.text[p.at]-'0')
	}
	size := p.at - begin
	if size == 0 || size > digits || size > 1 && p.text[begin] == '0' || uint64(T(n)) != n {
		p.odd = true
		return
	}
	*to = T(n)
}

func (p *plain) flag(to *bool) {
	switch rest := p.text[p.at:]; {
	case bytes.HasPrefix(rest, []byte("true")):
		*to = true
		p.at += len("true")
	case bytes.HasPrefix(rest, []byte("false")):
		*to = false
		p.at += len("false")
	default:
		p.odd = true
	}
}

func (p *plain) time(to *time.Time) {
	if part := p.quoted(); !p.odd && to.UnmarshalText(part) != nil {
		p.odd = true
	}
}

// raw copies an array or an object as it is written.
func (p *plain) raw() (value json.RawMessage) {
	rest := p.text[p.at:]
	if len(rest) == 0 || rest[0] != '{' && rest[0] != '[' {
		p.odd = true
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(rest))
	if dec.Decode(&value) != nil {
		p.odd = true
		return nil
	}
	p.at += int(dec.InputOffset())
	return value
}

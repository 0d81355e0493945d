package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
)

// equalJSON compares values as what they say: the order of keys and the spelling
// of texts do not count, that of numbers does.
func equalJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return sameButBlanks(a, b) || reflect.DeepEqual(loose(a), loose(b))
}

// sameButBlanks compares values that are JSON but for the white space around their
// parts: most that say the same differ in nothing else.
func sameButBlanks(a, b []byte) bool {
	i, j := 0, 0
	for {
		i, j = spaces(a, i), spaces(b, j)
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		nextA, nextB := i+1, j+1
		if a[i] == '"' {
			nextA, nextB = ending(a, i), ending(b, j)
		}
		if !bytes.Equal(a[i:nextA], b[j:nextB]) {
			return false
		}
		i, j = nextA, nextB
	}
}

func loose(raw json.RawMessage) (value any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	_ = dec.Decode(&value) // it was read before
	return value
}

// digest names in few bytes what a value says; absent has one as well.
func digest(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "-"
	}
	if of, is := digests[string(raw)]; is {
		return of
	}
	return digestOf(raw)
}

func digestOf(raw json.RawMessage) string {
	sum := sha256.Sum256(encode(loose(raw)))
	return hex.EncodeToString(sum[:8])
}

// digests are those of what earlier releases left out most.
var digests = func() map[string]string {
	of := map[string]string{}
	for _, value := range []any{object{}, []string{}, "", spawnDoc{}} {
		raw := encode(value)
		of[string(raw)] = digestOf(raw)
	}
	return of
}()

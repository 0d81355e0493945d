package store

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/record"
)

// fill sets every field that is written, but for maps, which are not plain.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Date(2026, 7, 31, 12, 0, 5, 60, time.UTC)
		return
	case *json.RawMessage:
		*p = json.RawMessage(`{"a":["]\"",{}]}`)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.String:
		v.SetString("é & <x>")
	case reflect.Int, reflect.Int64:
		v.SetInt(20_260_731)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
	default:
		t.Fatalf("a row has a %s in it", v.Type())
	}
}

func filled[T any](t *testing.T) (value T, row []byte) {
	t.Helper()
	fill(t, reflect.ValueOf(&value).Elem())
	row, err := encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return value, row
}

// Every field of a row can be read without encoding/json: one that cannot would make
// each row that has it slow to list.
func TestPlainReadsEveryField(t *testing.T) {
	item, row := filled[record.Item](t)
	if got, ok := plainItem(row); !ok || !reflect.DeepEqual(got, item) {
		t.Errorf("%t: %s is read as %+v", ok, row, got)
	}
	session, row := filled[record.Session](t)
	if got, ok := plainSession(row); !ok || !reflect.DeepEqual(got, session) {
		t.Errorf("%t: %s is read as %+v", ok, row, got)
	}
	comment, row := filled[record.Comment](t)
	if got, ok := plainComment(row); !ok || !reflect.DeepEqual(got, comment) {
		t.Errorf("%t: %s is read as %+v", ok, row, got)
	}
}

// pieces are what rows are made of, plain and odd.
func pieces() []string {
	return strings.Split(`{ } [ ] , : " \ "" {} null true false 0 -1 01 1.5 1e3 7 999999999999999999 18446744073709551616 `+
		`"x" "\u0041" "\"" "é" "`+"\xff"+`" "`+"\t"+`" "2026-07-31T12:00:00Z" "2026-07-31T12:00:00.5+02:00" "2026-02-30T12:00:00Z" `+
		`"ref": "REF": "rev": "kind": "authorId": "updatedAt": "spawn": "counts": "control": "graph": "gaveUp": "attempts": "command": "extra": `+
		`"id": "state": "seq": "surface": "at": "status": "until": "a":`, " ")
}

// drawRow draws text that is often a row and often nearly one.
func drawRow(t *rapid.T, rows ...[]byte) []byte {
	piece := rapid.SampledFrom(append(pieces(), " "))
	if rapid.Bool().Draw(t, "built") {
		value := rapid.Custom(func(t *rapid.T) string { return piece.Draw(t, "key") + piece.Draw(t, "value") })
		return []byte("{" + strings.Join(rapid.SliceOfN(value, 0, 4).Draw(t, "fields"), ",") + "}")
	}
	row := string(rapid.SampledFrom(rows).Draw(t, "row"))
	at := rapid.IntRange(0, len(row)).Draw(t, "at")
	end := min(len(row), at+rapid.IntRange(0, 3).Draw(t, "cut"))
	return []byte(row[:at] + piece.Draw(t, "piece") + row[end:])
}

// What is read as plain is read as encoding/json reads it: a row that does not decode
// is never taken for one that does, and no field is read as another.
func TestPlainReadsAsJSONDoes(t *testing.T) {
	_, item := filled[record.Item](t)
	_, session := filled[record.Session](t)
	_, comment := filled[record.Comment](t)
	rapid.Check(t, func(t *rapid.T) {
		row := drawRow(t, item, session, comment)
		readsAlike(t, row, plainItem)
		readsAlike(t, row, plainSession)
		readsAlike(t, row, plainComment)
	})
	for _, twice := range []string{`"control":{"served":false}`, `"spawn":{"n":1}`, `"counts":{"pending":2}`, `"graph":{}`, `"ref":"x"`} {
		readsAlike(t, []byte(strings.TrimSuffix(string(item), "}")+","+twice+"}"), plainItem)
	}
}

// The same of what is odd in one place.
func TestPlainLeavesTheRest(t *testing.T) {
	for _, row := range []string{
		"", "null", "{", "{}", "{} ", "{}}", `{"rev":1}x`, `{"rev":1`, `{"rev"`, `{"rev":`, `{"rev"}`, `{"rev":1,}`, `{,"rev":1}`, `{"rev" :1}`,
		`{"rev":01}`, `{"rev":-1}`, `{"rev":1.0}`, `{"rev":1e2}`, `{"rev":}`, `{"rev":18446744073709551617}`, `{"rev":"1"}`, `{"commentCount":9223372036854775808}`,
		`{"ref":"a\u0041"}`, `{"ref":"a\"}`, `{"ref":"a\"b"}`, "{\"ref\":\"a\tb\"}", "{\"ref\":\"a\xffb\"}", `{"ref":null}`, `{"ref":1}`, `{"REF":"a"}`, `{"r\u0065f":"a"}`,
		`{"updatedAt":"2026-02-30T00:00:00Z"}`, `{"updatedAt":"2026-01-02T03:04:05+01:00"}`, `{"updatedAt":""}`, `{"updatedAt":null}`,
		`{"spawn":{}}`, `{"spawn":{"gaveUp":tru}}`, `{"spawn":{"gaveUp":truex}}`, `{"spawn":{"gaveUp":false},"rev":2}`, `{"spawn":{"n":1}`, `{"spawn":[]}`,
		`{"graph":{"a":[1}]}`, `{"graph":[1, 2]}`, `{"graph":1}`, `{"graph":null}`, `{"graph":{}{}}`, `{"graph":{"a":"]"},"rev":3}`, `{"extra":{"a":1}}`, `{"extra":1}`,
	} {
		readsAlike(t, []byte(row), plainItem)
		readsAlike(t, []byte(row), plainSession)
		readsAlike(t, []byte(row), plainComment)
	}
}

func readsAlike[T any](t interface {
	Helper()
	Fatalf(string, ...any)
}, row []byte, read func([]byte) (T, bool),
) {
	t.Helper()
	got, ok := read(row)
	if !ok {
		return
	}
	var want T
	if err := json.Unmarshal(row, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as %+v; encoding/json makes %+v of it: %v", row, got, want, err)
	}
}

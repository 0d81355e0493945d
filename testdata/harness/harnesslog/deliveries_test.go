package harnesslog

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeliveries(t *testing.T) {
	in := "\x1b[200~one\ntwo\x1b[201~\rtyped\r\r\x1b[200~open"
	submitted, rest := Deliveries([]byte(in))
	var got []string
	for _, s := range submitted {
		got = append(got, string(s))
	}
	if diff := cmp.Diff([]string{"one\ntwo", "typed", ""}, got); diff != "" {
		t.Error(diff)
	}
	if string(rest) != "\x1b[200~open" {
		t.Errorf("rest %q", rest)
	}
}

func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if records, err := Read(path); err != nil || records != nil {
		t.Fatalf("a log that is not there yet: %v %v", records, err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w.Start([]string{"harness", "first"}, []string{"first"}, "s-1", "")
	w.Raw()
	w.Input([]byte("a\xff"))
	w.Input([]byte("b\r"))
	w.Signal("terminated")
	w.Exit("why")
	records, err := Read(path)
	if err != nil || len(records) != 6 {
		t.Fatalf("%v %v", records, err)
	}
	if diff := cmp.Diff([]string{"first", "a\xffb"}, Texts(records)); diff != "" {
		t.Error(diff)
	}
}

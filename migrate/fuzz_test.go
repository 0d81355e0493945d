package migrate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"theloop/migrate"
)

// Whatever stands in a file: nothing falls over, what is not imported is listed
// with a line that is in the file, what is imported comes out equal, and a
// second import finds it unchanged.
func FuzzImport(f *testing.F) {
	for _, dir := range []string{"portable", "local"} {
		entries, err := os.ReadDir(filepath.Join("..", "testdata", dir))
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join("..", "testdata", dir, e.Name()))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(dir == "local", data)
		}
	}
	f.Fuzz(func(t *testing.T, isHandle bool, data []byte) {
		root := t.TempDir()
		dir := "portable"
		if isHandle {
			dir = "local"
		}
		path := filepath.Join(root, dir, "x.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := &memory{t: t, rows: map[string][]byte{}}
		o := migrate.ImportOptions{Ledger: l, Places: migrate.Places{Root: root}, Host: here, Version: version}
		r, err := migrate.Import(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range r.Invalid {
			if i.Line < 1 || i.Line > 1+strings.Count(string(data), "\n") || i.Reason == "" {
				t.Errorf("listed: %+v", i)
			}
		}
		if !isHandle && r.Imported == 0 && len(r.Invalid) == 0 {
			t.Error("neither imported nor listed")
		}
		if again, err := migrate.Import(t.Context(), o); err != nil || again.Imported != 0 || again.Unchanged != r.Imported || len(again.Conflicts) > 0 {
			t.Errorf("a second import: %+v, %v", again, err)
		}
		to := filepath.Join(root, "out")
		out, err := migrate.Export(t.Context(), migrate.ExportOptions{Ledger: l, To: to, Sessions: true})
		if err != nil || len(out.Invalid) > 0 || out.Records != r.Imported {
			t.Fatalf("exported %+v, %v after %+v", out, err, r)
		}
		made, err := filepath.Glob(filepath.Join(to, dir, "*-*.json"))
		if err != nil || !isHandle && len(made) != r.Imported {
			t.Fatalf("made %v, %v", made, err)
		}
		if len(made) == 1 && (!isHandle || r.Sessions.Live+r.Sessions.Gone+r.Sessions.Foreign > 0) {
			text, err := os.ReadFile(made[0])
			if err != nil || !reflect.DeepEqual(numbers(t, data), numbers(t, text)) {
				t.Errorf("was %s\nis %s\n%v", data, text, err)
			}
		}
	})
}

// numbers reads a document with its numbers as they are written.
func numbers(t *testing.T, data []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

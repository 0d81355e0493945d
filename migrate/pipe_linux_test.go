package migrate_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"theloop/migrate"
)

// A pipe keeps an import from nothing, whether it stood there from the beginning or
// took the place of a record meanwhile.
func TestPipe(t *testing.T) {
	w := newWorld(t)
	first := w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"seenComments":["a"]}}`)
	w.file("portable/2.json", `{"ref":"github:octo/repo#2","poll":{"seenComments":["a"]}}`)
	pipe := filepath.Join(w.root, "portable", "3.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.imports(func(o *migrate.ImportOptions) {
		o.Progress = func(step migrate.Step, done, total int) {
			if step != migrate.Reading || done < total {
				return
			}
			if err := errors.Join(os.Remove(first), syscall.Mkfifo(first, 0o600)); err != nil {
				t.Error(err)
			}
		}
	})
	same(t, "invalid", []migrate.Invalid{
		{File: pipe, Reason: "it is not a file"},
		{File: first, Reason: "it was changed while it was imported: import again"},
	}, r.Invalid)
	if r.Imported != 1 {
		t.Errorf("report: %+v", r)
	}
}

package migrate_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"theloop/migrate"
	"theloop/store/storetest"
)

// An export that leaves records as they were, or writes none, is no import: a start on a
// ledger that knows nothing of them has to refuse as before (L12).
func TestNoRecordsComeInWithAnExport(t *testing.T) {
	for name, records := range map[string]string{"records that are no item's of it": `{"ref": "github:octo/repo#1"}`, "no records": ""} {
		l, root := storetest.Open(t), t.TempDir()
		if records != "" {
			dir := filepath.Join(root, "portable")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "github-octo-repo-1.json"), []byte(records), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := migrate.InStep(t.Context(), l, migrate.Places{Root: root}, time.Now, func() error {
			_, err := migrate.Export(t.Context(), migrate.ExportOptions{Ledger: l, To: root, Force: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if at, err := l.ImportedAt(t.Context()); err != nil || !at.IsZero() {
			t.Errorf("%s: imported at %s, %v", name, at, err)
		}
	}
}

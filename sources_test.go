package theloop_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// source is one file of the module.
type source struct {
	pkg, path string
	isTest    bool
	files     *token.FileSet
	tree      *ast.File
}

func (f source) imports() (paths []string) {
	for _, spec := range f.tree.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// parsed is every file of every package, read once: it takes a second or two
// under the race detector.
var parsed = sync.OnceValues(parseModule)

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil || len(all) == 0 {
		t.Fatalf("parse the module: %d files: %v", len(all), err)
	}
	return all
}

// parseModule leaves out what lies in testdata: that is a program of its own.
func parseModule() (all []source, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || filepath.Dir(name) == ".":
			return nil
		}
		f := source{
			pkg: filepath.ToSlash(filepath.Dir(name)), path: name,
			isTest: strings.HasSuffix(name, "_test.go"), files: token.NewFileSet(),
		}
		f.tree, err = parser.ParseFile(f.files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, f)
		return err
	})
	return all, err
}

// imports finds imports of a package or of what is below it.
func imports(want string) func(source) []token.Pos {
	return func(f source) (at []token.Pos) {
		for _, spec := range f.tree.Imports {
			if got := strings.Trim(spec.Path.Value, `"`); got == want || strings.HasPrefix(got, want+"/") {
				at = append(at, spec.Pos())
			}
		}
		return at
	}
}

// names finds uses of a name of some package, written as "pkg.Name" or, whatever
// the package, as "Name".
func names(want ...string) func(source) []token.Pos {
	return func(f source) (at []token.Pos) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := selector.X.(*ast.Ident)
			if ok && (slices.Contains(want, selector.Sel.Name) || slices.Contains(want, pkg.Name+"."+selector.Sel.Name)) {
				at = append(at, selector.Pos())
			}
			return true
		})
		return at
	}
}

func initFunctions(f source) (at []token.Pos) {
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			at = append(at, fn.Pos())
		}
	}
	return at
}

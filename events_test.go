package theloop_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"theloop/eventlog"
)

// planned are the events of parts that are not built yet.
var planned = []string{"workspace.prepared", "workspace.cleaned", "ledger.row_invalid"}

// R2: every event of the catalogue is written somewhere, and nothing is written
// that is not in it.
func TestEventsAreWrittenAndDeclared(t *testing.T) {
	written := map[string]bool{}
	for _, f := range sources(t) {
		if f.isTest || helpsTests(f.pkg) || f.pkg == "eventlog" {
			continue
		}
		for _, name := range mentioned(f) {
			written[name] = true
		}
		for pos, name := range emitted(f) {
			if !slices.Contains(eventlog.Names(), name) {
				t.Errorf("%s writes %s, which is not in the catalogue", f.files.Position(pos), name)
			}
		}
	}
	for _, name := range eventlog.Names() {
		if !written[name] && !slices.Contains(planned, name) {
			t.Errorf("nobody writes %s", name)
		}
	}
}

// mentioned finds the texts of a file, but for those that something is compared
// with.
func mentioned(f source) (texts []string) {
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, s := range n.Body {
				ast.Inspect(s, look)
			}
			return false
		case *ast.BinaryExpr:
			return n.Op != token.EQL && n.Op != token.NEQ
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				texts = append(texts, text)
			}
		}
		return true
	}
	ast.Inspect(f.tree, look)
	return texts
}

// emitted finds the names that are given to what writes events.
func emitted(f source) map[token.Pos]string {
	found := map[token.Pos]string{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.Contains([]string{"Emit", "emit", "event"}, called(call)) || len(call.Args) < 2 {
			return true
		}
		for _, arg := range call.Args[:2] { // some are told first about which item
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				found[lit.Pos()], _ = strconv.Unquote(lit.Value)
			}
		}
		return true
	})
	return found
}

func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

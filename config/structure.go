package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// place is a position in the file, both from 1; the zero place is the file as
// a whole.
type place struct{ line, column int }

// position is where a person would point to: the first key of a mapping, not
// its colon.
func position(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return position(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(n.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{}
	}
	at := n.GetToken().Position
	return place{at.Line, at.Column}
}

// plainNode looks through what has been reported already, so that the rest of
// the file is read on. An alias is as if nothing stood there.
func plainNode(n ast.Node) ast.Node {
	for range maxNesting {
		switch wrapped := n.(type) {
		case *ast.AnchorNode:
			n = wrapped.Value
		case *ast.TagNode:
			n = wrapped.Value
		case *ast.MappingValueNode:
			return &ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: wrapped.Start, Values: []*ast.MappingValueNode{wrapped}}
		case *ast.AliasNode:
			return nil
		default:
			return n
		}
	}
	return nil
}

// structure refuses, anywhere in the tree, nesting that is too deep, keys that
// stand twice, keys that are no words, and nulls in lists.
func (r *reader) structure(n ast.Node, path string, depth int) {
	switch n := plainNode(n).(type) {
	case *ast.MappingNode:
		if r.tooDeep(n, depth) {
			return
		}
		first := map[string]place{}
		for _, v := range n.Values {
			r.structure(v.Value, r.keyOnce(path, v, first), depth+1)
		}
	case *ast.SequenceNode:
		if r.tooDeep(n, depth) {
			return
		}
		for i, v := range n.Values {
			path := fmt.Sprintf("%s[%d]", path, i)
			if v := plainNode(v); v != nil && v.Type() == ast.NullType {
				at := position(v)
				r.add(Problem{Key: path, Line: at.line, Column: at.column, Found: found(v), Message: "fill the list entry or remove it"})
			}
			r.structure(v, path, depth+1)
		}
	}
}

func (r *reader) tooDeep(n ast.Node, depth int) bool {
	if depth <= maxNesting {
		return false
	}
	r.nesting(position(n))
	return true
}

// keyOnce returns the path of what stands under the key.
func (r *reader) keyOnce(section string, v *ast.MappingValueNode, first map[string]place) string {
	at := position(v.Key)
	name, ok := keyName(v.Key)
	if !ok {
		if v.Key.Type() != ast.MergeKeyType {
			r.add(Problem{Key: section, Line: at.line, Column: at.column, Message: "a key must be a word"})
		}
		return section
	}
	path := join(section, printable(name))
	if before, twice := first[name]; twice {
		r.add(Problem{Key: path, Line: at.line, Column: at.column,
			Message: fmt.Sprintf("stands here a second time; first on line %d: keep one", before.line)})
		return path
	}
	first[name] = at
	return path
}

// keyName is the text of a key; false when it is a list, a mapping or a merge
// key.
func keyName(k ast.MapKeyNode) (string, bool) {
	var n ast.Node = k
	if wrapped, ok := n.(*ast.MappingKeyNode); ok {
		n = wrapped.Value
	}
	switch n := plainNode(n).(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}

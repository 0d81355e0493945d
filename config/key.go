package config

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Key is one row of the table, for people: `config schema` prints them.
type Key struct {
	Path         string // <name> is a name of the user's choosing, [] a list entry
	Type         string
	Default      string // as it would stand in the file; empty: none
	Allowed      string
	Doc          string
	NeedsRestart bool // an edit takes effect with the next start only
}

// key is a row that fills part of a T. Adding a key is adding a row (and the
// field it fills).
type key[T any] struct {
	Key
	init func(into *T)
	read func(r *reader, into *T, path string, n ast.Node)
	same func(a, b *T) bool
	keep func(into *T, from *T)
}

// field is the row of the key at path, held in the field that at points to.
func field[T, V any](path string, k kind[V], def V, doc string, at func(*T) *V) key[T] {
	return key[T]{
		Key:  Key{Path: path, Type: k.typ, Default: k.show(def), Allowed: k.allowed, Doc: doc},
		init: func(into *T) { *at(into) = def },
		read: func(r *reader, into *T, path string, n ast.Node) {
			if unset(n) && (!k.emptyMeans || n.Type() == ast.NullType) {
				return
			}
			r.at[path] = position(n)
			if v, ok := k.read(r, path, n); ok {
				*at(into) = v
			}
		},
		same: func(a, b *T) bool { return reflect.DeepEqual(*at(a), *at(b)) },
		keep: func(into, from *T) { *at(into) = *at(from) },
	}
}

// restart marks a row whose edits wait for the next start.
func restart[T any](k key[T]) key[T] {
	k.NeedsRestart = true
	return k
}

// unset is a null, or an empty string: what a template leaves of a value.
func unset(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NullNode:
		return true
	case *ast.StringNode:
		return n.Value == ""
	}
	return false
}

// schema is a table made ready for looking up.
type schema[T any] struct {
	rows     []key[T]
	byPath   map[string]key[T]
	sections map[string]bool
	unused   map[string]bool   // accepted, whatever is below them
	moved    map[string]string // remedy by path: stops the start
	known    []string          // every path that has a meaning, for guessing what was meant
}

func newSchema[T any](rows []key[T], unused []string, moved map[string]string) schema[T] {
	s := schema[T]{rows: rows, byPath: map[string]key[T]{}, sections: map[string]bool{}, unused: map[string]bool{}, moved: moved}
	for _, row := range rows {
		path := strings.TrimSuffix(strings.TrimSuffix(row.Path, ".<name>"), "[]")
		s.byPath[path] = row
		s.addSections(path)
	}
	for _, path := range unused {
		s.unused[path] = true
		s.addSections(path)
	}
	for path := range moved {
		s.addSections(path)
	}
	s.known = s.paths()
	return s
}

func (s schema[T]) addSections(path string) {
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path, '.') {
		path = path[:i]
		s.sections[path] = true
	}
}

// unusedRoot is the entry of the unused table that path is or is below.
func (s schema[T]) unusedRoot(path string) (string, bool) {
	for p := path; p != ""; {
		if s.unused[p] {
			return p, true
		}
		i := strings.LastIndexByte(p, '.')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return "", false
}

func (s schema[T]) defaults() T {
	var v T
	for _, row := range s.rows {
		row.init(&v)
	}
	return v
}

// Keys lists every key, in the order of the table.
func Keys() []Key {
	var keys []Key
	for _, row := range configRows() {
		keys = append(keys, row.Key)
		switch row.Path {
		case sourcesPath + "[]":
			keys = appendBelow(keys, row.Path, sourceRows())
		case harnessesPath + ".<name>":
			keys = appendBelow(keys, row.Path, harnessRows())
		}
	}
	return keys
}

func appendBelow[T any](keys []Key, path string, rows []key[T]) []Key {
	for _, row := range rows {
		row.Path = path + "." + row.Path
		keys = append(keys, row.Key)
	}
	return keys
}

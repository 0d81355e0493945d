package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// walk reads the mapping that holds a T and returns it over the defaults.
// prefix is where that mapping stands in the whole file.
func walk[T any](r *reader, s schema[T], prefix string, m *ast.MappingNode) T {
	into := s.defaults()
	w := walker[T]{r: r, schema: s, prefix: prefix, into: &into, said: map[string]bool{}}
	w.section("", m)
	return into
}

type walker[T any] struct {
	r      *reader
	schema schema[T]
	prefix string
	into   *T
	said   map[string]bool // unused keys that have been named
}

func (w *walker[T]) section(path string, m *ast.MappingNode) {
	for _, v := range m.Values {
		if name, ok := keyName(v.Key); ok {
			w.entry(path, name, v)
		}
	}
}

func (w *walker[T]) entry(section, name string, v *ast.MappingValueNode) {
	path, n := join(section, name), plainNode(v.Value)
	if strings.ContainsAny(name, ".[") {
		w.unknown(section, name, v)
		return
	}
	if row, ok := w.schema.byPath[path]; ok {
		if n != nil {
			row.read(w.r, w.into, join(w.prefix, path), n)
		}
		return
	}
	if remedy, ok := w.schema.moved[path]; ok {
		if n != nil && n.Type() != ast.NullType {
			w.report(path, v, Problem{Message: remedy})
		}
		return
	}
	root, unused := w.schema.unusedRoot(path)
	if unused {
		w.unused(root, v)
	}
	switch {
	case w.schema.sections[path]:
		w.below(path, n, unused)
	case !unused:
		w.unknown(section, name, v)
	}
}

// below goes on into a section. One that is not used here may be of any type.
func (w *walker[T]) below(path string, n ast.Node, unused bool) {
	m, ok := n.(*ast.MappingNode)
	switch {
	case ok:
		w.section(path, m)
	case !unused && n != nil && !unset(n):
		w.r.invalid(join(w.prefix, path), n, "a mapping of keys")
	}
}

func (w *walker[T]) report(path string, v *ast.MappingValueNode, p Problem) {
	at := position(v.Key)
	p.Key, p.Line, p.Column = join(w.prefix, path), at.line, at.column
	w.r.add(p)
}

func (w *walker[T]) unused(root string, v *ast.MappingValueNode) {
	if !w.said[root] {
		w.said[root] = true
		w.report(root, v, Problem{Kind: Unused, Message: "not used here: it belongs to the wider the-loop"})
	}
}

func (w *walker[T]) unknown(section, name string, v *ast.MappingValueNode) {
	p := Problem{Kind: Unknown, Message: "nobody knows this key"}
	if near := w.nearest(section, name); near != "" {
		p.Message += "; did you mean " + join(w.prefix, near) + "?"
	}
	w.report(join(section, printable(name)), v, p)
}

// nearest is the known key that was probably meant: one of the same section
// spelled alike, else the same word somewhere else.
func (w *walker[T]) nearest(section, name string) string {
	best, least := "", 1+max(2, len(name)/3)
	elsewhere := ""
	for _, path := range w.schema.known {
		parent, leaf := split(path)
		if strings.EqualFold(leaf, name) && elsewhere == "" {
			elsewhere = path
		}
		if parent != section {
			continue
		}
		if d := distance(name, leaf); d < least && d < len(leaf) {
			best, least = path, d
		}
	}
	if best == "" {
		best = elsewhere
	}
	if best == "" {
		best = w.dotted(section, name)
	}
	return best
}

// dotted recognises a path written as one key.
func (w *walker[T]) dotted(section, name string) string {
	path := join(section, name)
	if _, ok := w.schema.byPath[path]; !ok {
		return ""
	}
	return path + " with each part on a line of its own, indented"
}

// join puts a path together; either part may be empty.
func join(section, name string) string {
	if section == "" || name == "" {
		return section + name
	}
	return section + "." + name
}

func split(path string) (section, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

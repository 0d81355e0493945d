package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// kind is a type of value: how it is read and how its default is written.
type kind[V any] struct {
	typ        string
	allowed    string
	emptyMeans bool // an empty string is a value, not "unset"
	read       func(r *reader, path string, n ast.Node) (V, bool)
	show       func(V) string
}

func boolean() kind[bool] {
	k := kind[bool]{typ: "boolean", allowed: "true, false", show: strconv.FormatBool}
	k.read = func(r *reader, path string, n ast.Node) (bool, bool) {
		if b, ok := n.(*ast.BoolNode); ok {
			return b.Value, true
		}
		r.invalid(path, n, k.allowed)
		return false, false
	}
	return k
}

// integer is a whole number in decimal, both bounds included.
func integer(low, high int) kind[int] {
	k := kind[int]{typ: "integer", allowed: fmt.Sprintf("a whole number, %d to %d", low, high), show: strconv.Itoa}
	k.read = func(r *reader, path string, n ast.Node) (int, bool) {
		if _, ok := n.(*ast.IntegerNode); ok {
			raw := n.GetToken().Value
			// Anything but plain decimals (0x10, 010, 1_000) reads differently elsewhere.
			if v, err := strconv.Atoi(raw); err == nil && strconv.Itoa(v) == raw && low <= v && v <= high {
				return v, true
			}
		}
		r.invalid(path, n, k.allowed)
		return 0, false
	}
	return k
}

func megabytes(low, high int) kind[int64] {
	i := integer(low, high)
	return kind[int64]{typ: i.typ, allowed: i.allowed,
		show: func(v int64) string { return strconv.FormatInt(v>>20, 10) },
		read: func(r *reader, path string, n ast.Node) (int64, bool) {
			v, ok := i.read(r, path, n)
			return int64(v) << 20, ok
		}}
}

// maxSeconds is thirty days: more is a slip of the finger, and far from
// overflowing a Duration.
const maxSeconds = 30 * 24 * 60 * 60

// seconds is a duration above zero, written as a number of seconds.
func seconds() kind[time.Duration] {
	return duration(fmt.Sprintf("a number of seconds above 0, at most %d", maxSeconds), 1)
}

// secondsOrNone is seconds, and 0 for no waiting at all.
func secondsOrNone() kind[time.Duration] {
	return duration(fmt.Sprintf("a number of seconds, 0 to %d", maxSeconds), 0)
}

func duration(allowed string, low time.Duration) kind[time.Duration] {
	k := kind[time.Duration]{typ: "seconds", allowed: allowed}
	k.show = func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	k.read = func(r *reader, path string, n ast.Node) (time.Duration, bool) {
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
			v, err := strconv.ParseFloat(n.GetToken().Value, 64)
			if d := time.Duration(v * float64(time.Second)); err == nil && v <= maxSeconds && d >= low {
				return d, true
			}
		}
		r.invalid(path, n, allowed)
		return 0, false
	}
	return k
}

// oneOf is a word out of a closed list.
func oneOf(words ...string) kind[string] {
	k := kind[string]{typ: "word", allowed: strings.Join(words, ", "), show: func(s string) string { return s }}
	k.read = func(r *reader, path string, n ast.Node) (string, bool) {
		// +1 is a reaction to GitHub and a number to YAML.
		if raw, ok := scalar(n); ok && slices.Contains(words, raw) {
			return raw, true
		}
		r.invalid(path, n, k.allowed)
		return "", false
	}
	return k
}

// text is a string that fits returns true for; allowed says so in words.
func text(allowed string, fits func(string) bool) kind[string] {
	k := kind[string]{typ: "text", allowed: allowed, show: showText}
	k.read = func(r *reader, path string, n ast.Node) (string, bool) {
		s, ok := stringValue(n)
		if !ok {
			r.notText(path, n, allowed)
			return "", false
		}
		if !fits(s) {
			r.invalid(path, n, allowed)
			return "", false
		}
		return s, true
	}
	return k
}

// matching is text of a grammar.
func matching(allowed string, grammar *regexp.Regexp) kind[string] {
	return text(allowed, grammar.MatchString)
}

// showText writes a default as YAML: bare where that means the same.
func showText(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ./-") == "" {
		return s
	}
	if strings.HasPrefix(s, "https://") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// list is a list of what each reads. An entry that does not fit is reported and
// stays as a zero value, so that the ones behind it keep their places.
func list[V any](each kind[V]) kind[[]V] {
	k := kind[[]V]{typ: "list of " + each.typ, allowed: "a list; each entry: " + each.allowed}
	k.show = func(vs []V) string {
		words := make([]string, len(vs))
		for i, v := range vs {
			words[i] = each.show(v)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	k.read = func(r *reader, path string, n ast.Node) ([]V, bool) {
		entries, ok := n.(*ast.SequenceNode)
		if !ok {
			r.invalid(path, n, k.allowed)
			return nil, false
		}
		vs := make([]V, len(entries.Values))
		for i, n := range entries.Values {
			n, path := plainNode(n), fmt.Sprintf("%s[%d]", path, i)
			if n == nil || n.Type() == ast.NullType {
				continue // reported by structure
			}
			r.at[path] = position(n)
			if v, ok := each.read(r, path, n); ok {
				vs[i] = v
			}
		}
		return vs, true
	}
	return k
}

// named is a mapping from names of the user's choosing.
func named[V any](name kind[string], each kind[V]) kind[map[string]V] {
	k := kind[map[string]V]{typ: "mapping to " + each.typ, allowed: "a mapping; each name: " + name.allowed}
	k.show = func(map[string]V) string { return "{}" }
	k.read = func(r *reader, path string, n ast.Node) (map[string]V, bool) {
		m, ok := n.(*ast.MappingNode)
		if !ok {
			r.invalid(path, n, k.allowed)
			return nil, false
		}
		vs := map[string]V{}
		for _, v := range m.Values {
			word, ok := keyName(v.Key)
			if !ok {
				continue // reported by structure
			}
			path := path + "." + printable(word)
			r.at[path] = position(v.Key)
			if _, ok := name.read(r, path, v.Key); !ok {
				continue
			}
			if n := plainNode(v.Value); n != nil && !unset(n) {
				if got, ok := each.read(r, path, n); ok {
					vs[word] = got
				}
			}
		}
		return vs, true
	}
	return k
}

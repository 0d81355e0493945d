package policy

import "strings"

// Marker is the hidden text that everything carries which the program or its
// sessions post (A2). It is invisible where Markdown is rendered.
const Marker = "<!-- the-loop:agent-comment -->"

// SelfAuthored reports whether the text carries the Marker anywhere. Such a text
// is dropped whoever posted it: quoted, or in code, too (A2).
func SelfAuthored(body string) bool { return strings.Contains(body, Marker) }

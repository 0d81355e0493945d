// Package escape makes what strangers wrote visible before anybody looks at it: on a
// terminal, in the event log, in the prompt of an agent. It is the one place that
// says which characters hide (A5, A8).
//
// # Nouns
//
// A character is hidden when it cannot be seen or changes how others are seen:
// controls, bidirectional marks, fillers, joiners, blanks that no property of Unicode
// names. A line is a field that stays on one line ([Line]); a text may have several
// ([Text]).
//
// # Guarantees
//
//   - What comes out of [Line] and [Text] is UTF-8 without hidden characters, but for
//     the line feeds and tabs of a text, and escaping it again changes nothing.
//   - Two characters never come out of [Line] alike.
//   - [AppendJSON] is exact: a JSON decoder gives the character back.
//
// # Not guaranteed
//
// What [Line] and [Text] escaped cannot be turned back: a title that spells out the six
// letters \u202e looks like one that holds the character. Letters of right-to-left
// scripts are visible, so they stay. Look-alike letters are not told apart.
package escape

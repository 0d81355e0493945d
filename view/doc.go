// Package view makes text for people: escaped words, ages, tables, fact lists,
// colours and links. It knows nothing of trackers or ledgers; it is given plain
// values and gives back strings, and whoever called it prints them. What comes one
// by one, a [Stream] of rows or a [List] of JSON values, it writes on.
//
// # Nouns
//
// A field is one value that must stay on one line (a title, a login, an error
// of another program): [Line]. A text may have several lines: [Escape]. A
// [Table] is one row per record, a [Stream] one whose rows come one by one,
// [Facts] one line per property of one record, a [Style] says whether colours
// may be used, and a [Tone] what a colour means.
//
// # Guarantees
//
//   - Whatever goes through [Line], [Escape], [JSON], [List], [Link], [Links],
//     [Table], [Stream], [Facts] or [Style.Paint] comes out without control,
//     bidirectional or invisible characters of its own (A8): it cannot move the
//     cursor, reorder what stands around it, or hide.
//   - [Line] never yields a line break, and [Table], [Stream] and [Facts] put
//     every cell through it, so a caller cannot forget to.
//   - A rendered table is never wider than the width it was given.
//   - [Stream] and [List] keep no more than the first rows, however many come.
//   - [Link] and [Links] let no text lead anywhere but to the hosts they were
//     given.
//   - Nothing here is read from the environment; [Terminal] is the only
//     function that asks the system for anything.
//
// # Not guaranteed
//
// Escaped text cannot be turned back: a title that spells out the six letters
// \u202e looks like one that holds the character. [JSON] is the exact form.
// Letters of right-to-left scripts are visible, so they stay, and a terminal
// may lay them out from the right. Look-alike letters are not told apart. The
// width of a text is what most terminals make of it, not what each of them does.
package view

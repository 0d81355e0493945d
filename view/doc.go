// Package view makes text for people: ages, tables, fact lists, colours, links and
// JSON. It knows nothing of trackers or ledgers; it is given plain values and gives
// back strings, and whoever called it prints them. What comes one by one, a [Stream]
// of rows or a [List] of JSON values, it writes on.
//
// # Nouns
//
// A [Table] is one row per record, a [Stream] one whose rows come one by one,
// [Facts] one line per property of one record, a [Style] says whether colours
// may be used, and a [Tone] what a colour means.
//
// # Guarantees
//
//   - Whatever goes through [JSON], [List], [Link], [Links], [Table], [Stream],
//     [Facts] or [Style.Paint] comes out without hidden characters of its own (A8,
//     package escape): it cannot move the cursor, reorder what stands around it, or
//     hide. A caller cannot forget to escape.
//   - A rendered table is never wider than the width it was given, but for a value that
//     must not be cut and is longer than a line.
//   - [Stream] and [List] keep no more than the first rows, however many come.
//   - [Link] and [Links] let no text lead anywhere but to the hosts they were
//     given.
//   - Nothing here is read from the environment; [Terminal] is the only
//     function that asks the system for anything.
//
// # Not guaranteed
//
// Escaped text cannot be turned back; [JSON] is the exact form. A terminal may lay
// out letters of right-to-left scripts from the right. The width of a text is what
// most terminals make of it, not what each of them does.
package view

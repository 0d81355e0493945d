// Package policy says whom the program obeys and what it understands of what
// they say. It is pure: it reads no clock, no file and no tracker, and keeps
// nothing.
//
// A Policy is made by New from what the configuration says, and is a value: a
// changed configuration makes another one. Authorized judges an account (A1,
// A3), SelfAuthored a text that came from us (A2), Commands the control words
// in the text of a comment (X3, X4).
//
// A Command is a control word: start, stop and so on. A keyword is the text that
// stands for it, `the-loop stop` unless configured. What is searched for keywords
// are the words of the comment that its author wrote and that a reader sees,
// after Markdown: emphasis and headings count; block quotes, struck-out text,
// code, HTML and link targets do not.
//
// Guarantees: no text makes Commands panic or run for longer than about a second
// (see the limits in bounds.go; a text beyond them has no keyword), and the
// answer depends on the arguments alone.
//
// What it does not do: Commands does not ask who wrote the text. Ask Authorized
// and SelfAuthored first, each time the words are used (A7). A keyword is looked
// for in what a reader sees, so one that is itself Markdown or HTML, `*go*` or
// `<go>`, is never found.
package policy

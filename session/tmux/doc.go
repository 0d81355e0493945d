// Package tmux hosts agent conversations in tmux. It is the only package that runs the tmux binary; it imports nothing
// else of this program: strings in, structs out.
//
// # Nouns
//
//   - Server: one tmux server (the user's default one, or one of its own name) and the way to call it.
//   - Pane: the terminal of one harness. It is addressed by the ids that tmux gives ($session:@window.%pane), never by
//     a name, because a bare name is a prefix match: "loop-1" would reach "loop-15".
//   - Marks: options on the pane that say whose it is. Owner ("<instance>-<16 hex of the item key>"), the harness
//     session id, and the ring: the last 20 deliveries that reached it ("|<16 hex>|", with "_" before a first prompt
//     that has not been proved yet).
//   - Identity: "<server pid>/<session created>/<pane pid>". Pane ids start again at 0 with a new server; this does not.
//   - Guard: a format that tmux evaluates in the same step as the effect. It is positive: every part must be equal to
//     something, since a format of a pane that is gone is empty.
//   - Order: what session-exec is to run in a new pane, carried in a tmux buffer.
//
// # Guarantees
//
//   - Look does not guess: Absent is what tmux said; whatever else went wrong is Silent (D4).
//   - Paste sends a text once while the pane lives: body, submit and ring are one step of the server, under one guard,
//     with a deadline that the server checks by its own clock (D3, D7). Skip proves that nothing was sent.
//   - Spawn makes a session with all its marks or no session (D5); no user hook runs between the two.
//   - Every argument given to tmux is a constant, a number or made of [A-Za-z0-9_-] (D8): see type arg. All else travels
//     over stdin. The environment is an allow-list.
//   - Every call is a child process in a group of its own, with a deadline, killed with its group. No descriptor of this
//     process reaches the tmux server (L6).
//   - Nothing is typed into, killed or signalled that does not carry the owner mark it was called with (D9).
//
// # Not guaranteed
//
//   - OK means pasted into the pane's terminal, not read by the program in it.
//   - A server that is killed between the paste and the ring leaves nobody to ask: the caller sends again and says so.
//   - What the text means: Paste refuses control characters, it does not clean them.
//   - Close ends the harness and what descends from it. A process whose parents had ended before it was seen belongs to
//     nobody, and goes on: nothing tells it from a service that was started on purpose. Without /proc only the process
//     group of the harness is reached.
//   - On platforms without a Unix terminal the package compiles, and New refuses.
package tmux

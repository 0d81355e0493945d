// Package config finds, reads and checks the configuration file
// (cli-config.yaml) and watches it for edits.
//
// Nouns. A key is one row of a table (keys.go, keys_routing.go, keys_source.go): where it stands,
// what it may hold, its default, what it means. A Config is what the file
// says once every key has been read: plain values, defaults filled in. A
// Problem is one thing about the file that somebody should know, with line
// and column. A Reloader holds the last good Config beside a file that is
// being edited.
//
// Guarantees
//   - Every problem of a file is told at once, each with file, line, column,
//     what was found and what is allowed. Values are echoed escaped and cut;
//     what looks like a token is never echoed.
//   - A file with an error gives no Config: nothing is half applied.
//   - Repositories, hosts, names and addresses that reach a Config match
//     their grammar (A5, P9), so that none can be an option, a path or a
//     command further on.
//   - A broken edit keeps all of the last good one (R1).
//   - Reading is bounded: 256 KiB, nesting of 32, regular files only.
//
// Not guaranteed
//   - Paths are kept as the file gives them and need not exist. Resolve makes
//     them absolute.
//   - An edit that an editor leaves half written, at rest and valid, is taken.
//     Editors that write beside the file and rename are safe.
//   - Flags: whoever has some lays them over every Config, reloaded ones too.
//   - Whether a host answers, a repository exists or a program is installed.
//   - Slices and maps of a Config are shared between its copies: read them,
//     never write them.
package config

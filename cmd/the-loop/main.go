// Command the-loop polls issue trackers, hosts one agent session per work item
// in tmux, and forwards what people say into it once. The README says how to
// use it; this package is its command line: parse, call, print, exit code.
package main

import "os"

func main() { os.Exit(run()) }

package main

import "os"

// exitInterrupted is what a process returns that was told twice to stop: 128
// and the number of SIGINT, as shells expect.
const exitInterrupted = 130

// exitNow ends the process without any clean-up; the kernel frees the lock.
func exitNow() { os.Exit(exitInterrupted) }

// Package daemon puts the poller together and runs it: the composition root.
//
// It is the only package that knows which concrete parts there are. Its start
// order puts nothing with an effect before the run lock; its stop order lets go
// of the lock last of all. A start that is refused leaves every byte under the
// state root as it was, but for one poller.blocked event, and removes a root
// that it made.
//
// What runs: one goroutine of cycles, the queue's workers, and the control
// socket's server; Run waits for all of them.
package daemon

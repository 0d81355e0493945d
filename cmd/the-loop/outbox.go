package main

import (
	"bytes"
	"io"
)

const (
	// outboxChunk is what is handed over at a time, outboxChunks how many of them wait:
	// 32 MiB, or the list of some 200 000 items.
	outboxChunk  = 64 << 10
	outboxChunks = 512
)

// outbox writes on, in the background, what it is given: whoever reads the ledger for
// an answer is done with it, and gives it back, however slowly a pager takes the
// answer. It remembers no more than 32 MiB; then the writer waits.
type outbox struct {
	chunk  bytes.Buffer
	chunks chan []byte
	done   chan error
	// failed is closed when nothing more can be written.
	failed chan struct{}
	err    error
}

// newOutbox begins to write on. Close ends it.
func newOutbox(to io.Writer) *outbox {
	o := &outbox{chunks: make(chan []byte, outboxChunks), done: make(chan error, 1), failed: make(chan struct{})}
	go func() {
		var failed error
		for chunk := range o.chunks {
			if failed != nil {
				continue
			}
			if _, failed = to.Write(chunk); failed != nil {
				o.err = failed
				close(o.failed)
			}
		}
		o.done <- failed
	}()
	return o
}

// Write takes text. It returns the error of an output that takes nothing more.
func (o *outbox) Write(p []byte) (int, error) {
	n, _ := o.chunk.Write(p) // a buffer takes everything
	if o.chunk.Len() < outboxChunk {
		return n, nil
	}
	return n, o.hand()
}

func (o *outbox) hand() error {
	select {
	case <-o.failed:
		return o.err
	case o.chunks <- bytes.Clone(o.chunk.Bytes()):
		o.chunk.Reset()
		return nil
	}
}

// Close waits until everything is written.
func (o *outbox) Close() error {
	if o.chunk.Len() > 0 {
		_ = o.hand() // what failed comes with done
	}
	close(o.chunks)
	return <-o.done
}

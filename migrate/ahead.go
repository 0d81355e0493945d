package migrate

import (
	"iter"
	"runtime"
	"sync"
)

// aheadItems is how many items one core takes at a time: enough that handing them
// over costs nothing beside making them, and few enough to hold.
const aheadItems = 16

// aheadBytes is how large a file is that is read ahead of its turn: only so may many
// be held at once.
const aheadBytes = 1 << 20

// ahead makes n items on all cores and yields them in their order. A few times
// aheadItems are held at once. Nothing of it runs any more when the loop over it
// has ended.
func ahead[T any](n int, item func(int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		stop := make(chan struct{})
		defer close(stop)
		parts := make(chan chan []T, runtime.GOMAXPROCS(0))
		running.Go(func() {
			defer close(parts)
			for from := 0; from < n; from += aheadItems {
				part := make(chan []T, 1) // is left alone when the loop has ended
				select {
				case parts <- part:
				case <-stop:
					return
				}
				running.Go(func() { part <- span(from, min(from+aheadItems, n), item) })
			}
		})
		i := 0
		for part := range parts {
			for _, made := range <-part {
				if !yield(i, made) {
					return
				}
				i++
			}
		}
	}
}

func span[T any](from, to int, item func(int) T) []T {
	made := make([]T, 0, to-from)
	for i := from; i < to; i++ {
		made = append(made, item(i))
	}
	return made
}

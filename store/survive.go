package store

import (
	"fmt"
	"runtime/debug"
)

// survive runs fn and returns a *DamagedError when it panics: when a page that
// the library reads is not there (a page fault inside the map, which would end
// the process otherwise) or makes no sense to it. fn must hold nothing but calls
// of the library and copying: everything else belongs outside of it.
func survive(path string, fn func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = &DamagedError{Path: path, Reason: reasonOf(p)}
		}
	}()
	return fn()
}

func reasonOf(p any) string {
	if _, ok := p.(interface{ Addr() uintptr }); ok {
		return fmt.Sprintf("is damaged: a page of it is not there (%v)", p)
	}
	return fmt.Sprintf("is damaged: a page of it makes no sense (%v)", p)
}

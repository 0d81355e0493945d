// Package leaktest holds the tests of a package to what they found: no goroutine,
// descriptor, process or temporary file may be left when all of them are done.
//
// Their temporary files belong below one folder of theirs, by which the processes
// that they started are known, too: it is in the environment of each.
package leaktest

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is how long what is on its way out may take: a killed server's
// children, a descriptor of a connection that was closed.
const patience = 5 * time.Second

// Run runs the tests of a package and returns the exit status: that of the tests,
// or 1 when they left something behind. The folder is removed.
func Run(m interface{ Run() int }, dir string) int { return run(m, dir, patience) }

func run(m interface{ Run() int }, dir string, patience time.Duration) int {
	before := descriptors()
	code := m.Run()
	left := find(dir, before)
	for give := time.Now().Add(patience); len(left) > 0 && time.Now().Before(give); left = find(dir, before) {
		<-time.After(patience / 100)
	}
	for _, what := range left {
		fmt.Println("left behind:", what)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Println("left behind:", err)
		code = 1
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Println(err)
		code = 1
	}
	return code
}

// find is what there is and should not be.
func find(dir string, before map[string]bool) (left []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		left = append(left, "the file "+dir+"/"+e.Name())
	}
	for open := range descriptors() {
		if !before[open] {
			left = append(left, "the descriptor "+open)
		}
	}
	return append(left, processes(dir)...)
}

//go:build !unix

package migrate

// openFlags has nothing to add here: pipes are not files.
const openFlags = 0

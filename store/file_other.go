//go:build !unix

package store

import "io/fs"

const noFollow = 0

func notOurs(fs.FileInfo) string { return "" }

// syncFolder does nothing: folders cannot be synced here, renames are durable
// when they return.
func syncFolder(string) error { return nil }

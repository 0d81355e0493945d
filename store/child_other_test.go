//go:build !unix

package store_test

func addUnixChildren(map[string]func([]string) error) {}

// fault touches a page that is not there.
func fault() {
	var page *byte
	*page = 0
}

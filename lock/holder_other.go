//go:build !linux

package lock

func commandLine(int) string { return "" }

func hasOpen(string, int) (open, known bool) { return false, false }

package eventlog

// truncate is s cut to at most n characters, the last of which is then "…". It
// reports whether it cut.
func truncate(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	end, count := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
		}
		if count == n {
			return s[:end] + ellipsis, true
		}
		count++
	}
	return s, false
}

// ellipsis ends what was cut.
const ellipsis = "…"

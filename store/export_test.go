package store

// FailCommits makes every commit that took effect return what fn returns.
func (l *Ledger) FailCommits(fn func() error) { l.failpoint = fn }

package migrate

import "time"

// Report says what an import did, or would do. Lists are never nil.
type Report struct {
	// Imported and Unchanged count records.
	Imported  int        `json:"imported"`
	Unchanged int        `json:"unchanged"`
	Conflicts []Conflict `json:"conflicts"`
	Invalid   []Invalid  `json:"invalid"`
	Merged    []Merged   `json:"merged"`
	Sessions  Sessions   `json:"sessions"`
	// Links counts the pull requests that were bound to an issue's session.
	Links int `json:"links"`
	// FirstSight are the items whose thread will be seen for the first time.
	FirstSight []string `json:"firstSight"`
	// Retries are the comments that will be tried at the first start.
	Retries []Retry `json:"retries"`
	DryRun  bool    `json:"dryRun"`
}

// Conflict is an item that ledger and file differ about. The ledger wins,
// unless it was Overwritten.
type Conflict struct {
	Ref  string `json:"ref"`
	File string `json:"file"`
	// Differs names the parts, as they are called in the document.
	Differs     []string `json:"differs"`
	Overwritten bool     `json:"overwritten"`
}

// Invalid is what could not be imported. Line is 0 when it is about the whole
// file.
type Invalid struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Merged is an item that several files are about: refs are compared without
// case.
type Merged struct {
	Ref   string   `json:"ref"`
	Files []string `json:"files"`
}

// Sessions counts the session rows that were made.
type Sessions struct {
	// Live are of this machine and not closed: what still runs is adopted.
	Live int `json:"live"`
	// Gone are closed.
	Gone int `json:"gone"`
	// Foreign have no folder here: they count as no session.
	Foreign int `json:"foreign"`
	// Adopt are the items of the live ones.
	Adopt []string `json:"adopt"`
	// Left says which handles, or parts of them, nothing will be done with.
	Left []Left `json:"left"`
}

// Left is a handle, or a part of one, that nothing is done with.
type Left struct {
	Ref    string `json:"ref"`
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Retry is a comment that will be tried at the first start, as far as its author
// is still obeyed.
type Retry struct {
	Ref     string `json:"ref"`
	Comment string `json:"comment"`
	// Attempts were made by the earlier release; MayRepeat says that one of them
	// may have arrived.
	Attempts  int  `json:"attempts"`
	MayRepeat bool `json:"mayRepeat"`
	// GaveUp says that an earlier release had given it up, in Version.
	GaveUp  bool   `json:"gaveUp"`
	Version string `json:"version"`
	// PolledAt is when the earlier release last looked at the item, its age at
	// least; zero when it does not say.
	PolledAt time.Time `json:"polledAt,omitzero"`
}

func newReport(dryRun bool) *Report {
	return &Report{
		Conflicts: []Conflict{}, Invalid: []Invalid{}, Merged: []Merged{}, FirstSight: []string{}, Retries: []Retry{},
		Sessions: Sessions{Adopt: []string{}, Left: []Left{}}, DryRun: dryRun,
	}
}

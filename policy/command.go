package policy

import "slices"

// Command is a control word (X4).
type Command string

// The control words.
const (
	Start      Command = "start"
	Do         Command = "do"
	Contribute Command = "contribute"
	Stop       Command = "stop"
	Pause      Command = "pause"
	Resume     Command = "resume"
	Cleanup    Command = "cleanup"
)

// keywordPrefix stands in front of a command in its default keyword, so that a
// plain "stop" in a sentence is none.
const keywordPrefix = "the-loop "

// AllCommands returns every control word, in the order of the configuration.
func AllCommands() []Command {
	return []Command{Start, Do, Contribute, Stop, Pause, Resume, Cleanup}
}

// ParseCommand reads the word of a record; ok is false for a word that is no
// command.
func ParseCommand(word string) (c Command, ok bool) {
	c = Command(word)
	return c, slices.Contains(AllCommands(), c)
}

// Arming reports whether the word lets a session run: an item whose last
// recorded command is an arming one is started (X4).
func (c Command) Arming() bool {
	return c == Start || c == Do || c == Contribute || c == Resume
}

// ActsAs returns the command whose effect c has: start for do and contribute,
// c itself otherwise. The record keeps the word that was said (X4).
func (c Command) ActsAs() Command {
	if c == Do || c == Contribute {
		return Start
	}
	return c
}

// keywordTexts returns the keyword of every command, "" for one turned off.
func keywordTexts(configured map[Command]string) map[Command]string {
	texts := make(map[Command]string)
	for _, c := range AllCommands() {
		texts[c] = keywordPrefix + string(c)
		if text, ok := configured[c]; ok {
			texts[c] = text
		}
	}
	return texts
}

package harnesslog

import "bytes"

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Input is all that the terminal of process pid got, in order; pid 0: of all processes.
func Input(records []Record, pid int) []byte {
	var all []byte
	for _, r := range records {
		if r.Kind == "input" && (pid == 0 || r.PID == pid) {
			all = append(all, r.Input...)
		}
	}
	return all
}

// Starts are the start records: one for each run.
func Starts(records []Record) []Record {
	var starts []Record
	for _, r := range records {
		if r.Kind == "start" {
			starts = append(starts, r)
		}
	}
	return starts
}

// Deliveries cuts an input into what was submitted: a bracketed paste or typed text, each ended by a carriage return
// outside of brackets. rest is what has not been submitted yet. A delivery that was both pasted and typed into is
// returned as it came, without the brackets, so that a comparison with what was sent shows it.
func Deliveries(input []byte) (submitted [][]byte, rest []byte) {
	var current []byte
	for len(input) > 0 {
		if after, ok := bytes.CutPrefix(input, []byte(pasteStart)); ok {
			end := bytes.Index(after, []byte(pasteEnd))
			if end < 0 {
				return submitted, append(current, input...)
			}
			current = append(current, after[:end]...)
			input = after[end+len(pasteEnd):]
			continue
		}
		if input[0] == '\r' {
			submitted, current = append(submitted, bytes.Clone(current)), nil
			input = input[1:]
			continue
		}
		current, input = append(current, input[0]), input[1:]
	}
	return submitted, current
}

// Texts are the first prompt and the deliveries of every run in a log, in order, as strings: what the conversation was
// told, for counting. An empty first prompt is left out.
func Texts(records []Record) []string {
	var texts []string
	for _, start := range Starts(records) {
		if len(start.Prompt) > 0 {
			texts = append(texts, string(start.Prompt))
		}
		submitted, _ := Deliveries(Input(records, start.PID))
		for _, d := range submitted {
			texts = append(texts, string(d))
		}
	}
	return texts
}

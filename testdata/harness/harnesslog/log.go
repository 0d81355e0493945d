// Package harnesslog is the log of the test harness: what it was started with and every byte that reached its terminal.
// Several runs may append to one file; each begins with a start record.
package harnesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Record is one line of the log. Byte slices are base64 in the file.
type Record struct {
	Kind    string    `json:"kind"` // start, raw, input, signal, exit
	At      time.Time `json:"at"`
	PID     int       `json:"pid"`
	Args    [][]byte  `json:"args,omitempty"`   // start: the whole command line
	Prompt  []byte    `json:"prompt,omitempty"` // start: the arguments after the flags, joined by spaces
	Session string    `json:"session,omitempty"`
	Resume  string    `json:"resume,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Env     []string  `json:"env,omitempty"`
	Input   []byte    `json:"input,omitempty"`
	Text    string    `json:"text,omitempty"` // signal, exit: which, why
}

// Writer appends records; each is one write.
type Writer struct {
	mu   sync.Mutex
	file *os.File
}

// Create opens a log to append to.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log (-log): %w", err)
	}
	return &Writer{file: f}, nil
}

func (w *Writer) add(r Record) {
	r.At, r.PID = time.Now(), os.Getpid()
	line, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

// Start records the command line, the environment and the working directory.
func (w *Writer) Start(args, prompt []string, session, resume string) {
	r := Record{Kind: "start", Env: os.Environ(), Session: session, Resume: resume}
	for _, a := range args {
		r.Args = append(r.Args, []byte(a))
	}
	for i, p := range prompt {
		if i > 0 {
			r.Prompt = append(r.Prompt, ' ')
		}
		r.Prompt = append(r.Prompt, p...)
	}
	r.Dir, _ = os.Getwd()
	w.add(r)
}

// Raw records that the terminal is in raw mode.
func (w *Writer) Raw() { w.add(Record{Kind: "raw"}) }

// Input records bytes that were read.
func (w *Writer) Input(b []byte) { w.add(Record{Kind: "input", Input: b}) }

// Signal records a signal.
func (w *Writer) Signal(name string) { w.add(Record{Kind: "signal", Text: name}) }

// Exit records why the program ends.
func (w *Writer) Exit(why string) { w.add(Record{Kind: "exit", Text: why}) }

// Read returns the records of a log; none when there is no file yet. A last line without an end is left out.
func Read(path string) ([]Record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read harness log: %w", err)
	}
	var records []Record
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read harness log %s: %w", path, err)
		}
		records = append(records, r)
	}
	return records, nil
}

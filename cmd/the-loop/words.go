package main

import (
	"strings"

	"theloop/localapi"
	"theloop/view"
)

// whyWords say why an item is in the state that it is in, and what that means for
// what is said on it.
func whyWords(s localapi.Summary) string {
	switch s.State {
	case "sealed":
		return "it has ended; this much is remembered of it"
	case "ended":
		return "it was closed on its tracker"
	case "off-list":
		return "the last complete listing did not have it: closed, or without its label"
	case "not seen yet":
		return "no cycle has seen it on its tracker so far"
	}
	var parts []string
	if s.Pending > 0 {
		parts = append(parts, view.Count(s.Pending, "comment", "comments")+" to be delivered")
	}
	if s.GaveUp > 0 {
		parts = append(parts, view.Count(s.GaveUp, "comment", "comments")+" given up")
	}
	if s.SpawnGaveUp {
		parts = append(parts, "the start of its session was given up")
	}
	return strings.Join(append(parts, sessionState(s)), "; ")
}

// sessionState says what becomes of what is said on an open item.
func sessionState(s localapi.Summary) string {
	if s.Target != nil {
		return "what is said goes into the session of " + *s.Target
	}
	switch s.Command {
	case "stop", "cleanup":
		return "stopped: nothing is sent until it is started again"
	case "pause":
		if s.Session != "paused" { // no session is there to be resumed (X4)
			return "paused: nothing is sent until it is started again"
		}
	}
	switch s.Session {
	case "active":
		return "what is said goes into its session"
	case "paused":
		return "its session is paused: nothing is sent until it is resumed"
	case localapi.Elsewhere:
		return "its session is on another machine"
	}
	if s.Command == "" {
		return "nobody has started it"
	}
	return "started; it has no session now"
}

// outcomeWords says why a comment that was not delivered was not, in words.
var outcomeWords = map[string]string{
	"first-sight":       "not delivered: it was there when the item was first seen",
	"unauthorized":      "not delivered: its author is not in routing.authorizedUsers",
	"self-authored":     "not delivered: an agent wrote it",
	"late":              "not delivered: older than what the ledger remembers of this item",
	"imported":          "dealt with before the records were imported",
	"awaiting-start":    "not delivered: the item was not started",
	"session-paused":    "not delivered: the session was paused when it arrived",
	"session-stopped":   "not delivered: the session was stopped",
	"spawn-policy":      "not delivered: routing.spawnOnUnmatched allows no session for it",
	"ended":             "not delivered: the item had ended",
	"control-executed":  "a command, carried out",
	"control-rejected":  "a command, refused",
	"control-ambiguous": "two different commands, so neither was obeyed",
	"revoked":           "not delivered: its author may not give input any more",
	"too-long":          "not delivered: longer than 64 KiB",
	"deleted":           "not delivered: it was deleted first",
}

func commentWords(c localapi.Comment) (string, view.Tone) {
	tries := view.Count(c.Attempts, "attempt", "attempts")
	switch c.State {
	case "delivered":
		if c.Attempts > 1 {
			return "delivered, with " + tries, view.Good
		}
		return "delivered", view.Good
	case "pending":
		return "to be delivered, " + tries + " spent", view.Plain
	case "gave-up":
		if c.Attempts == 0 { // its attempts were another release's
			return "given up by another release", view.Bad
		}
		return "given up after " + tries + "; it could not be shown to have arrived", view.Bad
	}
	if words, ok := outcomeWords[c.Outcome]; ok {
		return words, view.Plain
	}
	return c.State + " " + c.Outcome, view.Plain
}

package main

import (
	"testing"

	"theloop/localapi"
)

// A8: what a server answers is no way to lead somebody elsewhere.
func TestWhatATrackerAnsweredToAnOrder(t *testing.T) {
	done := localapi.Ordered{
		Ref: "github:octo/repo#15", Effect: "spawned", Later: "502: see https://status.evil.example/ or https://github.com/octo",
	}
	want := "github:octo/repo#15: start recorded; its session is coming up\n" +
		`its tracker does not answer (502: see https:\u002f\u002fstatus.evil.example/ or https://github.com/octo): ` +
		"what has to come up comes with the next cycle\n"
	if got := orderedText("start", done, []string{"github.com"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

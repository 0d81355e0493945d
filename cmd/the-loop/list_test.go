package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"theloop/localapi"
	"theloop/view"
)

// The state of an item, in words that say why.
func TestWhyWords(t *testing.T) {
	issue := "github:octo/repo#1"
	for _, c := range []struct {
		item localapi.Summary
		want string
	}{
		{localapi.Summary{State: "sealed", Session: "active"}, "it has ended; this much is remembered of it"},
		{localapi.Summary{State: "ended"}, "it was closed on its tracker"},
		{localapi.Summary{State: "off-list"}, "the last complete listing did not have it: closed, or without its label"},
		{localapi.Summary{State: "not seen yet"}, "no cycle has seen it on its tracker so far"},
		{localapi.Summary{State: "open"}, "nobody has started it"},
		{localapi.Summary{State: "open", Session: "closed"}, "nobody has started it"},
		{localapi.Summary{State: "open", Session: "active"}, "what is said goes into its session"},
		{localapi.Summary{State: "open", Command: "start", Session: "active"}, "what is said goes into its session"},
		{localapi.Summary{State: "open", Command: "start"}, "started; it has no session now"},
		{localapi.Summary{State: "open", Command: "start", SpawnGaveUp: true}, "the start of its session was given up; started; it has no session now"},
		{localapi.Summary{State: "open", Command: "pause", Session: "closed"}, "paused: nothing is sent until it is started again"},
		{localapi.Summary{State: "open", Command: "pause", Session: "paused"}, "its session is paused: nothing is sent until it is resumed"},
		{localapi.Summary{State: "open", Session: "paused"}, "its session is paused: nothing is sent until it is resumed"},
		{localapi.Summary{State: "open", Command: "stop", Session: "closed"}, "stopped: nothing is sent until it is started again"},
		{localapi.Summary{State: "open", Command: "cleanup"}, "stopped: nothing is sent until it is started again"},
		{localapi.Summary{State: "open", Command: "start", Session: localapi.Elsewhere}, "its session is on another machine"},
		{localapi.Summary{State: "open", Target: &issue}, "what is said goes into the session of github:octo/repo#1"},
		{
			localapi.Summary{State: "open", Session: "active", Pending: 1, GaveUp: 2},
			"1 comment to be delivered; 2 comments given up; what is said goes into its session",
		},
	} {
		if got := whyWords(c.item); got != c.want {
			t.Errorf("%+v: %q, want %q", c.item, got, c.want)
		}
	}
}

// What has to happen next, in words: after each command (X4), and without one.
func TestItemNext(t *testing.T) {
	said := func(command string, served bool) *localapi.Control {
		return &localapi.Control{Command: command, Served: served, Source: "cli"}
	}
	of := func(actor string) *localapi.Control {
		return &localapi.Control{Command: "start", Source: "comment", Actor: actor}
	}
	issue, runs, rests := "github:octo/repo#1", &localapi.Session{Status: "active"}, &localapi.Session{Status: "paused"}
	const goesIn = "what is said on it next goes into its session"
	away := &localapi.Session{Status: localapi.Elsewhere}
	for _, c := range []struct {
		item localapi.Item
		want string
	}{
		{localapi.Item{State: "ended", Control: said("start", true)}, "nothing, unless it is opened again"},
		{localapi.Item{State: "open"}, "somebody in routing.authorizedUsers has to say the start keyword on it"},
		{localapi.Item{State: "open", Target: &issue}, "what is said on it next goes into the session of github:octo/repo#1"},
		{localapi.Item{State: "open", Session: runs}, goesIn},
		{localapi.Item{State: "open", Session: runs, Control: said("start", true)}, goesIn},
		{localapi.Item{State: "open", Control: said("start", false)}, "the next cycle brings its session up"},
		{localapi.Item{State: "open", Control: said("contribute", false)}, "the next cycle brings its session up"},
		{localapi.Item{State: "open", Control: said("start", true)}, goesIn},
		{localapi.Item{State: "open", Control: said("start", true), Session: away}, "what is said on it next brings a session up here"},
		{localapi.Item{State: "open", Control: said("start", false), Session: away}, "the next cycle brings its session up"},
		{localapi.Item{State: "open", Control: said("stop", false)}, "nothing until somebody says the start keyword"},
		{localapi.Item{State: "open", Control: said("pause", false)}, "nothing is sent until somebody says the start keyword"},
		{localapi.Item{State: "open", Control: said("pause", false), Session: rests}, "nothing is sent until somebody says the resume keyword"},
		{localapi.Item{State: "open", Control: of("octocat")}, "the next cycle brings its session up"},
		{
			localapi.Item{State: "open", Control: of("hubot")},
			"somebody in routing.authorizedUsers has to say the start keyword on it: who said it last is not listed any more",
		},
		{
			localapi.Item{State: "open", Control: of("hubot"), Session: runs},
			"what is said on it next goes into its session while that runs; then somebody in routing.authorizedUsers has to say the start keyword: " +
				"who said it last is not listed any more",
		},
		{localapi.Item{State: "open", Session: rests}, "nothing is sent until somebody says the resume keyword"},
		{
			localapi.Item{State: "open", Control: said("start", false), Spawn: localapi.Spawn{GaveUp: true}},
			"a new comment, or a start, tries to bring its session up again",
		},
	} {
		if got := itemNext(c.item, func(account string) bool { return account == "octocat" }); got != c.want {
			t.Errorf("%+v: %q, want %q", c.item, got, c.want)
		}
	}
}

// What comes next for a comment, in words.
func TestCommentNext(t *testing.T) {
	for outcome, want := range map[string]string{
		"control-executed": "nothing: it was carried out",
		"control-rejected": "nothing: it stays as it is; write it again if it still matters",
		"awaiting-start":   "nothing: it stays as it is; write it again if it still matters",
	} {
		if got := commentNext(localapi.Comment{State: "settled", Outcome: outcome}); got != want {
			t.Errorf("%s: %q, want %q", outcome, got, want)
		}
	}
}

// A list for every width: as many facts as there is room for, and on a pipe all.
func TestListForEveryWidth(t *testing.T) {
	now := time.Date(2026, 7, 31, 12, 0, 0, 0, time.UTC)
	item := localapi.Summary{
		Ref: "github:octo/repo#15", URL: "https://github.com/octo/repo/issues/15", State: "open", Command: "start", Session: "active",
		Title: "Greet the world, and then some more of it", Delivered: 3, UpdatedAt: localapi.Time{Time: now.Add(-2 * time.Hour)},
	}
	const all = "ITEM                 STATE  COMMAND  SESSION  PENDING  DELIVERED  GAVE UP  UPDATED  LINK                                    " +
		"WHY                                 TITLE\n" +
		"github:octo/repo#15  open   start    active         0          3        0  2h ago   https://github.com/octo/repo/issues/15  " +
		"what is said goes into its session  Greet the world, and then some more of it\n"
	for width, want := range map[int]string{
		0:   all,
		220: all,
		150: "ITEM                 STATE  COMMAND  SESSION  PENDING  DELIVERED  GAVE UP  UPDATED  WHY                                 TITLE\n" +
			"github:octo/repo#15  open   start    active         0          3        0  2h ago   what is said goes into its sess…  Greet the world, and then some …\n",
		80: "ITEM                 STATE  SESSION  UPDATED  WHY             TITLE\n" +
			"github:octo/repo#15  open   active   2h ago   what is said go…  Greet the world…\n",
		40: "ITEM:    github:octo/repo#15\nSTATE:   open\nSESSION: active\nUPDATED: 2h ago\n" +
			"WHY:     what is said goes into its\n         session\nTITLE:   Greet the world, and then some\n         more of it\n",
	} {
		v := listView{now: now, width: width, hosts: []string{"github.com"}}
		table := view.Table{Columns: titlesOf(v.columns())}
		table.Rows = append(table.Rows, appendRow(nil, v, v.columns(), item))
		if got := table.Render(view.Style{}, width); squeezed(got) != squeezed(want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// squeezed leaves the exact blanks to the table's own tests.
func squeezed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// slow is an output that takes nothing until it is let.
type slow struct {
	let  chan struct{}
	got  bytes.Buffer
	fail error
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.let
	if s.fail != nil {
		return 0, s.fail
	}
	return s.got.Write(p)
}

// Who reads the ledger is done before the answer is read, and all of it arrives, in
// order.
func TestOutbox(t *testing.T) {
	to := &slow{let: make(chan struct{})}
	out, want := newOutbox(to), strings.Builder{}
	for n := range 100_000 {
		line := fmt.Sprintf("line %d of what nobody reads yet\n", n)
		want.WriteString(line)
		if _, err := out.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	close(to.let)
	if err := out.Close(); err != nil || to.got.String() != want.String() {
		t.Errorf("%d bytes of %d: %v", to.got.Len(), want.Len(), err)
	}
}

// An output that takes nothing more is an error for who writes, also one that waits.
func TestOutboxThatIsBroken(t *testing.T) {
	broken := errors.New("broken pipe")
	to := &slow{let: make(chan struct{}), fail: broken}
	out, failed := newOutbox(to), make(chan error, 1)
	go func() {
		for {
			if _, err := out.Write(make([]byte, outboxChunk)); err != nil {
				failed <- err
				return
			}
		}
	}()
	close(to.let)
	if err := <-failed; !errors.Is(err, broken) {
		t.Errorf("the writer: %v", err)
	}
	if err := out.Close(); !errors.Is(err, broken) {
		t.Errorf("at the end: %v", err)
	}
	if err := newOutbox(&slow{}).Close(); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

// A list whose poller falls silent is given up and says so; a pager that is slow is
// no reason to.
func TestPatiently(t *testing.T) {
	slow := func(context.Context, func(func() error) error) error { return nil }
	if err := patiently(t.Context(), time.Hour, slow); err != nil {
		t.Error(err)
	}
	err := patiently(t.Context(), time.Millisecond, func(ctx context.Context, hold func(func() error) error) error {
		<-ctx.Done()
		return fmt.Errorf("read the list: %w", ctx.Err())
	})
	if err == nil || !strings.Contains(err.Error(), "the list did not go on for ") {
		t.Errorf("silence: %v", err)
	}
	err = patiently(t.Context(), 20*time.Millisecond, func(ctx context.Context, hold func(func() error) error) error {
		return hold(func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(200 * time.Millisecond): // a pager
				return nil
			}
		})
	})
	if err != nil {
		t.Errorf("a slow pager: %v", err)
	}
	other := errors.New("another error")
	if err := patiently(t.Context(), time.Hour, func(context.Context, func(func() error) error) error { return other }); !errors.Is(err, other) {
		t.Error(err)
	}
}

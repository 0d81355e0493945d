package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stories are what a maintainer would say that the-loop does, each with the
// script that does it with the real program, a real tmux, and an inbox or a
// GitHub.
var stories = map[string]string{
	"a start posted before we looked works":                                    "a_start_posted_before_we_looked_works",
	"a stranger cannot start it, a maintainer can on a stranger's issue":       "a_stranger_cannot_start_it_a_maintainer_can",
	"a quoted stop stops nothing":                                              "a_quoted_stop_stops_nothing",
	"a stop survives a restart, also with the tracker down":                    "a_stop_survives_a_restart_and_a_tracker_that_is_down",
	"paused means silence, resumed means only what is new":                     "paused_means_silence_and_resumed_means_only_what_is_new",
	"the words beside a resume arrive":                                         "paused_means_silence_and_resumed_means_only_what_is_new",
	"an agent that finished is not restarted until somebody speaks":            "an_agent_that_finished_stays_finished_until_somebody_speaks",
	"a merged pull request does not end its issue":                             "a_merged_pull_request_does_not_end_its_issue",
	"a review on the agent's own pull request reaches the issue's session":     "a_review_on_the_agents_pull_request_reaches_the_issues_session",
	"a closed issue hears its last words, then its session ends":               "a_closed_issue_hears_its_last_words_then_ends",
	"reopened, it begins anew, and the old start does not run again":           "a_reopened_issue_begins_anew",
	"a label removed leaves the session alone":                                 "a_label_removed_leaves_the_session_alone",
	"an unreachable tracker ends nothing":                                      "an_unreachable_tracker_ends_nothing",
	"an upgrade picks up what the old version gave up on, once":                "an_upgrade_picks_up_what_was_given_up_once",
	"an abandoned comment is announced once, also when killed around the post": "an_abandoned_comment_is_announced_once_through_kills",
	"a comment that is too long is said so, once":                              "a_comment_that_is_too_long_is_said_so_once",
}

// Every story has its script, and every script that is one tells one of them.
func TestTheWholeStoryIsTold(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(scriptDir, "story_*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, path := range found {
		told = append(told, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "story_"), ".txtar"))
	}
	for sentence, script := range stories {
		if !slices.Contains(told, script) {
			t.Errorf("no script tells that %s: %s is missing", sentence, script)
		}
	}
	for _, script := range told {
		if !slices.Contains(slices.Collect(maps.Values(stories)), script) {
			t.Errorf("the story %s is not in the list", script)
		}
	}
}

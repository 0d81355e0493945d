package poller

import (
	"theloop/record"
)

// The table's part about the comment: what becomes of it, and of the command in
// it.
var commentRules = []rule{
	// Nothing is to be done about it.
	{
		name: "a comment was delivered, settled or given up already",
		when: either(all(dealtWith, byDelivery.is("delivered", "settled", "gave up")), all(hasEnded, byDelivery.is("delivered", "settled", "gave up", "gave up before"))),
		text: "It is not sent again, and an edit of it does nothing.", change: "Say it again, in a new comment.",
	},
	{
		name: "a comment is on its way into the session",
		when: either(all(dealtWith, byDelivery.is("started")), all(hasEnded, byDelivery.is("started"))),
		text: "Nothing is decided about it before tmux has answered or its deadline has passed.", waits: true,
	},
	{
		name: "an item is open again and its old session is not gone yet", when: standing,
		text: "What is said waits; first sight follows when the session is proved gone.", waitsIf: byDelivery.is("waiting", "queued", "started"),
		change: "`sessions list` shows the session.",
	},
	{
		name: "an item was imported with a command alone, and has no label", when: offHand,
		text: "Nothing of what is said there is read.",
	},

	// First sight.
	{
		name: "a listed author had said something before the item was seen",
		when: either(all(before, listed, either(not(norecord), byBody.is("plain", "two commands"))), all(imported, unread, listed)), baseline: record.FirstSight,
		text: "It is not sent: the first prompt tells it. Of commands the one that stands alone in its comment is obeyed, unless one is recorded already.", change: "Say it again.",
	},
	{
		name: "somebody who is not listed had said something before the item was seen",
		when: all(either(before, all(imported, unread)), unlisted), baseline: record.Unauthorized,
		text: "It is never sent and never obeyed.", change: "`routing.authorizedUsers`",
	},
	{
		name: "an agent had said something before the item was seen",
		when: all(either(before, all(imported, unread)), marked), baseline: record.SelfAuthored,
		text: "It is never sent and never obeyed.",
	},
	{
		name: "a listed author had said something before the ending of an item that is open again",
		when: all(ofOld, listed), baseline: record.FirstSight, eventsIf: all(waiting), events: []string{"poll.comment_settled"},
		text: "It is history; what was still to be delivered is settled as ended.", change: "Say it again.",
	},
	{
		name: "somebody who is not listed had said something before that ending",
		when: all(ofOld, unlisted), baseline: record.Unauthorized, eventsIf: all(waiting), events: []string{"poll.comment_settled"},
		text: "It is history.",
	},
	{
		name: "an agent had said something before that ending",
		when: all(ofOld, marked), baseline: record.SelfAuthored, eventsIf: all(waiting), events: []string{"poll.comment_settled"},
		text: "It is history.",
	},

	// Whom it obeys.
	{
		name: "somebody who is not listed says something, or a deleted account does",
		when: all(dealtWith, unread, unlisted), baseline: record.Unauthorized, events: []string{"poll.comment_dropped"},
		text: "It is dropped, whoever opened the item.", change: "`routing.authorizedUsers`",
	},
	{
		name: "what an agent says comes back", when: all(dealtWith, unread, marked),
		baseline: record.SelfAuthored, events: []string{"poll.comment_dropped"}, text: "It is dropped, whoever posted it.",
	},
	{
		name: "the author of a comment that waits is taken off the list, or it is edited into an agent's",
		when: all(dealtWith, either(waiting, inQueue)).but(listed), settle: record.Revoked, events: []string{"poll.comment_settled"},
		text: "It is settled as revoked and never sent.", change: "List the author, and say it again.",
	},

	// Words.
	{
		name: "something is said while the session is stopped", when: all(dealtWith, listed, open, byBody.is("plain"), metStop),
		settle: record.SessionStopped, events: []string{"poll.comment_settled"},
		text: "It is settled and not sent later.", change: "`the-loop start`, then say it again.",
	},
	{
		name: "something is said while the session is paused", when: all(dealtWith, listed, open, byBody.is("plain"), metPause),
		settle: record.SessionPaused, events: []string{"poll.comment_settled"},
		text: "It is settled and not sent later.", change: "`the-loop resume`, with the words beside it.",
	},
	{
		name: "something is said before anybody has started the item", when: all(dealtWith, listed, open, byBody.is("plain"), metNobody),
		settle: record.AwaitingStart, events: []string{"poll.comment_settled"},
		text: "It is settled and not sent later: the first prompt tells it.", change: "`the-loop start`; `routing.control.requireStartCommand`",
	},
	{
		name: "something is said on a started item that the spawn policy lets have no session", when: all(dealtWith, listed, open, byBody.is("plain"), metPolicy),
		settle: record.SpawnPolicy, events: []string{"poll.comment_settled"},
		text: "It is settled and not sent later.", change: "`routing.spawnOnUnmatched`; the label",
	},
	{
		name: "something is said to a session that lives, or that can be brought up",
		when: all(dealtWith, listed, either(unread, waiting), byBody.is("plain"), free, able).but(spent),
		hold: true, deliver: true, events: []string{"poll.comment_forwarded"},
		text: "It is delivered. A session that is dead or gone comes back with it.",
	},
	{
		name: "something is said, and tmux does not answer, or something else has the session's name, or the session is still to be taken over",
		when: all(dealtWith, listed, either(unread, waiting), byBody.is("plain"), free).but(able),
		hold: true, waits: true, text: "It waits and costs no attempt.", change: "`sessions adopt`, or rename what has the name.",
	},
	{
		name: "a comment is queued for its session", when: all(dealtWith, listed, inQueue, byBody.is("plain"), free),
		text: "It stays there; it is not queued twice.", waits: true,
	},
	{
		name: "a delivery has failed as often as it may", when: all(dealtWith, listed, spent, byBody.is("plain"), free, able),
		giveUp: true, events: []string{"poll.comment_failed"},
		text: "It is given up and one notice on the item says so.", change: "Say it again, or install another release; `polling.maxRetries`",
	},

	// Another release.
	{
		name: "another release gave the comment up", when: all(dealtWith, byDelivery.is("gave up before"), listed, free, able),
		rearm: true, deliver: true, events: []string{"poll.rearmed", "poll.comment_forwarded"},
		text: "It has its full budget again and is delivered.",
	},
	{
		name: "another release gave the comment up, and nothing can be sent now", when: all(dealtWith, byDelivery.is("gave up before"), listed, free).but(able),
		rearm: true, waits: true, events: []string{"poll.rearmed"}, text: "It has its full budget again and waits.",
	},
	{
		name: "another release gave the comment up, and its author or its session may not have it sent",
		when: all(dealtWith, byDelivery.is("gave up before")).but(all(listed, free)), text: "It stays given up.",
	},

	// Commands.
	{
		name: "a comment holds two different commands", when: all(dealtWith, listed, open, byBody.is("two commands")),
		settle: record.ControlAmbiguous, events: []string{"poll.comment_settled", "control.ambiguous"},
		text: "None of them is obeyed.", change: "One command in a comment.",
	},
	{
		name: "a listed author says start, alone or where no session is there to hear the other words", when: started.but(all(spokenTo, withWords)),
		settle: record.ControlExecuted, records: true, events: []string{"poll.comment_settled", "control.command"},
		text: "It is recorded: the item is started.", change: "`the-loop stop`",
	},
	{
		name: "a listed author says start, and the spawn policy lets the item have no session", when: startRefused,
		settle: record.ControlRejected, events: []string{"poll.comment_settled", "control.rejected"},
		text: "It is refused and not recorded.", change: "`routing.spawnOnUnmatched`; the label; `sessions start` needs none",
	},
	{
		name: "a listed author says resume to a paused session, without other words", when: resumed.but(withWords),
		settle: record.ControlExecuted, records: true, events: []string{"poll.comment_settled", "control.command"},
		text: "It is recorded: the session hears what is said from now on.", change: "`the-loop pause`",
	},
	{
		name: "a listed author says resume where nothing is paused", when: resumeRefused,
		settle: record.ControlRejected, events: []string{"poll.comment_settled", "control.rejected"},
		text: "It is refused and not recorded.", change: "`the-loop start`",
	},
	{
		name: "a listed author says start or resume with other words, and a session is there to hear them", when: all(spokenTo, withWords, able).but(spent),
		hold: true, deliver: true, deliverIf: not(inQueue), records: true, events: []string{"control.command", "poll.comment_forwarded"},
		text: "It is recorded, and delivered with its words.",
	},
	{
		name: "a comment that had failed as often as it may is edited into a start or a resume with words", when: all(spokenTo, withWords, able, spent),
		giveUp: true, records: true, events: []string{"control.command", "poll.comment_failed"},
		text: "It is recorded; the words are given up, and one notice on the item says so.", change: "Say them again.",
	},
	{
		name: "a listed author says start or resume with other words, and nothing can be sent to the session now", when: all(spokenTo, withWords).but(able),
		hold: true, waits: true, records: true, events: []string{"control.command"}, text: "It is recorded; the words wait.",
	},
	{
		name: "a listed author says pause", when: pausing, settle: record.ControlExecuted, records: true, events: []string{"poll.comment_settled", "control.command"},
		text: "It is recorded: nothing is sent from now on. Words beside it are not sent.", change: "`the-loop resume`",
	},
	{
		name: "a listed author says stop", when: stopped, settle: record.ControlExecuted, records: true, events: []string{"poll.comment_settled", "control.command"},
		text: "It is recorded: nothing is sent or started from now on. Words beside it are not sent.", change: "`the-loop start`",
	},
	{
		name: "a listed author says cleanup", when: cleanedUp, settle: record.ControlExecuted, records: true, events: []string{"poll.comment_settled", "control.command"},
		text: "As a stop, and nothing of the conversation comes back.", change: "`the-loop start` begins a fresh one.",
	},
	{
		name: "a listed author says start or resume, and a start that was said later, on another item of the session, is recorded already", when: agreed.but(overheard),
		settle: record.ControlExecuted, events: []string{"poll.comment_settled", "control.command"},
		text: "The later one stays recorded: the item is started.", change: "`the-loop stop`",
	},
	{
		name: "a start or a resume has words beside it, a later start is recorded already, and a session is there to hear them", when: all(overheard, able),
		hold: true, deliver: true, events: []string{"control.command", "poll.comment_forwarded"},
		text: "The later one stays recorded, and this one's words are delivered.",
	},
	{
		name: "a start or a resume has words beside it, a later start is recorded already, and nothing can be sent to the session now", when: overheard.but(able),
		hold: true, waits: true, events: []string{"control.command"}, text: "The later one stays recorded, and this one's words wait.",
	},
	{
		name: "a listed author says a command, and one that was said later, on another item of the session, is recorded already", when: overtaken.but(agreed),
		settle: record.ControlRejected, events: []string{"poll.comment_settled", "control.rejected"},
		text: "It is not obeyed: the last command wins, whichever item is read first. Words beside it are not sent.", change: "Say it again.",
	},

	// Last words.
	{
		name: "somebody who is not listed had the last word on an item that ended", when: all(hasEnded, unread, unlisted),
		baseline: record.Unauthorized, text: "It is dropped.",
	},
	{
		name: "an agent had the last word on an item that ended", when: all(hasEnded, unread, marked),
		baseline: record.SelfAuthored, text: "It is dropped.",
	},
	{
		name: "an item ended while a comment waits whose author is not listed any more", when: all(hasEnded, either(waiting, inQueue)).but(listed),
		settle: record.Revoked, events: []string{"poll.comment_settled"}, text: "It is settled as revoked and never sent.",
	},
	{
		name: "an item has ended, and a session lives that can hear its last words", when: lastWord.but(spent),
		hold: true, deliver: true, deliverIf: not(inQueue), events: []string{"poll.comment_forwarded"},
		text: "They are delivered before the session is closed.",
	},
	{
		name: "an item has ended, and its last words have failed as often as they may", when: all(lastWord, spent),
		giveUp: true, events: []string{"poll.comment_failed"}, text: "They are given up and one notice on the item says so.",
	},
	{
		name: "an item has ended, and tmux does not answer whether a session can hear its last words", when: unanswered,
		text: "They wait until it is known whether their session lives.", waits: true, waitsIf: not(unread),
	},
	{
		name: "an item has ended, and no session lives that could hear its last words, or they are a command",
		when: all(hasEnded, listed, open).but(lastWord, unanswered), settle: record.ItemEnded, events: []string{"poll.comment_settled"},
		text: "It is settled as ended: no session is started for it.", change: "Open the item again.",
	},
}

package poller

// The parts of the table about the item and about its session.

var itemRules = []rule{
	{
		name: "an item is seen for the first time", when: all(anew, first, itself), item: "first seen", events: []string{"poll.first_seen"},
		text: "What was said on it before is not sent, but for what the part on comments says.", change: "The label and the sources choose the items.",
	},
	{
		name: "a pull request that belongs to another item is seen for the first time", when: all(anew, first, ofAnother),
		item: "first seen", events: []string{"poll.first_seen", "session.pr_linked"},
		text: "What is said on it goes into that item's session.", change: "`sessions link-pr`",
	},
	{
		name: "an item that had ended is open again, and nothing of its session is left", when: all(forgotten, itself),
		item: "forgotten, first seen", events: []string{"poll.first_seen"},
		text: "It is forgotten and seen for the first time again: a fresh conversation, no command from before its ending.",
	},
	{
		name: "a pull request that had ended is open again", when: all(forgotten, ofAnother),
		item: "forgotten, first seen", events: []string{"poll.first_seen", "session.pr_linked"},
		text: "It is forgotten and seen for the first time again, and its target is chosen anew.",
	},
	{
		name: "an item that had ended is open again, and its old session is not proved gone", when: standing,
		text: "First sight waits for the old session's end.",
	},
	{name: "an item that is known is open", when: all(seenBefore, listedNow), text: "Nothing. An item whose label was removed is left alone as well."},
	{
		name: "an item was imported with a command alone, and has no label", when: offHand,
		text: "It is left alone until it is listed, or ends.", change: "The label.",
	},
	{
		name: "an item was imported with a session or a command alone, and has ended, and nothing is left to do about it", when: all(buried, imported),
		item: "first seen, ended, forgotten", events: []string{"poll.closure_detected"},
		text: "Nothing of its thread is sent. Its rows go.", change: "Open it again.",
	},
	{
		name: "an item was imported with a session or a command alone, and has ended, and its session is still to be seen to", when: imported.but(buried),
		item: "first seen, ended", events: []string{"poll.closure_detected"},
		text: "Nothing of its thread is sent. It is forgotten when its session is proved gone.", change: "Open it again.",
	},
	{
		name: "an item has ended, and nothing is left to do about it", when: buried.but(imported), item: "ended, forgotten", events: []string{"poll.closure_detected"},
		text: "Its rows go; what is left says that it was there, for 90 days.", change: "Open it again.",
	},
	{
		name: "an item has ended, and its session, its last words or a notice are still to be seen to", when: all(ended, seenBefore).but(buried),
		item: "ended", events: []string{"poll.closure_detected"},
		text: "Nothing new starts for it. It is forgotten when its session is proved gone.", change: "Open it again.",
	},
}

// owed: the item is to have a session that no comment brings up (X7, A4).
var owedSession = all(itself, either(
	all(started, either(noSession, overSession)),
	all(endsArmed, byRow.is("none", "elsewhere")).but(armedNow),
	all(endsFree, alone, noSession),
))

var sessionRules = []rule{
	{
		name: "a stop or a cleanup is recorded, and the session is not closed, or lives without a row",
		when: all(itself, endsHalted, either(openRow, ownerless)).but(silent), session: "close: stopped",
		text: "It is closed, and that is asked for again every cycle until it is gone.", change: "`the-loop start`",
	},
	{
		name: "a stop or a cleanup is said on a pull request", when: all(ofAnother, haltedNow, either(openRow, ownerless)).but(silent),
		session: "close: stopped", text: "Its target's session is closed.", change: "`the-loop start`",
	},
	{
		name: "a session of ours lives that no row names, on an item that may have one",
		when: all(itself, lively, ownerless, either(endsArmed, endsPaused, all(endsFree, alone))), session: "adopt",
		text: "It is taken over: a kill had come between its start and the record of it.",
	},
	{
		name: "a session of ours lives that no row names, on an item that nobody started",
		when: all(itself, lively, ownerless, endsFree).but(alone), session: "close: not started", text: "It is closed.",
	},
	{
		name: "a pause is said to an active session", when: all(pausing, activeSession), session: "pause", events: []string{"session.paused"},
		text: "The agent goes on with what it was told; nothing more is sent.", change: "`the-loop resume`",
	},
	{
		name: "a start or a resume is said to a paused session", when: all(armedNow, pausedSession), session: "un-pause", events: []string{"session.resumed"},
		text: "It hears what is said from now on.", change: "`the-loop pause`",
	},
	{
		name: "a session is owed that no comment of this cycle brings up",
		when: all(owedSession, byPane.is("dead", "absent")).but(delivering, inFlight), session: "spawn",
		text: "It is started, within `polling.maxRetries` attempts and `routing.maxSessions`. The recorded conversation is resumed when there is one.", change: "`the-loop stop`",
	},
	{
		name: "an item has ended, and its session is not closed", session: "close: ended",
		when: all(itself, either(ended.but(unheard), standing), either(openRow, ownerless)).but(silent),
		text: "It is closed, behind what its queue holds.", change: "Open the item again.",
	},
	{name: "the session is as it should be, or nothing is known of it", rest: true, text: "Nothing is done about the session."},
}

// delivering is where a comment of this cycle brings the session up.
var delivering = func() (out when) {
	for _, r := range commentRules {
		if r.deliver {
			out = append(out, r.delivers()...)
		}
	}
	return out
}()

// cleaned is a closed session whose row is in the way of a fresh conversation (X4).
var cleaned = possible(byRow.is("closed"), either(all(itself, said("cleanup")).but(ended), cleanedUp)).but(silent, ownerless, offHand)

var cleanupRules = []rule{
	{
		name: "a cleanup is recorded, and the session is closed", when: cleaned, drop: true,
		text: "Its row goes: what is started next begins a fresh conversation.",
	},
	{
		name: "a cleanup is recorded, the session is closed, and a listed author says start on a pull request of it", when: possible(swept, commanding), drop: true,
		text: "Its row goes: a fresh conversation begins.",
	},
	{name: "no cleanup is recorded, or its session is not closed yet", rest: true, text: "The row stays."},
}

// withheld is an item that the poller does not start by itself, because of who
// opened it (A4).
var withheld = possible(itself, endsFree, byOpener.is("stranger"), noSession)

var openerRules = []rule{
	{
		name: "somebody who is not listed opened an item that has neither a command nor a session", when: withheld,
		events: []string{"poll.unauthorized"}, text: "The poller does not start it by itself. That is said once for each item and author, with what would start it.",
		change: "`the-loop start` by a listed author; `routing.authorizedUsers`",
	},
	{name: "its author is listed, or somebody listed has spoken for it", rest: true, text: "Nothing is said about its author."},
}

// blocked is where something waits for a name that something else has (D5).
var blocked = func() when {
	out := all(owedSession, byPane.is("occupied"))
	for _, r := range commentRules {
		if r.waits || r.waitsIf != nil {
			out = either(out, all(r.waiting(), byPane.is("occupied")))
		}
	}
	return possible(out)
}()

var nameRules = []rule{
	{
		name: "a comment or an owed session waits, and something that is not ours has the session's name", when: blocked, occupied: true,
		text:   "Nothing is typed into it, nothing of it is ended, nothing is spent. It is said once, as `dispatch.dropped` with the reason `session-occupied`.",
		change: "`sessions adopt`, or rename or end what has the name.",
	},
	{name: "the name is free or ours, or nothing waits for it", rest: true, text: "Nothing is said about the name."},
}

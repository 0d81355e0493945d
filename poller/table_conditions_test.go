package poller

// The words in which the table speaks, each a set of situations. They say the
// behaviours once more, from the specification, not from the code.

// The item and its turn.
var (
	listedNow  = byItem.is("open", "off list")
	again      = byItem.is("open again")
	ended      = byItem.is("ended")
	first      = bySight.is("first")
	seenBefore = bySight.is("known")
	itself     = byTarget.is("itself")
	ofAnother  = byTarget.is("linked")

	unread   = byDelivery.is("none")
	waiting  = byDelivery.is("waiting")
	inQueue  = byDelivery.is("queued")
	inFlight = byDelivery.is("queued", "started")

	openRow   = byRow.is("active", "paused")
	ours      = byRow.is("active", "paused", "closed")
	ownerless = all(byPane.is("live"), not(openRow))

	// impossible: what was forgotten has no comment rows and no open session (P8).
	impossible = all(first, again, either(not(unread), all(itself, openRow)))
	// gone: nothing of an ended item's session is left that could still do anything.
	gone = either(
		all(itself, not(openRow), byPane.is("dead", "absent", "occupied"), not(inFlight)),
		all(ofAnother, not(inFlight)),
	)
	// standing: an ended item is open again and its old session is not proved gone.
	standing  = all(seenBefore, again, not(gone))
	forgotten = all(seenBefore, again, gone)
	// offHand: an import brought it, it is not listed, and it has no session.
	offHand = all(first, byItem.is("off list"), itself, not(openRow))
	// anew: it is seen for the first time, or for the first time again.
	anew   = either(all(first, listedNow).but(offHand), all(first, again).but(impossible), forgotten)
	lively = either(listedNow.but(offHand), anew)
)

// possible is all, without what no record is.
func possible(of ...when) when { return all(of...).but(impossible) }

// What is known of the comment.
var (
	// answering: a pull request was behind its session's start when it was first
	// seen (X1).
	answering = all(anew, unread, ofAnother, ours)
	// dealtWith: it is judged as it comes, not as part of a first sight.
	dealtWith = either(all(listedNow, seenBefore), all(listedNow, first, not(unread)).but(offHand), answering)
	// before: it was said before the item was seen (X1), or seen again (P8).
	before = all(anew, unread).but(answering)
	// ofOld: its row was forgotten a moment ago.
	ofOld = all(forgotten, not(unread))

	listed   = byAuthor.is("listed")
	unlisted = byAuthor.is("stranger", "nobody")
	marked   = byAuthor.is("marked")
	open     = either(unread, waiting, inQueue) // it may be sent
	spent    = all(waiting, byAttempts.is("at"))
)

// Whether the item may have a session.
var (
	// The control record of an ended item is history (P8).
	norecord = either(byControl.is("none"), all(again, itself))
	labelled = either(byItem.isNot("off list"), ofAnother)
	allowed  = either(byPolicy.is("always"), all(byPolicy.is("labeled"), labelled))
	alone    = all(byStart.is("no"), byOpener.is("listed"), allowed) // A4

	// The columns of X4. A conversation from before an ending is none (P8), nor is
	// one that was cleaned up.
	bygone = all(byRow.is("closed"), itself, either(
		first, again, all(byControl.is("cleanup"), byPane.is("dead", "absent", "occupied")),
	))
	noSession     = either(byRow.is("none", "elsewhere"), bygone, swept)
	activeSession = all(byRow.is("active"), byPane.is("live", "unknown", "occupied"))
	pausedSession = byRow.is("paused")
	overSession   = either(byRow.is("closed"), all(byRow.is("active"), byPane.is("dead", "absent"))).but(bygone, swept)
	// swept: what a cleanup has closed goes before a start on a pull request of it (X4).
	swept = all(ofAnother, byRow.is("closed"), byControl.is("cleanup"), byPane.is("dead", "absent", "occupied"), either(word("start"), word("resume")))
)

func said(words ...string) when { return byControl.is(words...).but(all(again, itself)) }

// What words that are to be obeyed meet (X5).
var (
	metStop   = said("stop", "cleanup")
	metPause  = either(said("pause"), pausedSession).but(metStop)
	metNobody = norecord.but(byRow.is("active"), alone, metPause)
	metPolicy = all(said("start"), noSession).but(allowed)
	free      = not(either(metStop, metPause, metNobody, metPolicy))

	// able: what is free goes into a pane now, or makes one. A session that nobody's
	// row names is taken over first.
	able = byPane.is("live", "dead", "absent").but(all(itself, ownerless))
)

// The command in the comment.
var (
	commanding = all(listed, either(all(dealtWith, inTime), all(before, norecord)))

	// overtaken: a later command is recorded already, from another item (I6); inTime:
	// none is. What waits and was edited into a command is new (X6).
	inTime    = either(all(unread, either(byOrder.is("behind"), norecord)), waiting, inQueue)
	overtaken = all(listed, dealtWith, unread, byOrder.is("before"), said("start", "stop", "pause", "cleanup"), byBody.isNot("plain", "two commands"))
	// agreed: that one lets a session run as well.
	agreed = all(overtaken, said("start"), either(word("start"), word("resume")))
	// overheard: a session is there for the words beside it.
	overheard = all(agreed, withWords, free, either(activeSession, ownerless))

	startRefused  = all(commanding, word("start"), noSession).but(allowed)
	resumeRefused = all(commanding, word("resume")).but(pausedSession)

	started   = all(commanding, word("start")).but(startRefused)
	resumed   = all(commanding, word("resume"), pausedSession)
	pausing   = all(commanding, word("pause"))
	stopped   = all(commanding, word("stop"))
	cleanedUp = all(commanding, word("cleanup"))

	// spokenTo: a session is there for the words beside the keyword (X6).
	spokenTo  = all(either(started, resumed), either(activeSession, pausedSession, ownerless))
	withWords = byBody.is("start and words", "resume and words")
)

func word(w string) when { return byBody.is(w, w+" and words") }

// The record as the comment leaves it.
var (
	armedNow   = either(started, resumed)
	haltedNow  = either(stopped, cleanedUp)
	untouched  = lively.but(armedNow, haltedNow, pausing)
	endsHalted = either(haltedNow, all(untouched, said("stop", "cleanup")))
	endsPaused = either(pausing, all(untouched, said("pause")))
	endsArmed  = either(armedNow, all(untouched, said("start")))
	endsFree   = all(untouched, norecord)
)

// An item that ended (P8).
var (
	// imported: only what an import brought is known of it; nobody has read its thread.
	imported = all(ended, first)
	hasEnded = all(ended, either(seenBefore, not(unread)))
	heard    = all(byBody.is("plain"), byControl.isNot("stop", "pause", "cleanup"))
	living   = all(byPane.is("live"), byRow.is("active"))
	silent   = byPane.is("unknown")
	// lastWord: it reaches a session that lives.
	lastWord = all(hasEnded, listed, open, heard, living)
	// unanswered: whether it can be heard is not known.
	unanswered = all(hasEnded, listed, open, heard, silent)
	// unheard: nothing else of the ending happens before it.
	unheard = either(all(hasEnded, byDelivery.is("started")), lastWord.but(spent), unanswered)
	buried  = either(
		all(ended, itself, not(openRow), byPane.is("dead", "absent", "occupied")).but(inFlight, unheard),
		all(ended, ofAnother).but(unheard, all(lastWord, spent)),
	)
)

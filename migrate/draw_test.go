package migrate_test

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"
)

// doc is a JSON object in the making: keys that are there have a value.
type doc = map[string]any

// may draws a value, null, or nothing for a key.
func may(t *rapid.T, o doc, key string, value func(*rapid.T) any) {
	switch rapid.IntRange(0, 7).Draw(t, key) {
	case 0:
	case 1:
		o[key] = nil
	default:
		o[key] = value(t)
	}
}

func of(values ...any) func(*rapid.T) any {
	return func(t *rapid.T) any { return rapid.SampledFrom(values).Draw(t, "value") }
}

// anything is any JSON, as other programs put into their sections.
func anything(t *rapid.T) any { return drawJSON(t, 3) }

func drawJSON(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind = kind % 4
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(rapid.SampledFrom([]string{"0", "-0", "1.0", "1e400", "123456789012345678901234567890"}).Draw(t, "number"))
	case 3:
		return rapid.SampledFrom([]string{"", "a", "<b>&\u2028\u202e\x00\"", "poll", "\U0001f600"}).Draw(t, "text")
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawJSON(t, depth-1))
		}
		return list
	}
	object := doc{}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		object[rapid.SampledFrom([]string{"", "a", "A", "ref", "value", "was"}).Draw(t, "key")] = drawJSON(t, depth-1)
	}
	return object
}

func drawTime(t *rapid.T) any {
	return of("", "2026-07-31T10:42:00Z", "2026-07-31T10:42:00+00:00", "2026-07-31T12:42:00.123456+02:00", "2026-07-31T10:42:00", "0001-01-01T00:00:00Z")(t)
}

// ids has two ids of one comment in it: both generations of GitHub's.
func drawID(t *rapid.T) any {
	return of("a", "b", "c", "d", "e", "10231", "MDEyOklzc3VlQ29tbWVudDI0NTE=", "IC_kwDOAAAAAc4AAAmT", "PRR_kwDOQ1aB7s6Zq002")(t)
}

func drawIDs(t *rapid.T) any {
	list := []any{}
	for range rapid.IntRange(0, 5).Draw(t, "ids") {
		list = append(list, drawID(t))
	}
	return list
}

func drawAttempts(t *rapid.T) any {
	attempts := doc{}
	for range rapid.IntRange(0, 3).Draw(t, "attempted") {
		attempts[drawID(t).(string)] = rapid.SampledFrom([]any{0, 1, 2, nil}).Draw(t, "attempts")
	}
	return attempts
}

func drawSpawn(t *rapid.T) any {
	spawn := doc{}
	may(t, spawn, "attempts", of(0, 1, 3))
	may(t, spawn, "gaveUp", of(true, false))
	may(t, spawn, "deliveryId", of("", "poll-presence-1"))
	may(t, spawn, "more", anything)
	return spawn
}

func drawGaveUp(t *rapid.T) any {
	gaveUp := doc{}
	may(t, gaveUp, "comments", drawIDs)
	may(t, gaveUp, "version", of("", "6.1.0"))
	may(t, gaveUp, "more", anything)
	return gaveUp
}

func drawPoll(t *rapid.T) any {
	poll := doc{}
	may(t, poll, "seenComments", drawIDs)
	may(t, poll, "commentAttempts", drawAttempts)
	may(t, poll, "spawn", drawSpawn)
	may(t, poll, "gaveUp", drawGaveUp)
	may(t, poll, "lastPolledAt", drawTime)
	may(t, poll, "SeenComments", anything)
	return poll
}

// drawControl draws a command; one that nobody knows spoils its section alone.
func drawControl(t *rapid.T) any {
	control := doc{"command": of("start", "resume", "do", "contribute", "pause", "stop", "cleanup", "explode")(t)}
	may(t, control, "ref", of("github:octo/repo#1", "x"))
	may(t, control, "source", of("cli", "comment", "slack"))
	may(t, control, "actor", of("", "octocat"))
	may(t, control, "requestedAt", drawTime)
	may(t, control, "note", of("", "https://example.test/1"))
	may(t, control, "more", anything)
	return control
}

// drawRecord draws a record as any of the earlier releases may have left it.
func drawRecord(t *rapid.T, ref string) doc {
	record := doc{"ref": ref}
	may(t, record, "url", of("", "https://github.com/octo/repo/issues/1"))
	may(t, record, "control", drawControl)
	may(t, record, "poll", drawPoll)
	may(t, record, "graph", anything)
	if rapid.IntRange(0, 3).Draw(t, "sealed?") == 0 {
		may(t, record, "sealed", of(true, false))
	}
	may(t, record, "channels", anything)
	may(t, record, "Poll", anything)
	return record
}

// drawHandle draws the handle of a session, cwd among its folders.
func drawHandle(t *rapid.T, ref, cwd string, depth int) doc {
	handle := doc{"workItem": doc{"ref": ref}}
	if rapid.Bool().Draw(t, "whole") {
		handle["workItem"] = doc{"ref": ref, "provider": "github", "owner": "octo", "repo": "repo", "number": 1, "more": 1}
	}
	may(t, handle, "harness", of("", "claude", "--eval"))
	may(t, handle, "harnessSessionId", of("", uuid, "not-a-uuid"))
	may(t, handle, "cwd", of("", cwd, "/nowhere/at/all", "../up"))
	may(t, handle, "status", of("active", "paused", "closed"))
	may(t, handle, "createdAt", drawTime)
	may(t, handle, "lastEventAt", drawTime)
	may(t, handle, "tmuxTarget", of("", "loop-1", "loop-foo.js:1", "=x"))
	may(t, handle, "recentDeliveries", func(t *rapid.T) any {
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "deliveries") {
			list = append(list, of("poll-comment-a", "poll-comment-IC_kwDOAAAAAc4AAAmT", "webhook-1", "poll-comment-zz")(t))
		}
		return list
	})
	may(t, handle, "runner", anything)
	if depth > 0 {
		may(t, handle, "url", of("", "https://github.com/octo/repo/issues/1"))
		may(t, handle, "pullRequests", func(t *rapid.T) any { return drawPulls(t, cwd) })
	}
	return handle
}

func drawPulls(t *rapid.T, cwd string) any {
	list := []any{}
	for range rapid.IntRange(0, 4).Draw(t, "pulls") {
		switch n := rapid.IntRange(1, 6).Draw(t, "pull"); n {
		case 5:
			list = append(list, anything(t))
		default: // 6 has no record of its own
			list = append(list, drawHandle(t, fmt.Sprintf("github:octo/repo#%d", n), cwd, 0))
		}
	}
	return list
}

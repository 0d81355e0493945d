package migrate

import (
	"slices"

	"theloop/record"
)

// commands are the words that a control section may hold (X4).
var commands = [...]string{"start", "resume", "do", "contribute", "pause", "stop", "cleanup"}

// parseControl reads a control section; nil when it is absent or null. A word
// that nobody knows is a fault: what it would do cannot be guessed.
func parseControl(raw []byte) (*record.Control, *fault) {
	section, bad := asObject(raw)
	if bad != nil {
		return nil, bad
	}
	return controlOf(section)
}

func controlOf(section object) (c *record.Control, bad *fault) {
	if section == nil {
		return nil, nil
	}
	c = &record.Control{}
	for _, field := range []struct {
		key string
		to  *string
	}{{"command", &c.Command}, {"source", &c.Source}, {"actor", &c.Actor}, {"note", &c.Note}} {
		if *field.to, bad = asText(section[field.key]); bad != nil {
			return nil, bad.in(field.key)
		}
	}
	if !slices.Contains(commands[:], c.Command) {
		return nil, faultf("%s is no command that is known", echo(c.Command)).in("command")
	}
	if c.RequestedAt, bad = asTime(section["requestedAt"]); bad != nil {
		return nil, bad.in("requestedAt")
	}
	c.Extra = without(section, "ref", "command", "source", "actor", "requestedAt", "note")
	return c, nil
}

// controlDoc is a control section as it is written.
func controlDoc(ref string, c *record.Control) object {
	doc := object{
		"ref": encode(ref), "command": encode(c.Command), "source": encode(c.Source),
		"actor": encode(c.Actor), "requestedAt": encode(timeText(c.RequestedAt)), "note": encode(c.Note),
	}
	for key, value := range c.Extra {
		doc[key] = value
	}
	return doc
}

package store

import "theloop/record"

// plainItem reads an item's row, when it is plain.
func plainItem(value []byte) (i record.Item, ok bool) {
	p := plain{text: value}
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "ref":
			text(&p, &i.Ref)
		case "url":
			text(&p, &i.URL)
		case "kind":
			text(&p, &i.Kind)
		case "title":
			text(&p, &i.Title)
		case "author":
			text(&p, &i.Author)
		case "authorId":
			number(&p, &i.AuthorID)
		case "source":
			text(&p, &i.Source)
		case "commentCount":
			number(&p, &i.CommentCount)
		case "rev":
			number(&p, &i.Rev)
		case "control":
			p.odd = p.odd || i.Control != nil // a second one would add to it
			i.Control = p.control()
		case "spawn":
			p.spawn(&i.Spawn)
		case "withheld":
			text(&p, &i.Withheld)
		case "graph":
			i.Graph = p.raw()
		case "sections":
			i.Sections = p.raw()
		case "counts":
			p.counts(&i.Counts)
		default:
			p.moment(&i, key)
		}
	}
	return i, p.whole()
}

func (p *plain) moment(i *record.Item, key []byte) {
	switch string(key) {
	case "updatedAt":
		p.time(&i.UpdatedAt)
	case "readAt":
		p.time(&i.ReadAt)
	case "firstSeenAt":
		p.time(&i.FirstSeenAt)
	case "offListAt":
		p.time(&i.OffListAt)
	case "endedAt":
		p.time(&i.EndedAt)
	case "lateUntil":
		p.time(&i.LateUntil)
	case "inlineUntil":
		p.time(&i.InlineUntil)
	default:
		p.odd = true
	}
}

func (p *plain) control() *record.Control {
	c := &record.Control{}
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "command":
			text(p, &c.Command)
		case "source":
			text(p, &c.Source)
		case "actor":
			text(p, &c.Actor)
		case "actorId":
			number(p, &c.ActorID)
		case "requestedAt":
			p.time(&c.RequestedAt)
		case "note":
			text(p, &c.Note)
		case "served":
			p.flag(&c.Served)
		default:
			p.odd = true
		}
	}
	return c
}

func (p *plain) spawn(s *record.Spawn) {
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "gaveUp":
			p.flag(&s.GaveUp)
		case "n":
			number(p, &s.N)
		case "version":
			text(p, &s.Version)
		default:
			p.delivery(&s.Delivery, key)
		}
	}
}

// delivery reads the value behind a key of what comments and spawns have in common.
func (p *plain) delivery(d *record.Delivery, key []byte) {
	switch string(key) {
	case "attempts":
		number(p, &d.Attempts)
	case "deliveryId":
		text(p, &d.DeliveryID)
	case "run":
		text(p, &d.Run)
	case "startedOn":
		text(p, &d.StartedOn)
	case "until":
		p.time(&d.Until)
	case "mayRepeat":
		p.flag(&d.MayRepeat)
	case "notice":
		text(p, &d.Notice)
	default:
		p.odd = true
	}
}

func (p *plain) counts(c *record.Counts) {
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "baselined":
			number(p, &c.Baselined)
		case "pending":
			number(p, &c.Pending)
		case "delivered":
			number(p, &c.Delivered)
		case "settled":
			number(p, &c.Settled)
		case "gaveUp":
			number(p, &c.GaveUp)
		default:
			p.odd = true
		}
	}
}

// plainSession reads a session's row, when it is plain.
func plainSession(value []byte) (s record.Session, ok bool) {
	p := plain{text: value}
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "harness":
			text(&p, &s.Harness)
		case "harnessSessionId":
			text(&p, &s.HarnessSessionID)
		case "cwd":
			text(&p, &s.Cwd)
		case "tmuxTarget":
			text(&p, &s.TmuxTarget)
		case "pane":
			text(&p, &s.Pane)
		case "identity":
			text(&p, &s.Identity)
		case "until":
			p.time(&s.Until)
		case "status":
			text(&p, &s.Status)
		case "createdAt":
			p.time(&s.CreatedAt)
		case "lastEventAt":
			p.time(&s.LastEventAt)
		case "endedAt":
			p.time(&s.EndedAt)
		case "announced":
			text(&p, &s.Announced)
		case "spawns":
			number(&p, &s.Spawns)
		case "host":
			text(&p, &s.Host)
		default:
			p.odd = true
		}
	}
	return s, p.whole()
}

// plainComment reads a comment's row, when it is plain.
func plainComment(value []byte) (c record.Comment, ok bool) {
	p := plain{text: value}
	for key := p.first(); key != nil; key = p.next() {
		switch string(key) {
		case "id":
			text(&p, &c.ID)
		case "state":
			text(&p, &c.State)
		case "outcome":
			text(&p, &c.Outcome)
		case "author":
			text(&p, &c.Author)
		case "authorId":
			number(&p, &c.AuthorID)
		case "sha256":
			text(&p, &c.SHA256)
		case "url":
			text(&p, &c.URL)
		case "at":
			p.time(&c.At)
		case "surface":
			number(&p, &c.Surface)
		case "databaseId":
			number(&p, &c.DatabaseID)
		case "version":
			text(&p, &c.Version)
		case "ran":
			text(&p, &c.Ran)
		case "seq":
			number(&p, &c.Seq)
		default:
			p.delivery(&c.Delivery, key)
		}
	}
	return c, p.whole()
}

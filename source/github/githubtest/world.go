package githubtest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

type user struct {
	id      int64
	login   string
	bot     bool
	deleted bool
	// shown is what it looks like, once it was looked at.
	shown []byte
}

// defaultBranch is that of every repository.
const defaultBranch = "main"

type repo struct {
	id        int64
	owner     string
	name      string
	former    []string
	hidden    bool
	issuesOff bool
	issues    []*issue
}

func (r *repo) full() string { return r.owner + "/" + r.name }

type issue struct {
	id        int64
	nodeID    string
	number    int
	pull      bool
	title     string
	body      string
	author    string
	labels    []string
	closed    time.Time
	created   time.Time
	updated   time.Time
	deleted   bool
	movedTo   *issue
	movedRepo *repo
	reactions []reaction
	comments  []*comment
	reviews   []*comment
	inline    []*comment
	// what follows is a pull request's.
	branch   string
	fork     string
	forkGone bool
	base     string
	closes   []closing
}

// closing is an issue that a pull request closes.
type closing struct {
	repo  *repo
	issue *issue
}

type comment struct {
	id        int64
	nodeID    string
	author    string
	body      string
	created   time.Time
	updated   time.Time
	reactions []reaction
	// state is a review's: COMMENTED, PENDING, APPROVED …
	state string
	// path, line and original are an inline comment's; line 0 is outdated.
	path           string
	line, original int
}

type reaction struct {
	id      int64
	content string
	author  string
	at      time.Time
}

// repo returns a repository by the name it has or had; it must exist: a test
// that misspells one should not pass.
func (s *Server) mustRepo(full string) *repo {
	if r := s.findRepo(full); r != nil {
		return r
	}
	panic("githubtest: no repository " + full)
}

func (s *Server) findRepo(full string) *repo {
	for _, r := range s.repos {
		if strings.EqualFold(r.full(), full) {
			return r
		}
	}
	for _, r := range s.repos {
		if slices.ContainsFunc(r.former, func(f string) bool { return strings.EqualFold(f, full) }) {
			return r
		}
	}
	return nil
}

func (s *Server) mustIssue(full string, number int) *issue {
	if i := s.mustRepo(full).find(number); i != nil {
		return i
	}
	panic(fmt.Sprintf("githubtest: no item %s#%d", full, number))
}

func (r *repo) find(number int) *issue {
	for _, i := range r.issues {
		if i.number == number {
			return i
		}
	}
	return nil
}

// named returns the account of a login and makes it when there is none; no
// login is nobody.
func (s *Server) named(login string) *user {
	if login == "" {
		return nil
	}
	key := strings.ToLower(login)
	if s.users[key] == nil {
		s.users[key] = &user{id: s.id(), login: login, bot: strings.HasSuffix(key, "[bot]")}
	}
	return s.users[key]
}

func (s *Server) id() int64 {
	s.lastID++
	return s.lastID
}

// nodeID makes an id of the generation that is in use: base64 of a kind and a
// number, or a prefix and a packed array.
func (s *Server) nodeID(kind, prefix string, repoID, id int64) string {
	if s.oldNodeIDs {
		return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "0%d:%s%d", len(kind), kind, id))
	}
	packed := []byte{0x93, 0x00, 0xce}
	packed = binary.BigEndian.AppendUint32(packed, uint32(repoID))
	packed = append(packed, 0xce)
	packed = binary.BigEndian.AppendUint32(packed, uint32(id))
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(packed)
}

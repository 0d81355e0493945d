package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"theloop/record"
	"theloop/store/storetest"
	"theloop/workitem"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(askerEnv); root != "" {
		os.Exit(asker(root))
	}
	goleak.VerifyTestMain(m)
}

var at = time.Date(2026, 7, 31, 9, 11, 58, 0, time.UTC)

func ref(n int) workitem.Ref {
	return workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: n}
}

// ledger has two items, one of them with a history.
func ledger(t *testing.T) Local {
	t.Helper()
	l := storetest.Open(t)
	commit := func(n int, changes ...record.Change) {
		t.Helper()
		rec, err := l.Record(t.Context(), ref(n))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Commit(t.Context(), ref(n), rec.Item.Rev, changes); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{15, 150} {
		commit(n, record.Observe{Item: workitem.Item{Ref: ref(n), Kind: workitem.Issue, Title: "A thing", URL: "https://github.com/octo/repo/issues/15",
			Author: workitem.Author{Login: "octocat"}, Source: "github:octo/repo"}, UpdatedAt: at, ReadAt: at}, record.FirstSeen{At: at})
	}
	commit(15,
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat", RequestedAt: at, Note: "https://github.com/x"}},
		record.PutSession{Session: record.Session{Harness: "claude", Status: record.Active, TmuxTarget: "loop-x", Host: "there"}},
		record.Hold{Note: record.Note{ID: "IC_1", Author: workitem.Author{Login: "octocat"}, At: at}},
		record.Queue{Comment: "IC_1", DeliveryID: "poll-comment-IC_1", Run: "r"}, record.Deliver{Comment: "IC_1"})
	return Local{Ledger: l, Host: "here"}
}

// serve answers from local at a root and returns a client for it.
func serve(t *testing.T, root string, local Local) *Client {
	t.Helper()
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, local, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(SocketPath(root)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	})
	return NewClient(root)
}

// The poller answers what the file would have answered.
func TestTheSocketAnswersWhatTheLedgerSays(t *testing.T) {
	local := ledger(t)
	client := serve(t, t.TempDir(), local)
	want, err := local.Item(t.Context(), ref(15))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Item(t.Context(), ref(15))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Session.Status != Elsewhere {
		t.Errorf("a session of another machine is %q", got.Session.Status)
	}
	var direct, asked []Summary
	if err := local.Items(t.Context(), func(s Summary) error { direct = append(direct, s); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := client.Items(t.Context(), func(s Summary) error { asked = append(asked, s); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(direct, asked); diff != "" || len(asked) != 2 {
		t.Errorf("%d items: %s", len(asked), diff)
	}
}

// The document has the keys that scripts rely on.
func TestTheDocumentsKeys(t *testing.T) {
	doc, err := ledger(t).Item(t.Context(), ref(15))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	comments := keys["comments"].([]any)
	for what, c := range map[string]struct {
		in   any
		want string
	}{
		"the document": {keys, "ref url kind title author updatedAt firstSeenAt lastPolledAt control spawn session comments graph target"},
		"control":      {keys["control"], "command source actor requestedAt note"},
		"spawn":        {keys["spawn"], "attempts gaveUp deliveryId"},
		"session":      {keys["session"], "status harness harnessSessionId tmuxTarget cwd createdAt lastEventAt"},
		"a comment":    {comments[0], "id state attempts deliveryId outcome author url at version"},
	} {
		object, ok := c.in.(map[string]any)
		for _, key := range strings.Fields(c.want) {
			if _, has := object[key]; !has || !ok {
				t.Errorf("%s has no key %q", what, key)
			}
		}
	}
	if keys["graph"] != nil || keys["target"] != nil || keys["updatedAt"] != "2026-07-31T09:11:58Z" {
		t.Errorf("graph %v, target %v, updatedAt %v", keys["graph"], keys["target"], keys["updatedAt"])
	}
	bare, err := ledger(t).Item(t.Context(), ref(150))
	if err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(bare); err != nil {
		t.Fatal(err)
	}
	for _, null := range strings.Fields("control session graph target offListAt endedAt") {
		if !strings.Contains(string(text), `"`+null+`":null`) {
			t.Errorf("%s is not null where there is none: %s", null, text)
		}
	}
	if !strings.Contains(string(text), `"comments":[]`) {
		t.Errorf("no comments are no list: %s", text)
	}
}

// An unknown item is answered with what it may have been meant to be.
func TestAnUnknownItemNamesItsNeighbours(t *testing.T) {
	local := ledger(t)
	for name, r := range map[string]interface {
		Item(context.Context, workitem.Ref) (Item, error)
	}{"file": local, "socket": serve(t, t.TempDir(), local)} {
		_, err := r.Item(t.Context(), ref(51))
		var unknown *UnknownError
		if !errors.As(err, &unknown) || len(unknown.Near) == 0 || !strings.Contains(err.Error(), "octo/repo#15") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A state root whose path is too long for a socket address works all the same.
func TestALongPath(t *testing.T) {
	root := filepath.Join(t.TempDir(), strings.Repeat("long-", 30))
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if len(SocketPath(root)) <= 108 {
		t.Fatal("the path is not long")
	}
	client := serve(t, root, ledger(t))
	if _, err := client.Item(t.Context(), ref(15)); err != nil {
		t.Error(err)
	}
	info, err := os.Lstat(SocketPath(root))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
}

// A socket left by a process that is gone is replaced; anything else is not.
func TestWhatIsInTheWayOfTheSocket(t *testing.T) {
	root := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: SocketPath(root), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	client := serve(t, root, ledger(t))
	if _, err := client.Item(t.Context(), ref(15)); err != nil {
		t.Error(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(SocketPath(other), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(other); err == nil || !strings.Contains(err.Error(), SocketPath(other)) {
		t.Errorf("a file in the way: %v", err)
	}
	if text, _ := os.ReadFile(SocketPath(other)); string(text) != "mine" {
		t.Error("the file in the way was touched")
	}
}

// Nobody there is said as such, so that a command can look again.
func TestNobodyAnswers(t *testing.T) {
	if _, err := NewClient(t.TempDir()).Item(t.Context(), ref(1)); !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
}

// What is asked wrongly is answered as an error, in JSON.
func TestWrongQuestions(t *testing.T) {
	client := serve(t, t.TempDir(), ledger(t))
	for path, status := range map[string]int{
		"/v1/item?ref=nonsense": http.StatusBadRequest, "/v1/cycles?n=-1": http.StatusBadRequest, "/v1/item": http.StatusBadRequest, "/v2/items": http.StatusNotFound,
		"/": http.StatusNotFound, "/v1/kick": http.StatusNotFound,
	} {
		resp, err := client.http.Get("http://poller" + path)
		if err != nil {
			t.Fatal(err)
		}
		var p problem
		err = json.NewDecoder(resp.Body).Decode(&p)
		resp.Body.Close()
		if resp.StatusCode != status || err != nil || p.Message == "" {
			t.Errorf("%s: %s, %v, %+v", path, resp.Status, err, p)
		}
	}
}

// A list that was cut is an error, never a short list.
func TestACutListIsAnError(t *testing.T) {
	root := t.TempDir()
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	cut := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"item":{"ref":"github:octo/repo#1"}}` + "\n"))
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = cut.Serve(l) }()
	err = NewClient(root).Items(t.Context(), func(Summary) error { return nil })
	cut.Close()
	<-done
	if err == nil {
		t.Error("the cut list was taken for a whole one")
	}
}

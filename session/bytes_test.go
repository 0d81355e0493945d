//go:build unix

package session

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"theloop/record"
)

// long is how many rounds a test makes: the long form when SOAK says so.
func long(short, soak int) int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 0 {
		return soak
	}
	return short
}

// seeded is a source of chance whose seed is told, and can be given again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("again with SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// nasties are what a terminal, a shell, tmux, a format, JSON or a template would
// make something else of.
var nasties = []string{
	"\x1b[201~", "\x1b[200~", "\x1b]52;c;aGk=\x07", "\r", "\r\n", "\n", "\t", "\x00", "\x03", "\x04", "\x1a", "\x7f", "\x9b201~", "\u009b201~", "\u0085", "\u2028",
	"\u202e", "\u200b", "\ufeff", "\U000e0041", "\ufffd", "\xff\xfe", "\xc3", "\xed\xa0\x80", "😀", "e\u0301", "\u0627\u0644", "漢字", "\ue000", "\ufdd0", "\U0010ffff",
	"`", "``````", "```\n", "\"", "\\", "\\u0041", "</script>", "&amp;", "#{pid}", "#(touch pwned)", "$(touch pwned)", "`touch pwned`", "%s%n", ";", "\\;", "~.", "{{prompt}}",
	"$payload_excerpt", "${work_item}", "$$", "--help", "-", "!!", "<!-- x -->", "~~~",
}

// anyText is what somebody may write: nothing, a word, long lines, all of Unicode,
// what is no text at all.
func anyText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(12) {
		switch rng.IntN(6) {
		case 0, 1:
			b.WriteString(nasties[rng.IntN(len(nasties))])
		case 2:
			b.WriteRune(rune(rng.IntN(utf8.MaxRune + 1))) // surrogates come as U+FFFD
		case 3:
			b.WriteByte(byte(rng.IntN(256)))
		case 4:
			b.WriteString(strings.Repeat(string(rune(0x20+rng.IntN(0x2fff))), 1+rng.IntN(400)))
		default:
			fmt.Fprintf(&b, " word%d", rng.IntN(1000))
		}
	}
	return b.String()
}

// edges are the texts that chance would miss.
func edges() []string {
	return append([]string{
		"", " ", "\n", "-n", strings.Repeat("x", MaxText), strings.Repeat("é", MaxText/2), strings.Repeat("line\n", MaxText/5),
		strings.Repeat("\x1b", 16<<10), strings.Repeat("`", 64), strings.Repeat("w ", 20_000) + "\n" + strings.Repeat("0123456789", 2_000),
	}, nasties...)
}

// A5, D3: what the harness reads is the rendered prompt, byte for byte, and the
// words in it are those that were written; with bracketed paste and without.
func TestRealBytes(t *testing.T) {
	for _, flags := range [][]string{nil, {"-no-bracket"}} {
		t.Run(strings.Join(append([]string{"raw"}, flags...), " "), func(t *testing.T) {
			t.Parallel()
			rng, r := seeded(t), newRig(t, flags...)
			if got := r.deliver(octoComment("IC_0", "octocat", "begin")); got != Done {
				t.Fatalf("%s, events %v", got, r.events)
			}
			texts := edges()
			for len(texts) < long(150, 5_000) {
				texts = append(texts, anyText(rng))
			}
			const batch = 250
			var want []string
			for i, text := range texts {
				want = append(want, r.sent(fmt.Sprintf("IC_%d", i+1), text))
				if len(want) == batch || i == len(texts)-1 {
					r.heard(want, texts[i+1-len(want):i+1])
					want = nil
				}
			}
		})
	}
}

// sent delivers a text and returns the prompt that it is rendered as.
func (r *rig) sent(id, text string) string {
	r.t.Helper()
	c := octoComment(id, "octocat", text)
	prompt, err := r.host.prompts.news(ask{
		ref: octoRef, session: octoRef, deliveryID: record.CommentDeliveryID(id), comment: &c, story: Story{Item: octoItem()},
	}, r.settings)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := r.deliver(c); got != Done {
		r.t.Fatalf("%+q: %s, events %v", clip(text), got, r.events[max(0, len(r.events)-4):])
	}
	return prompt
}

// heard waits until the harness has read the prompts, and compares.
func (r *rig) heard(want, texts []string) {
	r.t.Helper()
	first := len(want)
	r.told += first
	all := r.texts(r.told + 1)
	for i, got := range all[len(all)-first:] {
		if got != want[i] {
			r.t.Fatalf("of %+q arrived\n%+q, not\n%+q", clip(texts[i]), clip(got), clip(want[i]))
		}
		if d := data(r.t, got); utf8.ValidString(texts[i]) && d.Event.Text != texts[i] {
			r.t.Fatalf("an agent reads %+q, not %+q", clip(d.Event.Text), clip(texts[i]))
		}
	}
	// A new page: the thread of a test must not make the next commit slower.
	session := r.ledger.get(octoRef).Session
	r.ledger.mu.Lock()
	r.ledger.records = map[string]record.Record{}
	r.ledger.mu.Unlock()
	r.ledger.put(octoRef, record.Observe{Item: octoItem()}, record.FirstSeen{At: time.Now().Add(-time.Hour)}, record.PutSession{Session: *session})
}

func clip(s string) string { return s[:min(len(s), 300)] }

// D8: first prompts of any length reach the harness whole, and nothing of them
// is on disk, in an argument of tmux, or left in a buffer.
func TestRealFirstPrompts(t *testing.T) {
	t.Parallel()
	for _, size := range []int{16_383, 17 << 10, 100 << 10, MaxPrompt} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			began := time.Now()
			c := octoComment("IC_1", "octocat", "go on")
			item := octoItem()
			item.Body = "secret-in-the-prompt "
			a := ask{ref: octoRef, session: octoRef, deliveryID: "poll-comment-IC_1", comment: &c, story: Story{Item: item}}
			short, err := r.host.prompts.first(a, r.settings)
			if err != nil {
				t.Fatal(err)
			}
			item.Body += strings.Repeat("x", size-len(short))
			a.story.Item = item
			want, err := r.host.prompts.first(a, r.settings)
			if err != nil || size < MaxPrompt && len(want) != size {
				t.Fatalf("%d bytes: %v", len(want), err)
			}
			r.ledger.put(octoRef, record.Hold{Note: record.NoteOf(c)}, queue("IC_1"))
			got := r.host.Deliver(t.Context(), Delivery{Ref: octoRef, DeliveryID: "poll-comment-IC_1", Comment: c, Story: Story{Item: item}})
			if heard := r.texts(1)[0]; got != Done || heard != want {
				t.Errorf("%s: %d bytes arrived of %d", got, len(heard), len(want))
			}
			if left := r.user("list-buffers"); left != "" {
				t.Errorf("buffers are left: %.100s", left)
			}
			r.notOnDisk("secret-in-the-prompt", began)
		})
	}
}

// notOnDisk looks into every file that may have been written since.
func (r *rig) notOnDisk(text string, since time.Time) {
	r.t.Helper()
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or not ours
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since.Add(-time.Second)) || info.Size() > 16<<20 {
			return nil
		}
		if all, err := os.ReadFile(path); err == nil && bytes.Contains(all, []byte(text)) {
			r.t.Errorf("%s holds it", path)
		}
		return nil
	}
	if err := filepath.WalkDir(r.dir, look); err != nil {
		r.t.Error(err)
	}
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		r.t.Error(err)
	}
	for _, e := range entries {
		_ = look(filepath.Join(os.TempDir(), e.Name()), e, nil)
	}
}

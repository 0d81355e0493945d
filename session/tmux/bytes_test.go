//go:build unix

package tmux

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"theloop/testdata/harness/harnesslog"
)

// pasteable is any text that may be pasted: all of Unicode but control characters, with \n and \t.
func pasteable() *rapid.Generator[string] {
	special := []rune("\n\t#;'\"$`\\{}%~-|,: \u00a0\u202e\u200b😀é")
	r := rapid.OneOf(rapid.SampledFrom(special), rapid.Rune().Filter(func(r rune) bool {
		return clean([]byte(string(r)))
	}))
	return rapid.StringOf(r)
}

// D3: what arrives is what was sent, and a carriage return, with brackets and without.
func TestD3BytesArriveExactly(t *testing.T) {
	for _, mode := range []struct {
		name  string
		flags []string
		frame func(string) string
	}{
		{"bracketed", nil, bracketed},
		{"plain", []string{"-no-bracket"}, func(s string) string { return s + "\r" }},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			look, log := r.spawned("loop-a", mode.flags...)
			sent, n := "", 0
			send := func(text string) error {
				n++
				if outcome, err := r.paste(look, fmt.Sprint(n), text); outcome != OK {
					return fmt.Errorf("delivery %d: %v %w", n, outcome, err)
				}
				if text == "" {
					sent += "\r" // nothing to put into brackets
				} else {
					sent += mode.frame(text)
				}
				return nil
			}
			for _, text := range []string{"", "-n", ";", "x;", "#(touch /tmp/x)", "#{pid}", "\n\n", strings.Repeat("é\n", 32<<10), strings.Repeat("x", 100_000),
				strings.Repeat("0123456789abcde\n", 64<<10), strings.Repeat("0123456789abcdef", 64<<10)} {
				if err := send(text); err != nil {
					t.Fatal(err)
				}
				same(t, log, sent)
			}
			rapid.Check(t, func(rt *rapid.T) {
				if err := send(pasteable().Draw(rt, "text")); err != nil {
					rt.Fatal(err)
				}
			})
			same(t, log, sent)
			if left := r.tmux("list-buffers"); left != "" {
				t.Errorf("buffers left: %s", left)
			}
		})
	}
}

// someText is a text that may be pasted, of 1 byte to 1 MiB, as often short as long.
func someText(rng *rand.Rand) string {
	size := int(math.Exp(rng.Float64() * math.Log(1<<20)))
	special := []rune("\n\t#;'\"$`\\{}%~-|,: \u00a0\u202e\u200b😀é")
	var piece strings.Builder
	for many := 1 + rng.IntN(2_000); piece.Len() < min(size, many); {
		r := rune(' ' + rng.IntN('~'-' '+1))
		switch rng.IntN(4) {
		case 0:
			r = special[rng.IntN(len(special))]
		case 1:
			if any := rune(rng.IntN(utf8.MaxRune)); clean([]byte(string(any))) {
				r = any
			}
		}
		piece.WriteRune(r)
	}
	text := strings.Repeat(piece.String(), 1+size/piece.Len())[:size]
	return strings.ToValidUTF8(text, "") // its end may be the half of a character
}

// D3: the same for texts by chance, of any length; 10 000 of them in the long form.
func TestD3AnyTextArrives(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("again with SEED=%d", seed)
	rounds, each := 1, 20
	if soak(1) > 1 {
		rounds, each = 50, 100
	}
	for n, flags := range [][]string{nil, {"-no-bracket"}} {
		t.Run(strings.Join(append([]string{"raw"}, flags...), " "), func(t *testing.T) {
			t.Parallel()
			rng, r := rand.New(rand.NewPCG(seed, uint64(n))), newRig(t)
			for round := range rounds {
				name := fmt.Sprint("loop-", round)
				look, log := r.spawned(name, flags...)
				var sent strings.Builder
				for i := range each {
					text := someText(rng)
					if outcome, err := r.paste(look, fmt.Sprint(i), text); outcome != OK {
						t.Fatalf("text %d of %d bytes: %v %v", i, len(text), outcome, err)
					}
					switch {
					case text == "":
						sent.WriteString("\r")
					case flags == nil:
						sent.WriteString(bracketed(text))
					default:
						sent.WriteString(text + "\r")
					}
				}
				same(t, log, sent.String())
				if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Grace: 10 * time.Second}); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(log); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func same(t *testing.T, log, want string) {
	t.Helper()
	rs := records(t, log, func(rs []harnesslog.Record) bool { return len(harnesslog.Input(rs, 0)) >= len(want) })
	if got := string(harnesslog.Input(rs, 0)); got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("differs from byte %d of %d (%d arrived): %.80q, want %.80q", i, len(want), len(got), got[i:], want[i:])
	}
}

package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shipped is the policy of a configuration that says nothing about keywords.
func shipped() Policy { return New(Options{ControlEnabled: true}) }

// keyed is a policy in which start has that keyword and no other command has one.
func keyed(start string) Policy {
	keywords := map[Command]string{Start: start}
	for _, c := range AllCommands() {
		if c != Start {
			keywords[c] = ""
		}
	}
	return New(Options{ControlEnabled: true, Keywords: keywords})
}

func TestAKeywordIsObeyed(t *testing.T) { // X3
	for _, tt := range []struct {
		why, body string
		want      Command
	}{
		{"by itself", "the-loop start", Start},
		{"in capitals", "The-Loop START", Start},
		{"in a sentence", "Please the-loop pause until Monday.", Pause},
		{"at the front", "the-loop resume now", Resume},
		{"at the end", "and so: do it, the-loop do", Do},
		{"at the end of a sentence", "the-loop stop. It is wrong!", Stop},
		{"before a comma", "the-loop stop, it is wrong", Stop},
		{"before an exclamation mark", "the-loop stop!", Stop},
		{"before dots", "the-loop stop...", Stop},
		{"in brackets", "(the-loop cleanup)", Cleanup},
		{"in quotation marks", `"the-loop cleanup"`, Cleanup},
		{"before an em dash", "the-loop start—use Postgres", Start},
		{"behind a mention", "@octocat the-loop start", Start},
		{"as a mention", "@the-loop start", Start},
		{"with a slash in front", "/the-loop start", Start},
		{"on a line of its own", "Hello\nthe-loop contribute\nthanks", Contribute},
		{"between Windows line ends", "Hello\r\nthe-loop stop\r\nthanks\r\n", Stop},
		{"between old Macintosh line ends", "Hello\rthe-loop stop\rthanks", Stop},
		{"behind a byte order mark", "\uFEFFthe-loop stop", Stop},
		{"parted by spaces", "the-loop   start", Start},
		{"parted by a tab", "the-loop\tstart", Start},
		{"parted by tabs and spaces", "the-loop \t start", Start},
		{"in bold", "**the-loop start**", Start},
		{"in italics", "_the-loop start_", Start},
		{"half in bold", "**the-loop** start", Start},
		{"in a heading", "# the-loop start", Start},
		{"in an underlined heading", "the-loop start\n===", Start},
		{"in a list", "1. the-loop start", Start},
		{"in a task list", "- [x] the-loop start", Start},
		{"as the text of a link", "[the-loop start](https://example.com)", Start},
		{"in HTML bold", "Now <b>the-loop start</b>", Start},
		{"behind a hidden comment", "Hi <!-- x --> the-loop start", Start},
		{"below a hidden comment", "<!-- x -->\nthe-loop start", Start},
		{"below a quote", "> why?\n\nthe-loop start", Start},
		{"above a quote", "the-loop start\n\n> why?", Start},
		{"below code", "```\nx\n```\nthe-loop start", Start},
		{"below HTML", "<details>\n<summary>x</summary>\n\n</details>\n\nthe-loop start", Start},
		{"inside details", "<details>\n\nthe-loop start\n\n</details>", Start},
		{"beside code", "`make` fails, the-loop stop", Stop},
		{"below closed HTML code", "<code>x</code>\n\nthe-loop start", Start},
		{"with its letters escaped", `the\-loop start`, Start},
		{"with its letters referenced", "the&#45;loop &#x73;tart", Start},
		{"in Arabic, with directional marks", "من فضلك \u200Fthe-loop start\u200F الآن", Start},
		{"in Hebrew, isolated", "בבקשה \u2066the-loop stop\u2069.", Stop},
		{"behind an emoji", "🚀the-loop start", Start},
		{"behind an emoji with its selector", "✔\uFE0Fthe-loop start", Start},
		{"twice", "the-loop start\n\nThe-Loop Start", Start},
		{"beside another that is quoted", "> the-loop stop\n\nthe-loop start", Start},
		{"beside another that is code", "the-loop start, not `the-loop stop`", Start},
	} {
		if got := shipped().Commands(tt.body); got.Command != tt.want || got.Ambiguous != nil {
			t.Errorf("%s: Commands(%q) = %+v, want %s", tt.why, tt.body, got, tt.want)
		}
	}
}

func TestNotAKeyword(t *testing.T) { // X3
	for _, tt := range []struct{ why, body string }{
		{"nothing", ""},
		{"half of it", "start"},
		{"the other half", "the-loop"},
		{"inside a word", "xthe-loop start"},
		{"the front of a word", "the-loop starting"},
		{"the front of a name", "the-loop start_all"},
		{"the front of a number", "the-loop start2"},
		{"inside an accented word", "éthe-loop start"},
		{"inside a word with a mark of its own", "e\u0301the-loop start"},
		{"inside a word with a mark that no letter has", "x\u0301the-loop start"},
		{"with a mark on its last letter", "the-loop start\u0301"},
		{"inside an Arabic word", "والthe-loop start"},
		{"inside a word that is parted by something invisible", "x\u200Bthe-loop start"},
		{"before a hyphen", "the-loop start-up"},
		{"before a special hyphen", "the-loop start\u2011up"},
		{"behind a hyphen", "-the-loop start"},
		{"a longer option", "--the-loop start"},
		{"before a colon", "the-loop start: it does this"},
		{"behind a colon", "say:the-loop start"},
		{"before a wide colon", "the-loop start\uFF1A"},
		{"a genitive", "the-loop stop's effect"},
		{"a negation", "the-loop don't"},
		{"a path", "run bin/the-loop start"},
		{"the front of a path", "the-loop start/stop"},
		{"a file name", "see the-loop start.sh"},
		{"an account's address", "me@the-loop start"},
		{"without a space", "the-loopstart"},
		{"over a line end", "the-loop\nstart"},
		{"over a hard line end", "the-loop  \nstart"},
		{"over an HTML line end", "the-loop <br>start"},
		{"over paragraphs", "the-loop\n\nstart"},
		{"over list items", "- the-loop\n- start"},
		{"over a quote", "the-loop\n\n> x\n\nstart"},
		{"over code", "the-loop `x` start"},
		{"over a picture", "the-loop ![x](y) start"},
		{"over something invisible", "the-loop\u200B start"},
		{"in a word that goes on in bold", "the-loop start**ing**"},
		{"in a word that began in bold", "**x**the-loop start"},
		{"quoted", "> the-loop start"},
		{"quoted deeper", "> > the-loop start"},
		{"quoted behind a byte order mark", "\uFEFF> the-loop start"},
		{"quoted, without the mark on each line", "> Hello\nthe-loop start"},
		{"quoted in a list", "- > the-loop start"},
		{"a list in a quote", "> - the-loop start"},
		{"a heading in a quote", "> # the-loop start"},
		{"quoted between Macintosh line ends", "Hello\r\r> the-loop start"},
		{"a code span", "`the-loop start`"},
		{"a longer code span", "``the-loop start` ``"},
		{"a code span over lines", "`x\nthe-loop start\ny`"},
		{"touching code", "`x`the-loop start"},
		{"touched by code", "the-loop start`x`"},
		{"fenced code", "```\nthe-loop start\n```"},
		{"fenced code with a language", "```sh\nthe-loop start\n```"},
		{"the language of fenced code", "``` the-loop start\n```"},
		{"fenced by tildes", "~~~\nthe-loop start\n~~~"},
		{"an open fence", "```\nthe-loop start"},
		{"indented code", "Hello\n\n    the-loop start"},
		{"code indented by a tab", "\tthe-loop start"},
		{"a hidden comment", "<!-- the-loop start -->"},
		{"a hidden comment in a line", "Hello <!-- the-loop start --> there"},
		{"a hidden comment over lines", "Hello\n<!--\n\nthe-loop start\n\n-->"},
		{"an open hidden comment", "<!--\n\nthe-loop start"},
		{"an attribute", `Hello <a title="the-loop start">x</a>`},
		{"a block of HTML", "<div>\nthe-loop start\n</div>"},
		{"HTML code", "Say <code>the-loop start</code>"},
		{"HTML code in capitals", "Say <CODE>the-loop start</CODE>"},
		{"preformatted", "<pre>\n\nthe-loop start\n\n</pre>"},
		{"an HTML quote", "<blockquote>\n\nthe-loop start\n\n</blockquote>"},
		{"an open HTML quote", "<blockquote class='x'>\n\nOn Monday:\n\nthe-loop start"},
		{"an HTML quote in a line", "Did you say <q>the-loop start</q>?"},
		{"taken back", "~~the-loop start~~"},
		{"taken back in HTML", "No: <del>the-loop start</del>"},
		{"a link's target", "[x](<the-loop start>)"},
		{"a link's title", `[x](y "the-loop start")`},
		{"a link's definition", "[x]: /y 'the-loop start'"},
		{"a link's label", "[x][the-loop start]\n\n[the-loop start]: /y"},
		{"a picture's text", "![the-loop start](x.png)"},
		{"a picture's title", `![x](y.png "the-loop start")`},
		{"an address", "https://example.com/the-loop start"},
		{"a processing instruction", "Hello <?the-loop start?>"},
	} {
		if got := shipped().Commands(tt.body); got.Command != "" || got.Ambiguous != nil {
			t.Errorf("%s: Commands(%q) = %+v", tt.why, tt.body, got)
		}
	}
}

func TestDifferentCommandsAreAmbiguous(t *testing.T) { // X3
	for body, want := range map[string][]Command{
		"the-loop start and then the-loop stop":   {Start, Stop},
		"the-loop stop\n\nthe-loop start":         {Stop, Start},
		"the-loop do, the-loop do, the-loop stop": {Do, Stop},
		"the-loop start or the-loop contribute":   {Start, Contribute},
	} {
		if got := shipped().Commands(body); got.Command != "" || !slices.Equal(got.Ambiguous, want) {
			t.Errorf("Commands(%q) = %+v, want %v", body, got, want)
		}
	}
}

func TestWordsBesideTheKeyword(t *testing.T) { // X6
	for body, want := range map[string]bool{
		"the-loop resume":                                false,
		" the-loop resume \n":                            false,
		"**the-loop resume!** 🚀":                         false,
		"the-loop resume, the-loop resume.":              false,
		"the-loop resume\n\n> an old question":           false,
		"the-loop resume\n\n<!-- a signature -->":        false,
		"the-loop resume ~~please~~":                     false,
		"the-loop resume\n\n[x]: /y":                     false,
		"the-loop resume\n\n---":                         false,
		"the-loop resume, and use Postgres":              true,
		"Use Postgres.\n\nthe-loop resume":               true,
		"the-loop resume at 7":                           true,
		"the-loop resume תודה":                           true,
		"the-loop resume with `make check`":              true,
		"the-loop resume <code>x</code>":                 true,
		"the-loop resume\n\n```\nmake check\n```":        true,
		"the-loop resume\n\n    make check":              true,
		"the-loop resume ![a screenshot](x.png)":         true,
		"the-loop resume <https://example.com>":          true,
		"the-loop resume https://example.com/":           true,
		"the-loop resume\n\n<div>use Postgres</div>":     true,
		"the-loop resume\n\n<pre>\nmake check</pre>":     true,
		"the-loop resume\n\n<div title='x > y'>\n</div>": false,
		"the-loop resume\n\n<!-- a > signature -->":      false,
		"the-loop resume\n\n<div title='x'>\n</div>":     false,
		"the-loop resume\n\n<blockquote>x</blockquote>":  false,
	} {
		got := shipped().Commands(body)
		if got.Command != Resume || got.Words != want {
			t.Errorf("Commands(%q) = %+v, want resume and words %v", body, got, want)
		}
	}
}

func TestKeywordsOfAnyKind(t *testing.T) { // X3
	for _, tt := range []struct {
		keyword, body string
		want          bool
	}{
		{"go", "go", true},
		{"go", "gone", false},
		{"GO", "go", true},
		{" go \t ahead ", "go   ahead", true},
		{"/go", "/go", true},
		{"/go", "please /go now", true},
		{"/go", "https://example.com/go", false},
		{"/go", "www.example.com/go", false},
		{"go", "see www.example.com?go now", false},
		{"go", "see https://example.com/?x&go ", false},
		{"go", "see https://example.com/ go ", true},
		{"go", "<https://go>", false},
		{"go", "<go@example.com>", false},
		{"go", "go@example.com", false},
		{"/go", "a/go", false},
		{"@loop go", "@loop go", true},
		{"@loop go", "me@loop go", false},
		{"!go", "!go", true},
		{"go!", "go! now", true},
		{"go!", "go!now", false},
		{"go:", "go: now", true},
		{"g.o", "gxo", false},
		{"g.o", "g.o", true},
		{`$(g)[o]^.+?\d{2}|`, `Say $(g)[o]^.+?\\d{2}| please`, true},
		{"(go", "(go", true},
		{"[go]", "[go]", true},
		{"[go]", "[go](x)", false},
		{"g", strings.Repeat("g ", 100), true},
		{"日本 開始", "はい 日本  開始。", true},
		{"開始", "開始する", false},
		{"d\u00E9marrer", "demarrer", false},
		{"d\u00E9marrer", "de\u0301marrer", true},
		{"de\u0301marrer", "D\u00E9marrer", true},
		{"d\u00E9marrer", "D\u00C9MARRER", false},
		{"ΩΣ", "ωσ", false},
		{"🚀", "🚀", true},
		{"🚀", "now 🚀\uFE0F!", true},
		{"🚀 go", "🚀\tGO", true},
		{"", "", false},
		{" \t ", "  ", false},
	} {
		if got := keyed(tt.keyword).Commands(tt.body); (got.Command == Start) != tt.want {
			t.Errorf("keyword %q: Commands(%q) = %+v, want %v", tt.keyword, tt.body, got, tt.want)
		}
	}
}

func TestKeywordsThatMeet(t *testing.T) { // X3
	p := New(Options{ControlEnabled: true, Keywords: map[Command]string{
		Start: "go", Do: "go on", Stop: "on hold", Pause: "halt", Cleanup: "halt", Contribute: "wait long", Resume: "wait",
	}})
	for body, want := range map[string]Found{
		"go":         {Command: Start},
		"go on":      {Command: Do},
		"go  on, go": {Ambiguous: []Command{Do, Start}},
		"go on hold": {Ambiguous: []Command{Do, Stop}},
		"wait":       {Command: Resume},
		"wait long":  {Command: Contribute},
		"halt":       {Ambiguous: []Command{Pause, Cleanup}},
		"resume":     {Words: true},
	} {
		if diff := cmp.Diff(want, p.Commands(body)); diff != "" {
			t.Errorf("Commands(%q) (-want +got):\n%s", body, diff)
		}
	}
}

func TestAKeywordWithinAnotherIsNotSaid(t *testing.T) { // X3
	p := New(Options{ControlEnabled: true, Keywords: map[Command]string{Start: "please go now", Stop: "go", Pause: "now"}})
	for body, want := range map[string]Command{"please go now": Start, "please go": Stop, "now": Pause} {
		if got := p.Commands(body); got.Command != want {
			t.Errorf("Commands(%q) = %+v, want %s", body, got, want)
		}
	}
}

func TestAnEmptyKeywordTurnsItsCommandOff(t *testing.T) { // X3
	p := New(Options{ControlEnabled: true, Keywords: map[Command]string{Stop: "", "execute": "the-loop execute"}})
	for body, want := range map[string]Command{"the-loop stop": "", "the-loop execute": "", "the-loop start": Start} {
		if got := p.Commands(body); got.Command != want {
			t.Errorf("Commands(%q) = %+v", body, got)
		}
	}
}

func TestNoKeywordsWithoutControl(t *testing.T) { // X3
	for _, p := range []Policy{{}, New(Options{Keywords: map[Command]string{Start: "go"}})} {
		if got := p.Commands("the-loop start\n\ngo"); got.Command != "" || got.Ambiguous != nil {
			t.Errorf("Commands = %+v", got)
		}
	}
}

func TestThePolicyKeepsNothingOfItsOptions(t *testing.T) {
	users, keywords := []string{"octocat"}, map[Command]string{Start: "go"}
	p := New(Options{AuthorizedUsers: users, ControlEnabled: true, Keywords: keywords})
	users[0], keywords[Start] = "mallory", "halt"
	if p.Commands("go").Command != Start || p.Keyword(Start) != "go" {
		t.Error("the policy changed with the map it was made of")
	}
}

func TestAPolicyWithoutKeywordsFindsNothing(t *testing.T) { // X3
	for _, p := range []Policy{{}, New(Options{}), New(Options{ControlEnabled: true, Keywords: map[Command]string{
		Start: "", Do: "", Contribute: "", Stop: "", Pause: "", Resume: "", Cleanup: " ",
	}})} {
		if got := p.Commands("the-loop start, please"); got.Command != "" || got.Ambiguous != nil || got.Words {
			t.Errorf("it finds %+v", got)
		}
	}
}

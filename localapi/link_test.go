package localapi

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// conversation is a registration whose every part has a form that can be.
func conversation() Registration {
	return Registration{
		Ref: ref(15), Harness: "claude", HarnessSessionID: "1b4e28ba-2fa1-41d2-883f-0016d3cca427", Cwd: "/src/repo", TmuxTarget: "mine",
	}
}

// A5, D8: what ends up in a command line or in tmux has the form of a name.
func TestARegistrationHasAForm(t *testing.T) {
	for name, edit := range map[string]func(*Registration){
		"a harness that is a path":          func(r *Registration) { r.Harness = "../claude" },
		"no harness":                        func(r *Registration) { r.Harness = "" },
		"an option for an id":               func(r *Registration) { r.HarnessSessionID = "--help" },
		"an id with a line break":           func(r *Registration) { r.HarnessSessionID += "\n" },
		"no id":                             func(r *Registration) { r.HarnessSessionID = "" },
		"a folder from nowhere":             func(r *Registration) { r.Cwd = "repo" },
		"a folder with a control character": func(r *Registration) { r.Cwd = "/src/\x1b[2J" },
		"a folder without end":              func(r *Registration) { r.Cwd = "/" + strings.Repeat("x", 4096) },
		"a folder that goes back":           func(r *Registration) { r.Cwd = "/src/../etc" },
		"a format of tmux":                  func(r *Registration) { r.TmuxTarget = "#(id)" },
		"a command of tmux":                 func(r *Registration) { r.TmuxTarget = "a;b" },
		"an option of tmux":                 func(r *Registration) { r.TmuxTarget = "-t" },
	} {
		t.Run(name, func(t *testing.T) {
			r := conversation()
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			edit(&r)
			local := ledger(t)
			local.Registrar = func(context.Context, Registration) (Registered, error) {
				t.Error("it was registered")
				return Registered{}, nil
			}
			if _, err := serve(t, t.TempDir(), local).Register(t.Context(), r); err == nil || !strings.Contains(err.Error(), "give") {
				t.Errorf("%v", err)
			}
		})
	}
}

// What a person enters goes over the socket as it was said, and what becomes of it
// comes back; where nothing may be written, nothing is.
func TestWhatAPersonEnters(t *testing.T) {
	client := serve(t, t.TempDir(), ledger(t))
	if _, err := client.Link(t.Context(), Link{Ref: ref(15), Pull: ref(21)}); err == nil || !strings.Contains(err.Error(), "open for reading") {
		t.Errorf("%v", err)
	}
	if _, err := client.Register(t.Context(), conversation()); err == nil || !strings.Contains(err.Error(), "open for reading") {
		t.Errorf("%v", err)
	}
	local := ledger(t)
	local.Linker = func(_ context.Context, l Link) (Linked, error) {
		if l.Pull == l.Ref {
			return Linked{}, errors.New("to itself")
		}
		return Linked{Ref: l.Ref.String(), Pull: l.Pull.String(), Already: true}, nil
	}
	local.Registrar = func(_ context.Context, r Registration) (Registered, error) {
		return Registered{Ref: r.Ref.String(), Live: r == conversation()}, nil
	}
	client = serve(t, t.TempDir(), local)
	if got, err := client.Link(t.Context(), Link{Ref: ref(15), Pull: ref(21)}); err != nil || got != (Linked{ref(15).String(), ref(21).String(), true}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := client.Link(t.Context(), Link{Ref: ref(15), Pull: ref(15)}); err == nil || !strings.Contains(err.Error(), "to itself") {
		t.Errorf("%v", err)
	}
	var unknown *UnknownError
	if _, err := client.Link(t.Context(), Link{Ref: ref(99), Pull: ref(21)}); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	if got, err := client.Register(t.Context(), conversation()); err != nil || got != (Registered{ref(15).String(), true}) {
		t.Errorf("%+v, %v", got, err)
	}
}

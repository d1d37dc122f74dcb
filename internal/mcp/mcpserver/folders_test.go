package mcpserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// TestFolderForm lets every kind of person and host answer the question about a folder, in every protocol. Which
// folders may be asked about at all is the reach's to say (reach.TestAllow), and which contents of a form count is the
// sheet's (TestSheetRefuses).
func TestFolderForm(t *testing.T) {
	t.Parallel()
	allow := object{"decision": "allow"}
	for _, protocol := range protocols {
		for name, tt := range map[string]struct {
			form answerForm
			// cwd is the folder that the call names; Other if it is empty.
			cwd string
			env []string
			// asked is how often the person is asked when the call is made twice, words are why not.
			asked int
			words string
		}{
			"allowed":             {form: fill(person, "accept", allow), asked: 1},
			"not allowed":         {form: fill(person, "accept", object{"decision": "deny"}), asked: 1, words: "the person does not allow it"},
			"not now":             {form: fill(person, "accept", object{"decision": "not_now"}), asked: 2, words: "has not decided"},
			"closed":              {form: fill(person, "cancel", nil), asked: 1, words: "closed or declined"},
			"made up":             {form: fill(person, "accept", object{"decision": "approve"}), asked: 2, words: `"approve" is not a choice`},
			"allowed at once":     {form: fill(soon, "accept", allow), asked: 1, words: "no person has seen"},
			"too late":            {form: fill(gate.FormTimeout+time.Second, "accept", allow), asked: 2, words: "not answered in time"},
			"no forms":            {words: "is not a folder that bmad-mcp may work in"},
			"keys":                {form: fill(person, "accept", allow), cwd: ".ssh", words: "SSH keys are kept there"},
			"a link to keys":      {form: fill(person, "accept", allow), cwd: "src/Became", words: "is not a folder that bmad-mcp may work in"},
			"what does not exist": {form: fill(person, "accept", allow), cwd: "src/none", asked: 2, words: "not an existing folder"},
			"too long to be seen": {form: fill(person, "accept", allow), cwd: "src/" + strings.Repeat("long", 50), words: "is not a folder that bmad-mcp may work in"},
		} {
			inBubble(t, protocol+" "+name, func(t *testing.T) {
				a := newAccount(t, "Private")
				asked := 0
				l := mcpserver.Launch{Protocol: protocol}
				if tt.form != nil {
					l.Form = func(ctx context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
						asked++
						a.checkFolderForm(f, protocol)
						return tt.form(ctx, f)
					}
				}
				c := a.inside(tt.env...).connect(t, l)
				cwd := a.at("src/Other")
				if tt.cwd != "" {
					cwd = a.home + "/" + tt.cwd
				}
				before := a.snapshot()
				for n := range 2 {
					reply, refused := call(t, c, object{"action": "start", "objective": fmt.Sprint("x", n), "cwd": cwd})
					if refused != (tt.words != "") || n == 0 && refused && (reply["code"] != "not_allowed" || !strings.Contains(fmt.Sprint(reply["error"]), tt.words)) {
						t.Fatalf("call %d: %v", n, reply)
					}
				}
				if asked != tt.asked {
					t.Errorf("asked %d times, want %d", asked, tt.asked)
				}
				if after := a.snapshot(); tt.words != "" && after != before {
					t.Errorf("the disk has changed: %s", newLines(before, after))
				}
				if remembered := a.remembered(); remembered == (tt.words != "") {
					t.Errorf("a folder was remembered: %v", remembered)
				}
			})
		}
	}
}

// TestAllowedFolderIsRemembered checks that what a person has allowed by a form counts for the next server, which the
// program puts together: for the folder and those in it, and for no other.
func TestAllowedFolderIsRemembered(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "Private")
	synctest.Test(t, func(t *testing.T) {
		c := a.inside().connect(t, mcpserver.Launch{Form: fill(person, "accept", object{"decision": "allow"})})
		if reply, refused := call(t, c, object{"action": "start", "objective": "x", "cwd": a.at("src/Other")}); refused {
			t.Fatal(reply)
		}
	})
	a.mkdir(a.at("src/Other/below"))
	next := a.host(string(filepath.Separator), nil, nil, a.env()...)
	if answer := next.tool("bmad-task", object{"action": "start", "objective": "y", "cwd": a.at("src/Other/below")}); !strings.Contains(answer, " has started") {
		t.Error(answer)
	}
	for n, name := range []string{"src", "src/gone", "Private"} {
		a.refusesAt(next.ask, someDoors(n), a.at(name))
	}
}

// inside returns a server that may use the project of the account, and what the person adds to it.
func (a *account) inside(settings ...string) insideServer {
	state := filepath.Join(a.top, "state", "bmad-mcp")
	return insideServer{project: a.project, settings: settings, state: state, reach: reach.New(reach.Options{
		Rules: reach.NewRules([]string{a.home}, nil), Opened: []reach.Place{{Folder: a.project}},
		Remembered: func() []reach.Place { return nil },
		Remember: func(ctx context.Context, folder string) error {
			_, err := trust.UserState(state).AddPlace(ctx, trust.Place{Folder: folder, By: trust.ByForm, At: time.Now()})
			return err
		},
	})}
}

// remembered reports whether a folder that a person has allowed is on record.
func (a *account) remembered() bool {
	_, err := os.Stat(filepath.Join(a.top, "state", "bmad-mcp", "folders.json"))
	return err == nil
}

// checkFolderForm checks the form that the person sees: at most three lines of what hosts show, and
// the whole path in them.
func (a *account) checkFolderForm(f mcpserver.Form, protocol string) {
	lines := strings.Split(f.Message, "\n")
	if len(lines) > 4 || !strings.HasPrefix(f.Message, "May bmad-mcp work in ") || !strings.Contains(f.Message, "It keeps its files there.") {
		a.t.Errorf("message %q", f.Message)
	}
	if path := strings.ReplaceAll(f.Message, "\n", ""); !strings.Contains(path, a.at("src/Other")) && !strings.Contains(path, a.at("src/none")) {
		a.t.Errorf("no path in %q", f.Message)
	}
	for _, line := range lines {
		if len(line) > 80 {
			a.t.Errorf("%d columns: %s", len(line), line)
		}
	}
	decision := f.Schema["properties"].(object)["decision"].(object)
	text := fmt.Sprint(decision)
	if titled := decision["oneOf"] != nil; titled != (protocol > "2025-06-18") || !strings.Contains(text, "Yes, remember") || !strings.Contains(text, "No") || decision["default"] != nil {
		a.t.Errorf("decision %v", decision)
	}
}

// TestFolderFormIsForItsFolder checks that an answer does not count for another folder, another
// time, or without the question.
func TestFolderFormIsForItsFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(t, "Private")
		send := a.inside().caller(t)
		allow := object{"form": object{"action": "accept", "content": object{"decision": "allow"}}}
		start := func(name string) object { return object{"action": "start", "objective": "x", "cwd": a.at(name)} }
		for i, state := range []any{nil, "folder-", "folder-form-", "folder-form-AAAAAAAAAAAAAAAAAAAAAAAAAA", "form-x", strings.Repeat("folder-", 1000)} {
			more := object{"inputResponses": allow}
			if state != nil {
				more["requestState"] = state
			}
			result, reply := send(modernCall(10+i, start("src/Other"), more))
			if result["resultType"] != "input_required" && reply["code"] != "not_allowed" {
				t.Errorf("%v: %v %v", state, result, reply)
			}
		}
		ask := func(id int, name string) string {
			t.Helper()
			result, _ := send(modernCall(id, start(name), nil))
			state, _ := result["requestState"].(string)
			if result["resultType"] != "input_required" || !strings.HasPrefix(state, "folder-") {
				t.Fatalf("no form: %v", result)
			}
			return state
		}
		states := map[string]string{}
		for _, name := range []string{"src/gone", ".ssh", ".", "src/relay/keys", "src", "Private"} {
			states[name] = ask(20, "src/Other")
		}
		time.Sleep(person)
		for name, state := range states {
			if _, reply := send(modernCall(21, start(name), object{"inputResponses": allow, "requestState": state})); reply["code"] != "not_allowed" {
				t.Errorf("the answer for %s: %v", name, reply)
			}
		}
		// The folder becomes a link to another while the form is open.
		state := ask(24, "src/gone")
		if err := os.Remove(a.at("src/gone")); err != nil {
			t.Fatal(err)
		}
		a.link(a.at("Private"), a.at("src/gone"))
		time.Sleep(person)
		if _, reply := send(modernCall(25, start("src/gone"), object{"inputResponses": allow, "requestState": state})); reply["code"] != "not_allowed" {
			t.Errorf("the answer for what has become a link: %v", reply)
		}
		if a.remembered() {
			t.Error("a folder was remembered")
		}
		// And the honest one.
		state = ask(26, "src/Other")
		time.Sleep(person)
		if _, reply := send(modernCall(27, start("src/Other"), object{"inputResponses": allow, "requestState": state})); reply["session_id"] == nil {
			t.Errorf("%v", reply)
		}
	})
}

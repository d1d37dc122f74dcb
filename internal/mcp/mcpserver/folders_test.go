package mcpserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestFolderForm lets every kind of person and host answer the question about a folder, in
// every protocol: the ways to let it be used, the memory of them, and the folders that they are for.
func TestFolderForm(t *testing.T) {
	t.Parallel()
	allow, deny := object{"decision": "allow"}, object{"decision": "deny"}
	for _, protocol := range protocols {
		for name, tt := range map[string]struct {
			form func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error)
			// cwd is the folder that the call names; Other if it is empty.
			cwd string
			env []string
			// started is true where the session is started; asked is how often the person is asked
			// when the call is made twice.
			started bool
			asked   int
			words   string
		}{
			"allowed":             {form: fill(person, "accept", allow), started: true, asked: 1},
			"not allowed":         {form: fill(person, "accept", deny), asked: 1, words: "the person does not allow it"},
			"not now":             {form: fill(person, "accept", object{"decision": "not_now"}), asked: 2, words: "has not decided"},
			"an unknown field":    {form: fill(person, "accept", object{"decision": "allow", "always": "yes"}), asked: 2, words: `no field "always"`},
			"declined":            {form: fill(person, "decline", nil), asked: 1, words: "closed or declined"},
			"closed":              {form: fill(person, "cancel", nil), asked: 1, words: "closed or declined"},
			"empty":               {form: fill(person, "accept", object{}), asked: 2, words: `the field "decision" is empty`},
			"made up":             {form: fill(person, "accept", object{"decision": "yes"}), asked: 2, words: `"yes" is not a choice`},
			"a gate's decision":   {form: fill(person, "accept", object{"decision": "approve"}), asked: 2, words: `"approve" is not a choice`},
			"of another type":     {form: fill(person, "accept", object{"decision": true}), asked: 2, words: `is not a text`},
			"allowed at once":     {form: fill(0, "accept", allow), asked: 1, words: "no person has seen"},
			"declined at once":    {form: fill(0, "decline", nil), asked: 1, words: "no person has seen"},
			"too late":            {form: fill(1500*time.Millisecond, "accept", allow), env: []string{"BMAD_FORM_TIMEOUT=1s"}, asked: 2, words: "not answered in time"},
			"no forms":            {words: "is not a folder that bmad-mcp may work in"},
			"keys":                {form: fill(person, "accept", allow), cwd: ".ssh", words: "SSH keys are kept there"},
			"the home":            {form: fill(person, "accept", allow), cwd: ".", words: "it is the home folder itself"},
			"a hidden folder":     {form: fill(person, "accept", allow), cwd: ".config/nvim", words: "is not a folder that bmad-mcp may work in"},
			"a link to keys":      {form: fill(person, "accept", allow), cwd: "src/Became", words: "is not a folder that bmad-mcp may work in"},
			"what does not exist": {form: fill(person, "accept", allow), cwd: "src/none", asked: 2, words: "not an existing folder"},
			"two lines":           {form: fill(person, "accept", allow), cwd: "src/a\nb", words: "is not a folder that bmad-mcp may work in"},
			"turned around":       {form: fill(person, "accept", allow), cwd: "src/a\u202eb", words: "is not a folder that bmad-mcp may work in"},
			"too long to be seen": {form: fill(person, "accept", allow), cwd: "src/" + strings.Repeat("long", 50), words: "is not a folder that bmad-mcp may work in"},
		} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				t.Parallel()
				a := newAccount(t, ".", ".ssh", "Private")
				var asked atomic.Int32
				l := mcpserver.Launch{Command: binary, Dir: a.project, Env: a.env(tt.env...), Protocol: protocol}
				if tt.form != nil {
					l.Form = func(ctx context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
						asked.Add(1)
						a.checkFolderForm(f, protocol)
						return tt.form(ctx, f)
					}
				}
				c, err := mcpserver.Connect(context.Background(), l)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				cwd := a.at("src/Other")
				if tt.cwd != "" {
					cwd = a.home + "/" + tt.cwd
				}
				before := a.snapshot()
				for n := range 2 {
					reply, refused := call(t, c, object{"action": "start", "objective": fmt.Sprint("x", n), "cwd": cwd})
					if refused == tt.started {
						t.Fatalf("call %d: %v", n, reply)
					}
					if n == 0 && refused && (reply["code"] != "not_allowed" || !strings.Contains(fmt.Sprint(reply["error"]), tt.words)) {
						t.Errorf("%v", reply)
					}
				}
				if got := int(asked.Load()); got != tt.asked {
					t.Errorf("asked %d times, want %d", got, tt.asked)
				}
				if !tt.started {
					if after := a.snapshot(); after != before {
						t.Errorf("the disk has changed: %s", newLines(before, after))
					}
					if _, err := os.Stat(filepath.Join(a.top, "state", "bmad-mcp", "folders.json")); err == nil {
						t.Error("a folder was remembered")
					}
					return
				}
				// Below it, and not beside it or above; and for the next server too.
				a.mkdir(filepath.Join(cwd, "below"))
				next := a.host(string(filepath.Separator), nil, nil, a.env()...)
				if answer := next.tool("bmad-task", object{"action": "start", "objective": "y", "cwd": filepath.Join(cwd, "below")}); !strings.Contains(answer, " has started") {
					t.Error(answer)
				}
				a.refuses(next, a.at("src"))
				a.refuses(next, a.at("src/gone"))
				a.refuses(next, a.at("Private"))
			})
		}
	}
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
	a := newAccount(t)
	r := a.host(a.project, nil, nil, a.env()...).rpc
	allow := object{"form": object{"action": "accept", "content": object{"decision": "allow"}}}
	start := func(name string) object { return object{"action": "start", "objective": "x", "cwd": a.at(name)} }
	for i, state := range []any{nil, "folder-", "folder-form-", "folder-form-AAAAAAAAAAAAAAAAAAAAAAAAAA", "form-x", strings.Repeat("folder-", 1000)} {
		more := object{"inputResponses": allow}
		if state != nil {
			more["requestState"] = state
		}
		result, reply := r.result(modernCall(10+i, start("src/Other"), more))
		if result["resultType"] != "input_required" && reply["code"] != "not_allowed" {
			t.Errorf("%v: %v %v", state, result, reply)
		}
	}
	ask := func(id int, name string) string {
		t.Helper()
		result, _ := r.result(modernCall(id, start(name), nil))
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
		if _, reply := r.result(modernCall(21, start(name), object{"inputResponses": allow, "requestState": state})); reply["code"] != "not_allowed" {
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
	if _, reply := r.result(modernCall(25, start("src/gone"), object{"inputResponses": allow, "requestState": state})); reply["code"] != "not_allowed" {
		t.Errorf("the answer for what has become a link: %v", reply)
	}
	if _, err := os.Stat(filepath.Join(a.top, "state", "bmad-mcp", "folders.json")); err == nil {
		t.Error("a folder was remembered")
	}
	// And the honest one.
	state = ask(26, "src/Other")
	time.Sleep(person)
	if _, reply := r.result(modernCall(27, start("src/Other"), object{"inputResponses": allow, "requestState": state})); reply["session_id"] == nil {
		t.Errorf("%v", reply)
	}
}

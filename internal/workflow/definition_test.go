package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// own is a definition without mistakes; the tests break it.
const own = `name: own
description: a test
stages:
  - id: po
    kind: document
    role: Product Owner
  - id: dev
    kind: build
    role: Developer
    verify: true
  - id: security
    kind: verdict
    role: Security Reviewer
    sends_back_to: dev
    artifact: 03-security.md
`

func TestDefinitionDefaults(t *testing.T) {
	d, problems := workflow.Read("own", []byte(own))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	po, _ := d.Stage("po")
	if po.Gate != workflow.GateScore || po.GateScore != workflow.DefaultGateScore || po.Label != "Product Owner" || po.DocumentName != "po report" || len(po.Engines) != 1 {
		t.Errorf("po: got %+v", po)
	}
	security, _ := d.Stage("security")
	if security.Gate != workflow.GateVerdict || security.PromptName() != "security" || security.RubricName() != "security" {
		t.Errorf("security: got %+v", security)
	}
	again, _ := workflow.Read("own", []byte("# a comment\n"+own))
	other, _ := workflow.Read("own", []byte(strings.Replace(own, "Security Reviewer", "Auditor", 1)))
	if d.Hash == "" || again.Hash != d.Hash || other.Hash == d.Hash {
		t.Errorf("hashes: got %q, with a comment %q, of another %q", d.Hash, again.Hash, other.Hash)
	}
}

func TestBuiltinDefinitions(t *testing.T) {
	var got []string
	for _, d := range workflow.Builtins() {
		got = append(got, d.Name+": "+strings.Join(d.IDs(), " "))
		if d.Description == "" || d.When == "" || d.Hash == "" {
			t.Errorf("%s: description %q, when %q, hash %q", d.Name, d.Description, d.When, d.Hash)
		}
	}
	want := "bmad: po architect sm dev review qa\nquick: po dev qa\nplan: po architect sm\nfix: dev review qa"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if d := workflow.Default(); d.Name != workflow.DefaultName {
		t.Errorf("default: got %q", d.Name)
	}
}

// TestDefinitionMistakes checks that each mistake is named with its line.
func TestDefinitionMistakes(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(own, old, new, 1) }
	long := func(n int) string {
		var b strings.Builder
		b.WriteString("name: own\nstages:\n")
		for i := range n {
			fmt.Fprintf(&b, "  - id: s%d\n    kind: document\n", i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":                  {"", "line 1: the file is empty"},
		"no YAML":                {"name: [", "line 1: not valid YAML"},
		"a second document":      {own + "\n---\nname: other\n", "not valid YAML: a second document begins"},
		"text behind the end":    {own + "\n...\nname: other\n", "not valid YAML: a second document begins"},
		"a list":                 {"- a", "line 1: expected key: value lines for a definition"},
		"no stages":              {"name: own", "line 1: stages is missing"},
		"stages of no length":    {"name: own\nstages: []", "line 2: stages: want a list"},
		"another name":           {swap("name: own", "name: other"), `line 1: the name is "other", but the file is own.yaml`},
		"an unknown key":         {swap("description:", "summary:"), `line 2: unknown key "summary"`},
		"of a stage":             {swap("    role: Developer", "    rolle: Developer"), `line 9: unknown key "rolle"; the keys of a stage are id, kind`},
		"a key twice":            {swap("    role: Developer", "    kind: build"), `line 9: "kind" is there twice`},
		"no id":                  {swap("- id: po", "- label: po"), "line 4: the stage has no id"},
		"an id with a path":      {swap("id: po", "id: ../po"), `line 4: "../po" cannot be an id`},
		"an id in capitals":      {swap("id: po", "id: PO"), `line 4: "PO" cannot be an id`},
		"a reserved id":          {swap("id: po", "id: history"), `line 4: "history" cannot be an id: it has another meaning`},
		"unreachable":            {swap("id: security", "id: dev"), `line 11: the stage "dev" is unreachable`},
		"no kind":                {swap("    kind: build\n", ""), `stage "dev": kind "" is not one of document, plan, build, verdict`},
		"another kind":           {swap("kind: build", "kind: code"), `line 8: stage "dev": kind "code" is not one of`},
		"a gate for no kind":     {swap("kind: build", "kind: build\n    gate: approval"), `line 9: stage "dev": gate "approval" is not possible for a stage of kind build; possible: none`},
		"a verdict without gate": {swap("kind: verdict", "kind: verdict\n    gate: none"), `line 13: stage "security": gate "none" is not possible`},
		"score without gate":     {swap("kind: build", "kind: build\n    gate_score: 80"), `line 9: stage "dev" has no score gate`},
		"score above 100":        {swap("role: Product Owner", "gate_score: 101"), `line 6: gate_score: want a number from 0 to 100, not "101"`},
		"score not a number":     {swap("role: Product Owner", "gate_score: .nan"), `line 6: gate_score: want a number`},
		"no gate before":         {swap("kind: document", "kind: document\n    gate: none"), `no gate before the build stage "dev"`},
		"sends back to nothing":  {swap("    sends_back_to: dev\n", ""), `line 11: stage "security" has no sends_back_to`},
		"to no stage":            {swap("sends_back_to: dev", "sends_back_to: build"), `line 14: stage "security": sends_back_to names "build", which is not a stage`},
		"to itself":              {swap("sends_back_to: dev", "sends_back_to: security"), `line 14: stage "security": sends_back_to names "security", which is not earlier`},
		"a build sends back":     {swap("verify: true", "sends_back_to: po"), `line 10: stage "dev": only a verdict sends work back`},
		"appends what is later":  {swap("verify: true", "appends: security"), `line 10: stage "dev": appends names "security", which is not earlier`},
		"a document verified":    {swap("role: Product Owner", "verify: true"), `line 6: stage "po": only a build or a verdict can be verified`},
		"neither true nor false": {swap("verify: true", "verify: often"), `line 10: verify: want true or false, not "often"`},
		"an unknown engine":      {swap("verify: true", "engines: [gpt]"), `line 10: stage "dev": worker "gpt" is not one of claude, codex`},
		"an engine twice":        {swap("verify: true", "engines: [codex, codex]"), `worker "codex" is not one of claude, codex, each at most once`},
		"engines not a list":     {swap("verify: true", "engines: codex"), `line 10: engines: want a list such as [one, two]`},
		"an artifact elsewhere":  {swap("03-security.md", "../../x.md"), `line 15: stage "security": artifact "../../x.md" is not a file name`},
		"an artifact hidden":     {swap("03-security.md", ".x.md"), `is not a file name`},
		"one artifact for two":   {swap("role: Product Owner", "artifact: 03-Security.md"), `line 15: the stages "po" and "security" would save the same file`},
		"a prompt elsewhere":     {swap("verify: true", "prompt: ../x"), `line 10: stage "dev": prompt "../x" is not a name`},
		"a second plan":          {swap("kind: document", "kind: plan") + "  - id: again\n    kind: plan\n", `stage "again" is a second plan`},
		"two lines in a text":    {swap("a test", `"a\nb"`), "line 2: description has a line break"},
		"turned around":          {swap("a test", "\"a\u202eb\""), "line 2: description has a line break or a control character"},
		"a long text":            {swap("a test", strings.Repeat("x", 300)), "line 2: description has 300 characters"},
		"an alias":               {swap("kind: document", "kind: &k document") + "  - id: again\n    kind: *k\n", `line 17: "kind" is an alias`},
		"too many stages":        {long(21), "21 stages; at most 20"},
		"too large":              {"# " + strings.Repeat("x", workflow.MaxDefinition), "line 1: the file takes"},
	} {
		t.Run(name, func(t *testing.T) {
			d, problems := workflow.Read("own", []byte(tt.text))
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if all := strings.Join(got, "\n"); d != nil || !strings.Contains(all, tt.want) {
				t.Errorf("got %v and\n%s\nwant\n%s", d, all, tt.want)
			}
		})
	}
}

// TestScopeFirst checks that a workflow that begins with the build stops for its scope, once.
func TestScopeFirst(t *testing.T) {
	fix, problems := workflow.Read("fix", []byte(workflow.BuiltinText("fix")))
	if problems != nil {
		t.Fatal(problems)
	}
	st := fix.First()
	s := sessionAt(fix, st.ID, workflow.AwaitingApproval)
	if got := fix.Outcome(st, true, workflow.Reading{Scoping: true}); got != workflow.EventScoped {
		t.Errorf("outcome: got %s", got)
	}
	if got := fix.Outcome(st, true, workflow.Reading{Scoping: true, Questions: true}); got != workflow.EventQuestioned {
		t.Errorf("outcome with questions: got %s", got)
	}
	if got := fix.Decision(s, false); got != workflow.EventChangesRequested {
		t.Errorf("no: got %s", got)
	}
	if got := fix.Decision(s, true); got != workflow.EventScopeApproved || !fix.Scoping(s) {
		t.Errorf("yes: got %s", got)
	}
	s.Current().ApprovedScope = &workflow.ContentRef{}
	if fix.Scoping(s) || fix.Outcome(st, false, workflow.Reading{}) != workflow.EventDelivered {
		t.Error("the scope is asked for again")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(own)
	for _, d := range workflow.Builtins() {
		f.Add(workflow.BuiltinText(d.Name))
	}
	f.Add("name: own\nstages:\n  - &a {id: a, kind: document}\n  - *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, problems := workflow.Read("own", []byte(text))
		if (d == nil) != (len(problems) > 0) {
			t.Fatalf("got %v and %v", d, problems)
		}
		if d != nil && (d.Hash == "" || d.First().ID == "") {
			t.Errorf("got %+v", d)
		}
	})
}

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPlanVerify decides between the command that a session keeps and the configured one.
func TestPlanVerify(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now, before, after := began.Add(time.Hour), began.Add(-time.Hour), began.Add(time.Minute)
	text := func(s string) *string { return &s }
	const person, project, variable = workflow.SetByPerson, workflow.SetByProject, workflow.SetByEnvironment
	kept := func(command string, by workflow.Setter) workflow.VerifyCommand {
		if command == "" && by == "" {
			return workflow.VerifyCommand{}
		}
		return workflow.VerifyCommand{Command: command, SetBy: by, At: began}
	}
	noted := func(c workflow.VerifyCommand, instead string, accepted bool) workflow.VerifyCommand {
		c.Instead, c.Accepted = &instead, accepted
		return c
	}
	for _, tt := range []struct {
		name string
		kept workflow.VerifyCommand
		now  configuredVerify
		want workflow.VerifyCommand // its time is that of now where the command is another one
		news string                 // a part; "" is none
	}{
		{"nothing", kept("", ""), configuredVerify{}, kept("", ""), ""},
		{"switched on by the project", kept("", ""), configuredVerify{command: "make", by: project}, kept("make", project), "none → `make` (the project's file)"},
		{"switched on by the person", kept("", ""), configuredVerify{command: "make", by: person, person: text("make")}, kept("make", person), "none → `make` (your own file)"},
		{"switched on again after the person ended it", kept("", person), configuredVerify{command: "make", by: project}, kept("make", project), "none → `make`"},
		{"ended, and still", kept("", person), configuredVerify{by: person, person: text("")}, kept("", person), ""},

		{"the same", kept("make", project), configuredVerify{command: "make", by: project}, kept("make", project), ""},
		{"a blank more", kept("make test", project), configuredVerify{command: "make  test", by: project}, kept("make test", project), ""},
		{"a blank in quotes more", kept("sh 'a b'", project), configuredVerify{command: "sh 'a  b'", by: project}, noted(kept("sh 'a b'", project), "sh 'a  b'", false), "names `sh 'a  b'` instead"},
		{"other letters", kept("make", project), configuredVerify{command: "Make", by: project}, noted(kept("make", project), "Make", false), "still counts"},
		{"taken over by the person", kept("make", project), configuredVerify{command: "make", by: person, person: text("make")}, kept("make", person), "→ `make` (your own file)"},
		{"left to the project", kept("make", person), configuredVerify{command: "make", by: project}, kept("make", project), "→ `make` (the project's file)"},

		{"removed by the project", kept("make", project), configuredVerify{}, noted(kept("make", project), "", false), "no longer names one, and `make` (the project's file) still counts"},
		{"removed, and noted", noted(kept("make", project), "", false), configuredVerify{}, noted(kept("make", project), "", false), ""},
		{"removed, and accepted", noted(kept("make", project), "", true), configuredVerify{}, noted(kept("make", project), "", true), ""},
		{"another than was accepted", noted(kept("make", project), "", true), configuredVerify{command: "true", by: project}, noted(kept("make", project), "true", false), "names `true` instead"},
		{"put back", noted(kept("make", project), "", false), configuredVerify{command: "make", by: project}, kept("make", project), "is configured again"},
		{"changed by the project", kept("make", project), configuredVerify{command: "true", by: project}, noted(kept("make", project), "true", false), "names `true` instead"},
		{"changed to what was allowed before", kept("make", project), configuredVerify{command: "true", by: project, allowed: &before}, noted(kept("make", project), "true", false), "still counts"},
		{"changed to what was allowed at that time", kept("make", project), configuredVerify{command: "true", by: project, allowed: &began}, noted(kept("make", project), "true", false), "still counts"},
		{"changed, and allowed since", kept("make", project), configuredVerify{command: "make all", by: project, allowed: &after}, kept("make all", project), "`make` (the project's file) → `make all` (the project's file)"},
		{"noted, and allowed since", noted(kept("make", project), "make all", false), configuredVerify{command: "make all", by: project, allowed: &after}, kept("make all", project), "→ `make all`"},
		{"changed by a variable", kept("make", project), configuredVerify{command: "true", by: variable}, noted(kept("make", project), "true", false), "still counts"},
		{"a variable that is gone", kept("make", variable), configuredVerify{}, noted(kept("make", variable), "", false), "still counts"},

		{"the person changed theirs", kept("make", person), configuredVerify{command: "make all", by: person, person: text("make all")}, kept("make all", person), "→ `make all` (your own file)"},
		{"the person took theirs out", kept("make", person), configuredVerify{}, kept("", person), "→ none"},
		{"the person wants none", kept("make", person), configuredVerify{by: person, person: text("")}, kept("", person), "→ none"},
		{"the person wants none of the project's", kept("make", project), configuredVerify{by: person, person: text("")}, kept("", person), "→ none"},
		{"the person took theirs out, the project has one", kept("make", person), configuredVerify{command: "true", by: project}, kept("true", project), "→ `true` (the project's file)"},
		{"the person names one over the project's", kept("make", project), configuredVerify{command: "make all", by: person, person: text("make all")}, kept("make all", person), "(your own file)"},
		{"a variable over the person's", kept("make", person), configuredVerify{command: "true", by: variable, person: text("make")}, noted(kept("make", person), "true", false), "`make` (your own file) still counts"},
		{"a variable over what the person changed", kept("make", person), configuredVerify{command: "true", by: variable, person: text("make all")}, noted(kept("make all", person), "true", false), "→ `make all` (your own file); the configuration names `true` instead"},
		{"a variable over what the person ended", kept("make", person), configuredVerify{command: "true", by: variable, person: text("")}, kept("true", variable), "→ `true` (a variable)"},
	} {
		got := planVerify(tt.kept, tt.now, now)
		if changed := tt.want.Command != tt.kept.Command || tt.want.SetBy != tt.kept.SetBy; changed {
			tt.want.At = now
		}
		if !got.keep.Same(tt.want) || tt.news == "" != (got.news == "") || !strings.Contains(got.news, tt.news) {
			t.Errorf("%s:\ngot  %+v %q\nwant %+v %q", tt.name, got.keep, got.news, tt.want, tt.news)
		}
		// Once it is noted, there is nothing new.
		if again := planVerify(got.keep, tt.now, now); again.news != "" || !again.keep.Same(got.keep) {
			t.Errorf("%s: again %q", tt.name, again.news)
		}
	}
}

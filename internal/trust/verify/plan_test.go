package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// describe names the steps of a plan: "make (project) -> all (person)", "make (project), not
// "true"" if the configuration names another command, "make (project) again" if it names the first
// again.
func describe(changes []verify.Change) string {
	command := func(c workflow.VerifyCommand) string {
		if c.Command == "" {
			return "none"
		}
		return fmt.Sprintf("%s (%s)", c.Command, c.SetBy)
	}
	var out []string
	for _, c := range changes {
		switch {
		case c.After.Instead != nil:
			out = append(out, fmt.Sprintf("%s, not %q", command(c.After), *c.After.Instead))
		case c.Before.Command == c.After.Command && c.Before.SetBy == c.After.SetBy:
			out = append(out, command(c.After)+" again")
		default:
			out = append(out, command(c.Before)+" -> "+command(c.After))
		}
	}
	return strings.Join(out, "; ")
}

// TestPlanVerify decides between the command that a session keeps and the configured one.
func TestPlanVerify(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now, before, after := began.Add(time.Hour), began.Add(-time.Hour), began.Add(time.Minute)
	text := func(s string) *string { return &s }
	const person, project, variable, gate = workflow.SetByPerson, workflow.SetByProject, workflow.SetByEnvironment, workflow.SetAtGate
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
		name    string
		kept    workflow.VerifyCommand
		now     verify.Configured
		want    workflow.VerifyCommand // its time is the present one if the command is another one
		changes string                 // as describe names them
	}{
		{"nothing", kept("", ""), verify.Configured{}, kept("", ""), ""},
		{"switched on by the project", kept("", ""), verify.Configured{Command: "make", By: project}, kept("make", project), "none -> make (project)"},
		{"switched on by the person", kept("", ""), verify.Configured{Command: "make", By: person, Person: text("make")}, kept("make", person), "none -> make (person)"},
		{"switched on again after the person ended it", kept("", person), verify.Configured{Command: "make", By: project}, kept("make", project), "none -> make (project)"},
		{"ended, and still", kept("", person), verify.Configured{By: person, Person: text("")}, kept("", person), ""},

		{"the same", kept("make", project), verify.Configured{Command: "make", By: project}, kept("make", project), ""},
		{"a blank more", kept("make test", project), verify.Configured{Command: "make  test", By: project}, kept("make test", project), ""},
		{"a blank in quotes more", kept("sh 'a b'", project), verify.Configured{Command: "sh 'a  b'", By: project}, noted(kept("sh 'a b'", project), "sh 'a  b'", false), `sh 'a b' (project), not "sh 'a  b'"`},
		{"other letters", kept("make", project), verify.Configured{Command: "Make", By: project}, noted(kept("make", project), "Make", false), `make (project), not "Make"`},
		{"taken over by the person", kept("make", project), verify.Configured{Command: "make", By: person, Person: text("make")}, kept("make", person), "make (project) -> make (person)"},
		{"left to the project", kept("make", person), verify.Configured{Command: "make", By: project}, kept("make", project), "make (person) -> make (project)"},

		{"removed by the project", kept("make", project), verify.Configured{}, noted(kept("make", project), "", false), `make (project), not ""`},
		{"removed, and noted", noted(kept("make", project), "", false), verify.Configured{}, noted(kept("make", project), "", false), ""},
		{"removed, and accepted", noted(kept("make", project), "", true), verify.Configured{}, noted(kept("make", project), "", true), ""},
		{"another than was accepted", noted(kept("make", project), "", true), verify.Configured{Command: "true", By: project}, noted(kept("make", project), "true", false), `make (project), not "true"`},
		{"put back", noted(kept("make", project), "", false), verify.Configured{Command: "make", By: project}, kept("make", project), "make (project) again"},
		{"changed by the project", kept("make", project), verify.Configured{Command: "true", By: project}, noted(kept("make", project), "true", false), `make (project), not "true"`},
		{"changed to what was allowed before", kept("make", project), verify.Configured{Command: "true", By: project, Allowed: &before}, noted(kept("make", project), "true", false), `make (project), not "true"`},
		{"changed to what was allowed at that time", kept("make", project), verify.Configured{Command: "true", By: project, Allowed: &began}, noted(kept("make", project), "true", false), `make (project), not "true"`},
		{"changed, and allowed since", kept("make", project), verify.Configured{Command: "make all", By: project, Allowed: &after}, kept("make all", project), "make (project) -> make all (project)"},
		{"noted, and allowed since", noted(kept("make", project), "make all", false), verify.Configured{Command: "make all", By: project, Allowed: &after}, kept("make all", project), "make (project) -> make all (project)"},
		{"changed by a variable", kept("make", project), verify.Configured{Command: "true", By: variable}, noted(kept("make", project), "true", false), `make (project), not "true"`},
		{"a variable that is gone", kept("make", variable), verify.Configured{}, noted(kept("make", variable), "", false), `make (environment), not ""`},

		{"chosen at a gate", kept("make", gate), verify.Configured{}, kept("make", gate), ""},
		{"chosen at a gate, then configured", kept("make", gate), verify.Configured{Command: "make", By: project}, kept("make", project), "make (gate) -> make (project)"},
		{"chosen at a gate, and the project names another", kept("make", gate), verify.Configured{Command: "true", By: project}, noted(kept("make", gate), "true", false), `make (gate), not "true"`},
		{"chosen at a gate, and the person wants none", kept("make", gate), verify.Configured{By: person, Person: text("")}, kept("", person), "make (gate) -> none"},

		{"the person changed theirs", kept("make", person), verify.Configured{Command: "make all", By: person, Person: text("make all")}, kept("make all", person), "make (person) -> make all (person)"},
		{"the person took theirs out", kept("make", person), verify.Configured{}, kept("", person), "make (person) -> none"},
		{"the person wants none", kept("make", person), verify.Configured{By: person, Person: text("")}, kept("", person), "make (person) -> none"},
		{"the person wants none of the project's", kept("make", project), verify.Configured{By: person, Person: text("")}, kept("", person), "make (project) -> none"},
		{"the person took theirs out, the project has one", kept("make", person), verify.Configured{Command: "true", By: project}, kept("true", project), "make (person) -> true (project)"},
		{"the person names one over the project's", kept("make", project), verify.Configured{Command: "make all", By: person, Person: text("make all")}, kept("make all", person), "make (project) -> make all (person)"},
		{"a variable over the person's", kept("make", person), verify.Configured{Command: "true", By: variable, Person: text("make")}, noted(kept("make", person), "true", false), `make (person), not "true"`},
		{"a variable over what the person changed", kept("make", person), verify.Configured{Command: "true", By: variable, Person: text("make all")}, noted(kept("make all", person), "true", false), `make (person) -> make all (person); make all (person), not "true"`},
		{"a variable over what the person ended", kept("make", person), verify.Configured{Command: "true", By: variable, Person: text("")}, kept("true", variable), "make (person) -> true (environment)"},
	} {
		got := verify.NewPlan(tt.kept, tt.now, now)
		if changed := tt.want.Command != tt.kept.Command || tt.want.SetBy != tt.kept.SetBy; changed {
			tt.want.At = now
		}
		if !got.Keep.Same(tt.want) || describe(got.Changes) != tt.changes {
			t.Errorf("%s:\ngot  %+v %q\nwant %+v %q", tt.name, got.Keep, describe(got.Changes), tt.want, tt.changes)
		}
		// Once it is recorded, nothing is new.
		if again := verify.NewPlan(got.Keep, tt.now, now); len(again.Changes) != 0 || !again.Keep.Same(got.Keep) {
			t.Errorf("%s: planned again: got %+v, %s; want %+v and no change", tt.name, again.Keep, describe(again.Changes), got.Keep)
		}
	}
}

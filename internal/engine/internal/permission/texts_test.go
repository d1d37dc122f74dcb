package permission

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPlanText says how a session's verify command changes.
func TestPlanText(t *testing.T) {
	command := func(text string, by workflow.Setter) workflow.VerifyCommand {
		return workflow.VerifyCommand{Command: text, SetBy: by}
	}
	instead := func(c workflow.VerifyCommand, other string) workflow.VerifyCommand {
		c.Instead = &other
		return c
	}
	none, project := workflow.VerifyCommand{}, command("make", workflow.SetByProject)
	person, variable := command("make all", workflow.SetByPerson), command("true", workflow.SetByEnvironment)
	long := command(strings.Repeat("x", 200), workflow.SetByProject)
	longer := command(strings.Repeat("x", 200)+"y", workflow.SetByProject)
	cut := "`" + visible.Fit(long.Command, 120) + "` (the project's file)"
	for _, tt := range []struct {
		changes []verify.Change
		want    string
	}{
		{nil, ""},
		{[]verify.Change{{Before: none, After: project}}, "none → `make` (the project's file)"},
		{[]verify.Change{{Before: person, After: none}}, "`make all` (your own file) → none"},
		{[]verify.Change{{Before: project, After: instead(project, "true")}}, "the configuration names `true` instead, and `make` (the project's file) still counts"},
		{[]verify.Change{{Before: project, After: instead(project, "")}}, "the configuration no longer names one, and `make` (the project's file) still counts"},
		{[]verify.Change{{Before: instead(project, "true"), After: project}}, "`make` (the project's file) is configured again"},
		{[]verify.Change{{Before: project, After: command("make", workflow.SetByPerson)}}, "`make` (the project's file) → `make` (your own file)"},
		{[]verify.Change{{Before: long, After: longer}}, cut + " → " + cut},
		{[]verify.Change{{Before: project, After: person}, {Before: person, After: instead(person, variable.Command)}},
			"`make` (the project's file) → `make all` (your own file); the configuration names `true` instead, and `make all` (your own file) still counts"},
		{[]verify.Change{{Before: person, After: variable}}, "`make all` (your own file) → `true` (a variable)"},
	} {
		if got := planText(lang.English, verify.Plan{Changes: tt.changes}); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

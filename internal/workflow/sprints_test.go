package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// sprintsOf reads sprints in short: the name, the title and the criteria, for example "1 Accounts AC-1, A Orders".
func sprintsOf(text string, status workflow.SprintStatus) (out []workflow.Sprint) {
	for i, one := range strings.Split(text, ", ") {
		words := strings.Fields(one)
		sp := workflow.Sprint{Number: i + 1, Label: words[0], Title: words[1], Criteria: words[2:], Status: status}
		if _, err := fmt.Sscan(words[0], &sp.Number); err == nil {
			sp.Label = ""
		}
		out = append(out, sp)
	}
	return out
}

func TestCompareSprints(t *testing.T) {
	for _, tt := range []struct{ earlier, plan, changes, done string }{
		{"1 Accounts, 2 Orders", "1 Accounts, 2 Orders, 3 Mail", "", "1 2"},
		{"1 Accounts, 2 Orders", "1 Setup, 2 Accounts, 3 Orders", "1>2 2>3", "2 3"},
		{"1 Accounts, 2 Orders", "1 Orders, 2 Accounts", "1>2 2>1", "1 2"},
		{"1 Accounts, 2 Orders", "1 Orders", "1 dropped 2>1", "1"},
		{"1 Accounts, 2 Orders", "1 Members, 2 Orders", "1>1 Members", "2"},
		{"1 Accounts AC-1", "1 Accounts AC-1 AC-2", "1>1 gains [AC-2]", ""},
		{"1 Accounts AC-1 AC-2", "1 Accounts AC-1", "", "1"},
		{"1 Accounts AC-1", "2 Accounts AC-2", "1>2 gains [AC-2]", ""},
		{"A Accounts, B Orders", "B Orders, C Mail", "A dropped", "B"},
		{"A Accounts", "1 Accounts", "A>1", "1"},
		{"1 Part, 2 Part", "2 Part, 3 Part", "1 dropped", "2"},
		{"1 Part, 2 Part", "1 Part, 2 Part", "", "1 2"},
	} {
		earlier, plan := sprintsOf(tt.earlier, workflow.SprintDone), sprintsOf(tt.plan, "")
		var changes, done []string
		for _, c := range workflow.CompareSprints(earlier, plan) {
			switch {
			case c.Now == nil:
				changes = append(changes, c.Was.Name()+" dropped")
			case c.Now.Title != c.Was.Title:
				changes = append(changes, c.Was.Name()+">"+c.Now.Name()+" "+c.Now.Title)
			case len(c.Gained) > 0:
				changes = append(changes, fmt.Sprint(c.Was.Name(), ">", c.Now.Name(), " gains ", c.Gained))
			default:
				changes = append(changes, c.Was.Name()+">"+c.Now.Name())
			}
		}
		s := &workflow.Session{}
		s.SetSprints(earlier, plan)
		for _, sp := range s.Sprints {
			if sp.Status == workflow.SprintDone {
				done = append(done, sp.Name())
			}
		}
		if strings.Join(changes, " ") != tt.changes || strings.Join(done, " ") != tt.done {
			t.Errorf("%s to %s: %v, done %v; want %s, done %s", tt.earlier, tt.plan, changes, done, tt.changes, tt.done)
		}
	}
	if got := workflow.CompareSprints(sprintsOf("1 Accounts", workflow.SprintPending), nil); len(got) > 0 {
		t.Errorf("a sprint that was never built: %+v", got)
	}
}

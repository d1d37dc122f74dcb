package workflow_test

import (
	"fmt"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestSequels: a comment is found again by its lines, then by where they went, then by its quote.
func TestSequels(t *testing.T) {
	t.Parallel()
	const before = "# P\n\nSign-in by link.\nFast.\n\n- a\n- b\n\nFast.\n"
	follow := func(_, _ string, from, _ int) (int, int, bool) { return from + 1, from + 2, from == 3 }
	for name, tt := range map[string]struct {
		from, to int
		quote    string
		after    string
		follow   workflow.Follower
		want     string
	}{
		"as it was":                      {3, 3, "", before, nil, "3-3 unchanged"},
		"a block that moved":             {6, 7, "", "x\n" + before, nil, "7-8 unchanged"},
		"other spaces":                   {3, 3, "", "Sign-in  by link. \n", nil, "1-1 unchanged"},
		"the nearest of two":             {9, 9, "", before, nil, "9-9 unchanged"},
		"the other of two":               {4, 4, "", before, nil, "4-4 unchanged"},
		"changed, followed":              {3, 3, "", "# P\n\n\nSign-in by passkey.\n", follow, "4-5 changed"},
		"changed, found by the quote":    {3, 3, "Sign-in by…", "# P\nSign-in by passkey.\n", nil, "2-2 changed"},
		"changed, and no quote":          {3, 3, "", "# P\nSign-in by passkey.\n", nil, "0-0 gone"},
		"gone":                           {3, 3, "Sign-in by link.", "# P\n", nil, "0-0 gone"},
		"the whole document":             {0, 0, "", "# P\n", follow, "0-0 "},
		"a line that is not in it":       {40, 41, "Fast.", before, follow, "9-9 changed"},
		"an empty line is not looked up": {5, 5, "", before, nil, "0-0 gone"},
		"nothing is left":                {3, 4, "", "", nil, "0-0 gone"},
	} {
		c := workflow.ChangeRequest{Comment: workflow.Comment{ID: "c1", From: tt.from, To: tt.to, Quote: tt.quote}, Status: workflow.RequestTakenUp, Note: "done"}
		got := workflow.Sequels([]workflow.ChangeRequest{c}, before, tt.after, tt.follow)
		if len(got) != 1 || got[0].Note != "done" || fmt.Sprintf("%d-%d %s", got[0].NewFrom, got[0].NewTo, got[0].Passage) != tt.want {
			t.Errorf("%s: got %+v, want %q", name, got, tt.want)
		}
	}
}

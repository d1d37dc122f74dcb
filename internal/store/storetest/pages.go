package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func taskNames(p store.Page) []string {
	out := make([]string, len(p.Sessions))
	for i, s := range p.Sessions {
		out[i] = s.TaskName
	}
	return out
}

// moveSession takes a session to another stage or state, at a time.
func moveSession(t *testing.T, b Backend, id string, stage workflow.StageID, state workflow.State, at time.Time) {
	t.Helper()
	if _, err := b.Update(context.Background(), id, func(_ store.Tx, s *workflow.Session) error {
		s.CurrentStage, s.CurrentState, s.UpdatedAt = stage, state, at
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// listPage returns the page for a query.
func listPage(ctx context.Context, in store.Sessions, q store.Query) (store.Page, error) {
	return store.List(ctx, in, q)
}

func testQuery(t *testing.T, b Backend, reopen func() Backend) {
	first, second, third := createSession(t, b, 1, "paint-a-wall"), createSession(t, b, 2, "修-任务"), createSession(t, b, 3, "build-Ö")
	moveSession(t, b, first.SessionID, workflow.QA, workflow.Completed, epoch.Add(time.Minute))
	moveSession(t, b, second.SessionID, workflow.SM, workflow.AwaitingApproval, epoch.Add(time.Hour))
	for name, tt := range map[string]struct {
		query store.Query
		want  []string
	}{
		"all, the ones changed last first": {store.Query{}, []string{second.TaskName, first.TaskName, third.TaskName}},
		"a stage":                          {store.Query{Stage: workflow.SM}, []string{second.TaskName}},
		"states":                           {store.Query{States: []workflow.State{workflow.Completed, workflow.Generating}}, []string{first.TaskName, third.TaskName}},
		"no state":                         {store.Query{States: []workflow.State{}}, nil},
		"the active":                       {store.Active(), []string{second.TaskName, third.TaskName}},
		"a text of the name":               {store.Query{Text: "Paint-"}, []string{first.TaskName}},
		"a text of the objective":          {store.Query{Text: "OBJECTIVE 3 <&>"}, []string{third.TaskName}},
		"a text beyond ASCII":              {store.Query{Text: "ö"}, []string{third.TaskName}},
		"a text with wildcards":            {store.Query{Text: "%"}, nil},
		"all of it":                        {store.Query{Stage: workflow.SM, States: []workflow.State{workflow.AwaitingApproval}, Text: "修"}, []string{second.TaskName}},
		"nothing":                          {store.Query{Stage: workflow.SM, Text: "paint"}, nil},
	} {
		page, err := listPage(context.Background(), reopen(), tt.query)
		if got := taskNames(page); err != nil || !slices.Equal(got, tt.want) && len(got)+len(tt.want) > 0 || page.Total != len(tt.want) || page.Next != "" {
			t.Errorf("%s: got %v of %d, %v, want %v", name, got, page.Total, err, tt.want)
		}
	}
	if page, err := listPage(context.Background(), b, store.Query{Limit: 1}); err != nil || page.Total != 3 || page.Active != 2 || len(page.Sessions) != 1 {
		t.Errorf("got %+v, %v, want one of three, two of them active", page, err)
	}
	for _, cursor := range []string{"x", "2026-01-02T03:04:05Z", ",", "yesterday," + first.SessionID, "2026-01-02T03:04:05Z,x"} {
		if page, err := listPage(context.Background(), b, store.Query{After: cursor}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("after %q: got %+v, %v, want a refusal", cursor, page, err)
		}
	}
}

// testListsFollow changes sessions through two handles: the lists, the names and the hashes of each
// show every change at once.
func testListsFollow(t *testing.T, b Backend, reopen func() Backend) {
	ctx := context.Background()
	other := reopen()
	check := func(want ...string) {
		t.Helper()
		for which, h := range []Backend{b, other, reopen()} {
			all, err := h.All(ctx)
			if err != nil || len(all.Broken) > 0 {
				t.Fatal(all.Broken, err)
			}
			var got, named []string
			for _, s := range all.Sessions {
				got, named = append(got, fmt.Sprintf("%s %d", s.TaskName, s.Revision)), append(named, s.TaskName)
				data, err := h.Stored(ctx, s.SessionID)
				sum, hashErr := h.StoredHash(ctx, s.SessionID)
				if err != nil || hashErr != nil || sum != workflow.Hash(data) {
					t.Errorf("handle %d: the hash of %s is %s, %v, %v", which, s.TaskName, sum, err, hashErr)
				}
			}
			slices.Sort(named)
			if names, err := h.TaskNames(ctx); err != nil || !slices.Equal(got, want) || !slices.Equal(names, named) {
				t.Errorf("handle %d: %q, named %q, %v, want %q", which, got, names, err, want)
			}
		}
	}
	check()
	first := createSession(t, b, 1, "first")
	check("first 1")
	second := createSession(t, other, 2, "second")
	check("second 1", "first 1")
	for n := range 12 { // the same size but for the revision, in the same tick of the clock
		from := []Backend{b, other}[n%2]
		if _, err := from.Update(ctx, first.SessionID, func(store.Tx, *workflow.Session) error { return nil }); err != nil {
			t.Fatal(err)
		}
		check("second 1", fmt.Sprintf("first %d", n+2))
	}
	moveSession(t, other, first.SessionID, workflow.PO, workflow.Refining, epoch.Add(time.Hour))
	check("first 14", "second 1")
	if _, err := b.StoredHash(ctx, "../../etc/passwd"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the hash of a path: %v", err)
	}
	if all, err := b.All(ctx); err != nil || objectiveOf(all, second.SessionID) != second.Objective {
		t.Errorf("%v, %v", all, err)
	}
}

func objectiveOf(all store.Listing, id string) string {
	for _, s := range all.Sessions {
		if s.SessionID == id {
			return s.Objective
		}
	}
	return ""
}

// testPages walks the pages while sessions change: an unmoved session never comes twice, and no earlier one
// is left out.
func testPages(t *testing.T, b Backend, reopen func() Backend) {
	const n = 11
	var want []string
	ids := map[string]string{}
	for i := range n {
		s := createSession(t, b, i%4, fmt.Sprintf("task-%02d", i)) // several at one moment
		ids[s.TaskName] = s.SessionID
	}
	all, err := listPage(context.Background(), b, store.Query{})
	if err != nil || len(all.Sessions) != n {
		t.Fatal(len(all.Sessions), err)
	}
	want = taskNames(all)
	for limit := 1; limit <= n+1; limit++ {
		var got []string
		q := store.Query{Limit: limit}
		for pages := 0; ; pages++ {
			page, err := listPage(context.Background(), reopen(), q)
			if err != nil || len(page.Sessions) > limit || page.Total != n || pages > n {
				t.Fatalf("by %d: got %+v, %v", limit, page, err)
			}
			got = append(got, taskNames(page)...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", limit, got, want)
		}
	}
	first, err := listPage(context.Background(), b, store.Query{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	// The last of the page, at which the cursor stands, and a later one are changed.
	moveSession(t, b, ids[want[3]], workflow.PO, workflow.Refining, epoch.Add(time.Hour))
	moveSession(t, b, ids[want[7]], workflow.PO, workflow.Refining, epoch.Add(2*time.Hour))
	createSession(t, b, 99, "another")
	rest, err := listPage(context.Background(), b, store.Query{After: first.Next})
	if got, want := taskNames(rest), slices.Concat(want[4:7], want[8:]); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

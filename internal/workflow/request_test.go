package workflow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func ids(comments []workflow.Comment) string {
	var out []string
	for _, c := range comments {
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}

// TestNumberComments checks that no two comments of a session have one id, whichever stage they are
// on.
func TestNumberComments(t *testing.T) {
	t.Parallel()
	s := workflow.Default().NewSession("id", "o", "/p", "test", time.Unix(1, 0))
	made := workflow.ChangeRequest{Round: 1}
	for _, tt := range []struct{ given, want string }{
		{",,", "r1c1 r1c2 r1c3"},
		{",,", "r1c4 r1c5 r1c6"},
		{"mine,,r1c2", "mine r1c7 r1c8"},
		{"mine,r1c10,,", "r1c9 r1c10 r1c11 r1c12"},
	} {
		var given []workflow.Comment
		for id := range strings.SplitSeq(tt.given, ",") {
			given = append(given, workflow.Comment{ID: id})
		}
		got := s.NumberComments(1, given)
		if ids(got) != tt.want {
			t.Errorf("%q: got %q, want %q", tt.given, ids(got), tt.want)
		}
		s.Record(workflow.Dev).AddRequests(got, made)
	}
	s.Append(workflow.Transition{Grant: &workflow.Grant{Comments: []workflow.Comment{{ID: "r2c1"}}}})
	if got := ids(s.NumberComments(2, make([]workflow.Comment, 1))); got != "r2c2" {
		t.Errorf("an id of an approval's comment is given again: %q", got)
	}
}

// TestRequestsAreSettled checks that a submission settles the requests that it names, and no
// others.
func TestRequestsAreSettled(t *testing.T) {
	t.Parallel()
	var r workflow.Record
	r.AddRequests([]workflow.Comment{{ID: "a"}, {ID: "b"}, {ID: "c"}}, workflow.ChangeRequest{Round: 2})
	said := []workflow.Resolution{{ID: "a", How: "rewritten"}, {ID: "b", How: "the law asks for it", Declined: true}, {ID: "x"}}
	if got := r.Unmentioned(said); !slices.Equal(got, []string{"c"}) {
		t.Errorf("unmentioned: %v", got)
	}
	r.SettleRequests(said, 3)
	r.SettleRequests([]workflow.Resolution{{ID: "a", How: "again"}}, 4) // it is settled
	want := []workflow.ChangeRequest{
		{Comment: workflow.Comment{ID: "a"}, Status: workflow.RequestTakenUp, SettledIn: 3, Note: "rewritten"},
		{Comment: workflow.Comment{ID: "b"}, Status: workflow.RequestDeclined, SettledIn: 3, Note: "the law asks for it"},
		{Comment: workflow.Comment{ID: "c"}, Status: workflow.RequestOpen},
	}
	for i, c := range r.ChangeRequests {
		w := want[i]
		if c.ID != w.ID || c.Status != w.Status || c.SettledIn != w.SettledIn || c.Note != w.Note || c.Round != 2 {
			t.Errorf("got %+v, want %+v", c, w)
		}
	}
	if r.DropRequests(workflow.RequestOutdated); len(r.OpenRequests()) > 0 || r.ChangeRequests[2].Status != workflow.RequestOutdated || r.ChangeRequests[0].Status != workflow.RequestTakenUp {
		t.Errorf("dropped: %+v", r.ChangeRequests)
	}
}

// TestHanded checks that the comments of an approval go to the next stage, and to no later one.
func TestHanded(t *testing.T) {
	t.Parallel()
	yes := &workflow.Grant{Decision: workflow.DecisionApprove, Comments: []workflow.Comment{{ID: "c1"}}}
	submit := workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventScoredBelow, From: "architect/generating", To: "architect/refining"}
	entered := workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating", Grant: yes}
	for name, tt := range map[string]struct {
		history []workflow.Transition
		want    string
	}{
		"at the next stage":   {[]workflow.Transition{entered}, "c1"},
		"in its later rounds": {[]workflow.Transition{entered, submit}, "c1"},
		"without a decision":  {[]workflow.Transition{entered, {Event: workflow.EventDelivered, From: "po/generating", To: "architect/generating"}}, ""},
		"sent back":           {[]workflow.Transition{{Event: workflow.EventSentBack, From: "dev/awaiting_approval", To: "architect/refining", Grant: yes}}, ""},
		"reopened":            {[]workflow.Transition{{Event: workflow.EventReopened, From: "dev/generating", To: "architect/refining", Grant: yes}}, ""},
		"a scope":             {[]workflow.Transition{entered, {Event: workflow.EventScopeApproved, From: "architect/awaiting_approval", To: "architect/generating", Grant: &workflow.Grant{Comments: []workflow.Comment{{ID: "c2"}}}}}, "c2"},
		"another stage":       {[]workflow.Transition{entered, {Event: workflow.EventConfirmed, From: "architect/awaiting_confirmation", To: "sm/generating", Grant: yes}}, ""},
	} {
		s := &workflow.Session{CurrentStage: "architect", History: tt.history}
		if got := ids(s.Handed()); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestRequestsKeepUnknownKeys: a newer program may say more about a request, or in a comment.
func TestRequestsKeepUnknownKeys(t *testing.T) {
	t.Parallel()
	const stored = `{"id":"c1","from":3,"to":4,"quote":"q","kind":"edit","text":"t","replace":"x","stage":"review","round":2,"sha256":"aa",` +
		`"at":"2026-01-01T00:00:00Z","status":"declined","settled_in":3,"note":"n","later":{"a":[1]}}`
	var c workflow.ChangeRequest
	if err := workflow.Unmarshal([]byte(stored), &c); err != nil {
		t.Fatal(err)
	}
	if c.From != 3 || c.Replace != "x" || c.Stage != workflow.Review || c.SettledIn != 3 || c.Status != workflow.RequestDeclined {
		t.Errorf("%+v", c)
	}
	if got, err := workflow.Marshal(c); err != nil || string(got) != stored {
		t.Errorf("got %s, %v\nwant %s", got, err, stored)
	}
}

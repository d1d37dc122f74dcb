package sdk_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

type plan struct {
	Title string   `json:"title"`
	Days  int      `json:"days"`
	Steps []string `json:"steps"`
}

const goodPlan = `{"title":"Shop","days":2,"steps":["a"]}`

// TestOutput: an answer is read as its type, in a code block or cut in two; one that does not fit goes
// back to the model.
func TestOutput(t *testing.T) {
	cut := fake.Stop(provider.MaxTokens, `{"title":"Sh`)
	for name, steps := range map[string][]fake.Step{
		"plain":           {fake.Text(goodPlan)},
		"in a block":      {fake.Text("Here it is:\n\n```json\n" + goodPlan + "\n```")},
		"cut":             {cut, fake.Text(`op","days":2,"steps":["a"]}`)},
		"after a tool":    {write("/docs/a.md", "a"), fake.Text(goodPlan)},
		"repaired":        {fake.Text("The plan is good."), fake.Text(goodPlan)},
		"repaired twice":  {fake.Text(`{"title":"Shop"}`), fake.Text(`{"title":"Shop","days":"2","steps":[]}`), fake.Text(goodPlan)},
		"with a tool":     {fake.Text("{"), write("/docs/a.md", "a"), fake.Text(goodPlan)},
		"no int":          {fake.Text(`{"title":"Shop","days":2.0,"steps":["a"]}`), fake.Text(goodPlan)}, // though an integer of its schema
		"with other keys": {fake.Text(`{"title":"Shop","days":2,"steps":["a"],"cost":1}`), fake.Text(goodPlan)},
	} {
		c, p := plainClient(t, steps...)
		s, err := c.StartAgent(t.Context(), "", "Plan a shop", sdk.SessionOptions{Agent: helper, Output: sdk.Output[plan]{}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(newContext(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := sdk.Output[plan]{}.Decode(r.Output)
		if err != nil || got.Title != "Shop" || got.Days != 2 || len(got.Steps) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := len(p.Requests()); n != len(steps) {
			t.Errorf("%s: %d calls of the model, want %d", name, n, len(steps))
		}
		if first := p.Requests()[0].Messages[0].Text(); !strings.Contains(first, `"days"`) {
			t.Errorf("%s: the schema is not in the message: %s", name, first)
		}
	}
}

// TestOutputNeverFits: the error has its type, no tool is used twice, and the session goes on.
func TestOutputNeverFits(t *testing.T) {
	bad := fake.Text(`{"title":1}`)
	c, p := plainClient(t, write("/docs/a.md", "a"), bad, bad, bad, bad, fake.Text(goodPlan))
	s, err := c.StartAgent(t.Context(), "", "Plan a shop", sdk.SessionOptions{Agent: helper, Output: sdk.Output[plan]{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(newContext(t))
	var misfit *sdk.OutputError
	if !errors.As(err, &misfit) || misfit.Text != `{"title":1}` || r.Status != sdk.Paused || r.Output != nil || len(p.Requests()) != 4 {
		t.Fatalf("%+v, %v after %d calls", r, err, len(p.Requests()))
	}
	again, err := c.OpenSession(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if r, err = again.Resume(newContext(t)); err != nil || r.Status != sdk.Ended || string(r.Output) != goodPlan || len(r.Tools) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAskForOutput: one turn of a conversation has a type, the others are text; a turn whose answer
// never fits does not end the conversation.
func TestAskForOutput(t *testing.T) {
	bad := fake.Text("no")
	c, _ := plainClient(t, fake.Text("Hello."), fake.Text(goodPlan), bad, bad, bad, fake.Text("Good bye."), fake.Text("[1,2]"), fake.Text(`"Shall I?"`))
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: helper}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if turn, err := v.Ask(ctx, "Hello"); err != nil || turn.Response != "Hello." || turn.Output != nil {
		t.Errorf("%+v, %v", turn, err)
	}
	if got, turn, err := (sdk.Output[plan]{}).Ask(ctx, v, "Plan"); err != nil || got.Days != 2 || turn.Response != goodPlan {
		t.Errorf("%+v, %+v, %v", got, turn, err)
	}
	var misfit *sdk.OutputError
	if _, turn, err := (sdk.Output[plan]{}).Ask(ctx, v, "Plan again"); !errors.As(err, &misfit) || turn.Problem == "" {
		t.Errorf("%+v, %v", turn, err)
	}
	if turn, err := v.Ask(ctx, "Good bye"); err != nil || turn.Response != "Good bye." {
		t.Errorf("%+v, %v", turn, err)
	}
	if got, _, err := (sdk.Output[[]int]{}).Ask(ctx, v, "Count"); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if got, _, err := (sdk.Output[string]{}).Ask(ctx, v, "Name a question"); err != nil || got != "Shall I?" || len(v.Questions()) != 0 {
		t.Errorf("%q, %v, open questions %v", got, err, v.Questions())
	}
	if _, _, err := (sdk.Output[chain]{}).Ask(ctx, v, "Chain"); err == nil || !v.Idle() {
		t.Errorf("a type that contains itself: %v", err)
	}
	for range 2 { // nothing to decode, not even that of the turn before
		if _, turn, err := (sdk.Output[[]int]{}).Ask(ctx, v, "*exit"); err == nil || turn != nil && turn.Output != nil {
			t.Errorf("the end has an output: %+v, %v", turn, err)
		}
	}
}

package sdk_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// named is a fake provider by another name.
type named struct {
	*fake.Provider
	info provider.Info
}

func (n named) Info() provider.Info { return n.info }

func modelOf(server, name string, steps ...fake.Step) named {
	return named{fake.New(steps...), provider.Info{Provider: server, Model: name}}
}

// twoPrices has a model that costs ten times the other.
func twoPrices(t *testing.T) *price.Table {
	t.Helper()
	table, err := price.Parse([]byte(`{"prices":[{"model":"large","input":10,"output":20},{"model":"small","input":1,"output":2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestChoiceOfModels: the caller chooses by the work, and the choice counts only if the messages can be carried.
func TestChoiceOfModels(t *testing.T) {
	opaque := fake.Step{Blocks: []provider.Block{{Type: provider.Opaque, Raw: json.RawMessage(`{"signed":1}`)}, provider.TextBlock("signed")}, Stop: provider.EndTurn}
	usage := provider.Usage{Input: 1000, Output: 100}
	counted := fake.Text("two")
	counted.Usage = usage
	second := func(u sdk.Use) bool { return u.Turn == 2 }
	for name, c := range map[string]struct {
		large, small named
		choose       func(u sdk.Use) bool
		limit        price.Money
		// called are the calls of the small model, saved is the amount they save.
		called int
		saved  price.Money
	}{
		"no choice":             {modelOf("a", "large", fake.Text("1"), fake.Text("2")), modelOf("a", "small"), func(sdk.Use) bool { return false }, 0, 0, 0},
		"a follow-up":           {modelOf("a", "large", fake.Text("1")), modelOf("a", "small", counted), second, 0, 1, 9*1000*1000 + 18*1000*100},
		"another kind":          {modelOf("a", "large", fake.Text("1"), fake.Text("2")), modelOf("b", "small"), second, 0, 0, 0},
		"signed messages":       {modelOf("a", "large", opaque, fake.Text("2")), modelOf("a", "small"), second, 0, 0, 0},
		"a price not known":     {modelOf("a", "large", fake.Text("1"), fake.Text("2")), modelOf("a", "unknown"), second, price.Dollar, 0, 0},
		"from the beginning":    {modelOf("a", "large"), modelOf("b", "small", fake.Text("1"), fake.Text("2")), func(sdk.Use) bool { return true }, 0, 2, -1},
		"a fault of the choice": {modelOf("a", "large", fake.Text("1"), fake.Text("2")), modelOf("a", "small"), func(sdk.Use) bool { panic("a fault") }, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var uses []sdk.Use
			o := sdk.Options{Provider: c.large, Prices: twoPrices(t), Project: project(t), CostLimit: c.limit, Models: func(u sdk.Use) provider.Provider {
				uses = append(uses, u)
				if c.choose(u) {
					return c.small
				}
				return nil
			}}
			client, err := sdk.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			talk, err := client.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range []string{"one", "two"} {
				if _, err := talk.Ask(t.Context(), words); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(c.small.Requests()); n != c.called {
				t.Errorf("%d calls of the small model", n)
			}
			if saved := talk.Costs().Saved; saved != c.saved && c.saved >= 0 || c.saved < 0 && saved <= 0 {
				t.Errorf("saved %d", saved)
			}
			if u := uses[1]; u.Agent != "pm" || u.Kind != sdk.UseTurn || u.Turn != 2 || u.Prompt < 100 || u.Limited != (c.limit > 0) {
				t.Errorf("use %+v", u)
			}
			// Another process goes on with the model of the messages.
			client.Close()
			c.large.Add(fake.Text("3"))
			c.small.Add(fake.Text("3"))
			if client, err = sdk.New(o); err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if talk, err = client.Open(t.Context(), talk.ID()); err != nil {
				t.Fatal(err)
			}
			if _, err = talk.Ask(t.Context(), "three"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestChoiceIsGone: a session in the middle of work with a model that nobody chooses any more says so.
func TestChoiceIsGone(t *testing.T) {
	small := modelOf("b", "small", fake.Text("1"))
	o := sdk.Options{Provider: modelOf("a", "large"), Prices: twoPrices(t), Project: project(t), Models: func(sdk.Use) provider.Provider { return small }}
	client, err := sdk.New(o)
	if err != nil {
		t.Fatal(err)
	}
	talk, err := client.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err == nil {
		_, err = talk.Ask(t.Context(), "one")
	}
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	o.Models = nil
	if client, err = sdk.New(o); err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var state *sdk.StateError
	if _, err := client.Open(t.Context(), talk.ID()); !errors.As(err, &state) || !strings.Contains(state.Why, "small") {
		t.Errorf("opened: %v", err)
	}
}

// TestSmallModel: the small model writes short sections; the default one repairs, and does all else.
func TestSmallModel(t *testing.T) {
	large := modelOf("a", "large", fake.Call("invoke_agent", map[string]string{"agent_id": "analyst", "command": "work"}),
		fake.Text("done"), fake.Text("all"), fake.Text(`{"a":"b"}`))
	small := modelOf("a", "small", fake.Text("no JSON"))
	var kinds []sdk.UseKind
	choose := sdk.SmallModel(small, 1_000_000)
	client, err := sdk.New(sdk.Options{Provider: large, Prices: twoPrices(t), Project: project(t), Models: func(u sdk.Use) provider.Provider {
		kinds = append(kinds, u.Kind)
		return choose(u)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	talk, err := client.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err == nil {
		_, err = talk.Ask(t.Context(), "begin now")
	}
	if err != nil {
		t.Fatal(err)
	}
	step := sdk.Step{Name: "n", Title: "T", Text: "write", Output: sdk.RawOutput{Schema: json.RawMessage(`{"type":"object","required":["a"]}`)}}
	if err := talk.SendStep(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	turn, err := talk.Wait(t.Context())
	if err != nil || string(turn.Output) != `{"a":"b"}` || turn.Step != "n" || turn.User != "T" {
		t.Errorf("%+v, %v", turn, err)
	}
	if want := []sdk.UseKind{sdk.UseTurn, sdk.UseSubAgent, sdk.UseSection, sdk.UseRepair}; !slices.Equal(kinds, want) {
		t.Errorf("chosen for %q", kinds)
	}
	if first := small.Requests()[0].Messages; len(first) != 1 || strings.Contains(first[0].Text(), "begin now") {
		t.Errorf("a step knows of the messages before: %+v", first)
	}
}

// TestRawOutput: a schema that is none is refused before anything is sent.
func TestRawOutput(t *testing.T) {
	c, model := client(t, sdk.Options{})
	talk, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{"", "{", `{"$ref":"#"}`} {
		if err := talk.SendStep(t.Context(), sdk.Step{Title: "T", Text: "x", Output: sdk.RawOutput{Schema: json.RawMessage(schema)}}); err == nil {
			t.Errorf("the schema %q is taken", schema)
		}
	}
	if len(model.Requests()) > 0 {
		t.Error("the model was called")
	}
}

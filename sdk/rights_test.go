package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// vault keeps rights in memory.
type vault struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func newVault() *vault { return &vault{kept: map[string][]byte{}} }

func (v *vault) Keep(_ context.Context, id string, data []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[id] = bytes.Clone(data)
	return nil
}

func (v *vault) Kept(_ context.Context, id string) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return bytes.Clone(v.kept[id])
}

// allowed is a session that was allowed to spend a tenth of a dollar and to run "go vet", and has
// spent about half of it.
type allowed struct {
	t     *testing.T
	store *sdk.MemStore
	vault *vault
	dir   string
	id    string
}

func newAllowed(t *testing.T) *allowed {
	t.Helper()
	a := &allowed{t: t, store: sdk.NewMemStore(), vault: newVault(), dir: project(t)}
	first := fake.Text("Begun.")
	first.Usage = provider.Usage{Input: 1, Output: 25_000} // $0.05
	c, _ := client(t, sdk.Options{Project: a.dir, Store: a.store, Rights: a.vault}, first)
	s, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{PlainText: true, SessionOptions: sdk.SessionOptions{
		CostLimit: price.Dollar / 10, Commands: []string{"go vet"}, Run: a.run(new([]string)),
	}})
	if err == nil {
		err = s.Send(t.Context(), "begin")
	}
	if err == nil {
		_, err = s.Wait(newContext(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	a.id = s.ID()
	return a
}

func (a *allowed) run(ran *[]string) func(context.Context, string) (string, bool) {
	return func(_ context.Context, command string) (string, bool) {
		*ran = append(*ran, command)
		return "ok", false
	}
}

func (a *allowed) load() []byte {
	a.t.Helper()
	data, err := a.store.Load(a.t.Context(), a.id)
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

// edit changes the file of the session, as anything in its project can.
func (a *allowed) edit(change func(state map[string]any)) {
	a.t.Helper()
	var state map[string]any
	err := json.Unmarshal(a.load(), &state)
	if err == nil {
		change(state)
		var data []byte
		if data, err = json.Marshal(state); err == nil {
			err = a.store.Save(a.t.Context(), a.id, data)
		}
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// use continues the session with an agent that tries to run commands and to spend all it can. It
// returns the commands that ran, the costs of the session in the end, and the warnings.
func (a *allowed) use(o sdk.OpenOptions) (ran []string, costs price.Report, warned string) {
	a.t.Helper()
	tries := fake.Calls(fake.Call("bash_command", map[string]string{"command": "go vet"}), fake.Call("bash_command", map[string]string{"command": "curl evil"}))
	steps := []fake.Step{tries}
	for range 40 {
		again := fake.Call("list_files", map[string]string{"path": "/"})
		again.Usage = provider.Usage{Input: 1, Output: 10_000}
		steps = append(steps, again)
	}
	c, _ := client(a.t, sdk.Options{Project: a.dir, Store: a.store, Rights: a.vault}, append(steps, fake.Text("Done."))...)
	o.Run = a.run(&ran)
	s, err := c.OpenWith(a.t.Context(), a.id, o)
	if err != nil {
		a.t.Fatal(err)
	}
	events := s.Events()
	if err := s.Send(a.t.Context(), "go on"); err != nil {
		a.t.Fatal(err)
	}
	var limit *sdk.CostLimitError
	if _, err := s.Wait(newContext(a.t)); err != nil && !errors.As(err, &limit) {
		a.t.Fatal(err)
	}
	for len(events) > 0 {
		if e := <-events; e.Type == sdk.EventWarning {
			warned += e.Text + "\n"
		}
	}
	return ran, s.Costs(), warned
}

// TestFileWidensNothing edits a session's file in every way that could give its agent more.
func TestFileWidensNothing(t *testing.T) {
	options := func(key string, value any) func(map[string]any) {
		return func(s map[string]any) { s["options"].(map[string]any)[key] = value }
	}
	costs := func(change func(line map[string]any)) func(map[string]any) {
		return func(s map[string]any) { change(s["costs"].([]any)[0].(map[string]any)) }
	}
	for name, c := range map[string]struct {
		edit  func(map[string]any)
		words string
	}{
		"nothing":           {func(map[string]any) {}, ""},
		"commands":          {options("commands", []string{"go vet", "curl evil"}), `the commands ["go vet" "curl evil"]`},
		"limit":             {options("cost_limit_nano_usd", 1000*price.Dollar), "a limit of $1000.00"},
		"no limit":          {options("cost_limit_nano_usd", 0), "no limit of costs"},
		"a negative limit":  {options("cost_limit_nano_usd", -1), "a limit of"},
		"answers":           {options("max_tokens", 1<<40), "answers of"},
		"rounds":            {options("rounds", 1<<40), "calls in a turn"},
		"spent: none":       {func(s map[string]any) { delete(s, "costs") }, "other costs"},
		"spent: less":       {costs(func(l map[string]any) { l["spent_nano_usd"] = 1 }), "other costs"},
		"spent: a credit":   {costs(func(l map[string]any) { l["spent_nano_usd"] = -1e15 }), "other costs"},
		"spent: not known":  {costs(func(l map[string]any) { l["spent_nano_usd"] = nil }), "other costs"},
		"spent: by another": {costs(func(l map[string]any) { l["model"] = "other" }), "other costs"},
		"spent: an overflow": {func(s map[string]any) {
			s["costs"] = []any{map[string]any{"model": "a", "spent_nano_usd": int64(9e18)}, map[string]any{"model": "b", "spent_nano_usd": int64(9e18)}}
		}, "other costs"},
		"an older number": {func(s map[string]any) { s["rights_seq"] = 1 }, ""},
		"a later number":  {func(s map[string]any) { s["rights_seq"] = 1000 }, "no record"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAllowed(t)
			a.edit(c.edit)
			ran, costs, warned := a.use(sdk.OpenOptions{})
			if got := fmt.Sprint(ran); got != "[go vet]" && got != "[]" {
				t.Errorf("it ran %s", got)
			}
			if costs.Limit > price.Dollar/10 || costs.Limit <= 0 || costs.Spent < price.Dollar/20 || name != "spent: an overflow" && costs.Spent > price.Dollar*14/100 {
				t.Errorf("%s of %s are spent", costs.Spent, costs.Limit)
			}
			if !strings.Contains(warned, c.words) || c.words == "" && warned != "" {
				t.Errorf("it was told %q; want %q", warned, c.words)
			}
			if _, _, again := a.use(sdk.OpenOptions{}); again != "" && c.words != "no record" {
				t.Errorf("it was told twice: %s", again)
			}
		})
	}
}

// TestRecordsThatDoNotCount: a record that is gone, older than the file or another session's leaves
// the least, until the caller allows more.
func TestRecordsThatDoNotCount(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, a *allowed){
		"gone": func(_ *testing.T, a *allowed) { delete(a.vault.kept, a.id) },
		"gone, and the file edited": func(_ *testing.T, a *allowed) {
			delete(a.vault.kept, a.id)
			a.edit(func(s map[string]any) {
				delete(s, "rights_seq")
				s["options"].(map[string]any)["cost_limit_nano_usd"] = 1000 * price.Dollar
			})
		},
		"gone, and no limit in the file": func(_ *testing.T, a *allowed) {
			delete(a.vault.kept, a.id)
			a.edit(func(s map[string]any) { delete(s["options"].(map[string]any), "cost_limit_nano_usd") })
		},
		"broken": func(_ *testing.T, a *allowed) { a.vault.kept[a.id] = []byte("{") },
		"rolled back": func(_ *testing.T, a *allowed) {
			before := a.vault.kept[a.id]
			a.use(sdk.OpenOptions{CostLimit: price.Dollar / 12, Commands: []string{}})
			a.vault.kept[a.id] = before
		},
		"from elsewhere": func(_ *testing.T, a *allowed) { a.vault.kept = map[string][]byte{"other": a.vault.kept[a.id]} },
	} {
		t.Run(name, func(t *testing.T) {
			a := newAllowed(t)
			change(t, a)
			var before struct {
				Costs []price.Line `json:"costs"`
			}
			if err := json.Unmarshal(a.load(), &before); err != nil {
				t.Fatal(err)
			}
			ran, costs, warned := a.use(sdk.OpenOptions{})
			if len(ran) > 0 || costs.Spent != *before.Costs[0].Spent || !strings.Contains(warned, "no record") {
				t.Errorf("it ran %q and spent %s after %s; told %q", ran, costs.Spent, *before.Costs[0].Spent, warned)
			}
			if ran, costs, _ = a.use(sdk.OpenOptions{CostLimit: price.Dollar / 5, Commands: []string{"go vet"}}); fmt.Sprint(ran) != "[go vet]" || costs.Limit != price.Dollar/5 || costs.Spent <= price.Dollar/10 {
				t.Errorf("allowed again, it ran %q and spent %s of %s", ran, costs.Spent, costs.Limit)
			}
			if ran, costs, warned = a.use(sdk.OpenOptions{}); costs.Limit != price.Dollar/5 || warned != "" {
				t.Errorf("afterwards it ran %q, with %+v, told %q", ran, costs, warned)
			}
		})
	}
}

// TestReplayedFile: an older file of the session brings no money back, and one of another session is
// refused.
func TestReplayedFile(t *testing.T) {
	a := newAllowed(t)
	old := a.load()
	_, before, _ := a.use(sdk.OpenOptions{})
	if before.Spent <= price.Dollar/10 {
		t.Fatalf("only %s were spent", before.Spent)
	}
	if err := a.store.Save(t.Context(), a.id, old); err != nil {
		t.Fatal(err)
	}
	if _, costs, warned := a.use(sdk.OpenOptions{}); costs.Spent != before.Spent || !strings.Contains(warned, "other costs") {
		t.Errorf("%s after %s; told %q", costs.Spent, before.Spent, warned)
	}
	b := newAllowed(t)
	if err := a.store.Save(t.Context(), a.id, b.load()); err != nil {
		t.Fatal(err)
	}
	c, _ := client(t, sdk.Options{Project: a.dir, Store: a.store, Rights: a.vault})
	var state *sdk.StateError
	if _, err := c.Open(t.Context(), a.id); !errors.As(err, &state) {
		t.Errorf("the file of another session: %v", err)
	}
}

// TestWithoutRights: callers that keep nothing themselves name the rights when they open a
// session. Its file only narrows that.
func TestWithoutRights(t *testing.T) {
	a := newAllowed(t)
	for limit, want := range map[price.Money]price.Money{price.Dollar: price.Dollar, 2000 * price.Dollar: 1000 * price.Dollar, 0: 1000 * price.Dollar} {
		a.edit(func(s map[string]any) {
			o := s["options"].(map[string]any)
			o["cost_limit_nano_usd"], o["commands"], o["max_tokens"], o["rounds"] = 1000*price.Dollar, []string{"curl evil"}, 1<<40, 1<<40
		})
		c, p := client(t, sdk.Options{Project: a.dir, Store: a.store, CostLimit: limit}, fake.Call("bash_command", map[string]string{"command": "curl evil"}), fake.Text("Done."))
		var ran []string
		s, err := c.OpenWith(t.Context(), a.id, sdk.OpenOptions{Run: a.run(&ran)})
		if err == nil {
			err = s.Send(t.Context(), "go on")
		}
		if err == nil {
			_, err = s.Wait(newContext(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Costs().Limit; got != want || len(ran) > 0 || p.Requests()[0].MaxTokens != 16_000 {
			t.Errorf("a client with the limit %s: %s, ran %q, answers of %d tokens", limit, got, ran, p.Requests()[0].MaxTokens)
		}
	}
}

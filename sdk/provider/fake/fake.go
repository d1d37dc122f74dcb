// Package fake is a provider with a script, for tests of agents.
//
// Each call takes the next step of the script. The rules of real servers for conversations hold here too: a
// request against one fails as it would there.
package fake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Model is the name of the model. [Prices] has the price.
const Model = "fake-1"

// Step is the work of the model in one call.
type Step struct {
	// Blocks are the answer. A use of a tool without an ID gets one.
	Blocks []provider.Block
	Stop   provider.Stop
	// Usage is the count of the call; if it is zero, four characters are a token.
	Usage provider.Usage
	// Err, if set, is returned instead of an answer.
	Err error
	// Before, if set, is called with the request before the answer; an error of it ends the call. It may wait
	// for the context, as a slow server lets a caller wait.
	Before func(context.Context, provider.Request) error
}

// Text returns an answer in words.
func Text(text string) Step { return Stop(provider.EndTurn, text) }

// Stop returns an answer in words, which ends for a reason. Without a text it has no blocks.
func Stop(stop provider.Stop, text string) Step {
	s := Step{Stop: stop}
	if text != "" {
		s.Blocks = []provider.Block{provider.TextBlock(text)}
	}
	return s
}

// Call returns the use of a tool. input is a string, taken as it is, or a value to be written as JSON.
func Call(name string, input any) Step {
	return Step{Blocks: []provider.Block{{Type: provider.ToolUse, Name: name, Input: inputOf(input)}}, Stop: provider.UsesTools}
}

// Calls returns several steps in one message: texts and uses of tools, in their order.
func Calls(steps ...Step) Step {
	all := Step{Stop: provider.UsesTools}
	for _, s := range steps {
		all.Blocks = append(all.Blocks, s.Blocks...)
	}
	return all
}

// Fail returns a failing call.
func Fail(err error) Step { return Step{Err: err} }

func inputOf(input any) string {
	if text, ok := input.(string); ok {
		return text
	}
	data, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("fake: the input of a tool cannot be written as JSON: %v", err)) // a mistake in the test's own script
	}
	return string(data)
}

// Provider follows a script. It implements provider.Provider.
type Provider struct {
	mu       sync.Mutex
	steps    []Step
	requests []provider.Request
}

// New returns a provider that takes the steps in turn.
func New(steps ...Step) *Provider { return &Provider{steps: steps} }

// Add appends steps to the script.
func (p *Provider) Add(steps ...Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, steps...)
}

// Requests returns every request so far, also the refused ones.
func (p *Provider) Requests() []provider.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Info describes the model.
func (p *Provider) Info() provider.Info { return provider.Info{Provider: "fake", Model: Model} }

// Send answers with the next step.
func (p *Provider) Send(ctx context.Context, r provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	step, err := p.takeStep(r)
	if err = cmp.Or(err, ctx.Err()); err == nil && step.Before != nil {
		err = step.Before(ctx, r)
	}
	if err = cmp.Or(err, step.Err); err != nil {
		return nil, err
	}
	m := provider.Message{Role: provider.Assistant, Blocks: slices.Clone(step.Blocks)}
	for i, b := range m.Blocks {
		if b.Type == provider.ToolUse && b.ID == "" {
			// The length of the conversation keeps ids apart, also for a conversation continued by another
			// provider.
			m.Blocks[i].ID = fmt.Sprintf("fake_%d_%d", len(r.Messages), i)
		}
		if on != nil {
			announceBlock(b, on)
		}
	}
	if step.Usage == (provider.Usage{}) {
		step.Usage = provider.Usage{Input: countTokens(promptOf(r)), Output: countTokens(m.Blocks)}
	}
	return &provider.Response{Message: m, Stop: step.Stop, Usage: step.Usage, Model: Model, RequestID: fmt.Sprintf("req_fake_%d", len(r.Messages))}, nil
}

// takeStep records a request, checks it and takes a step.
func (p *Provider) takeStep(r provider.Request) (Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := r
	kept.Messages, kept.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
	for i, m := range kept.Messages {
		kept.Messages[i].Blocks = slices.Clone(m.Blocks)
	}
	p.requests = append(p.requests, kept)
	err := Check(r.Messages)
	if err == nil && r.MaxTokens < 1 {
		err = fmt.Errorf("max_tokens: must be at least 1")
	}
	if err != nil {
		return Step{}, &provider.Error{Status: 400, Type: "invalid_request_error", Message: err.Error()}
	}
	if len(p.steps) == 0 {
		return Step{}, &provider.Error{Type: "script_error", Message: fmt.Sprintf("the script of the fake provider is "+
			"at its end, and this is call %d; give fake.New another step", len(p.requests))}
	}
	step := p.steps[0]
	p.steps = p.steps[1:]
	return step, nil
}

func announceBlock(b provider.Block, on func(provider.Delta)) {
	switch b.Type {
	case provider.ToolUse:
		on(provider.Delta{Tool: b.Name})
	case provider.Text:
		for _, word := range strings.SplitAfter(b.Text, " ") {
			if word != "" {
				on(provider.Delta{Text: word})
			}
		}
	}
}

func promptOf(r provider.Request) []provider.Block {
	all := []provider.Block{provider.TextBlock(r.System)}
	for _, t := range r.Tools {
		all = append(all, provider.TextBlock(t.Name+t.Description+string(t.Schema)))
	}
	for _, m := range r.Messages {
		all = append(all, m.Blocks...)
	}
	return all
}

func countTokens(blocks []provider.Block) (n int64) {
	for _, b := range blocks {
		n += int64(len(b.Text) + len(b.Name) + len(b.Input))
	}
	return (n + 3) / 4
}

// Prices returns a list with the price of [Model]: $1 for a million tokens in, $2 for a million out.
func Prices() *price.Table {
	t, err := price.Parse([]byte(`{"prices":[{"model":"` + Model + `","input":1,"cache_write_5m":1.25,"cache_write_1h":2,"cache_read":0.1,"output":2}]}`))
	if err != nil {
		panic(err) // the list is part of the program, and tested
	}
	return t
}

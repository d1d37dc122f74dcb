package mcpserver

import (
	"cmp"
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// DelegateTool is the name of the tool by which an agent answers one task.
const DelegateTool = "delegate_to_agent"

const (
	// maxSpokenPersona is the part of a persona that a model gets as its system prompt, in characters.
	maxSpokenPersona = 800
	// maxTask and maxTaskContext bound the task that is handed to an agent, in bytes.
	maxTask, maxTaskContext = 8000, 32000
	defaultTokens           = 2048
)

// delegated is the answer of an agent, or the way to one.
type delegated struct {
	Status string `json:"status"`
	// Via is the way that the answer came, Model the name of the model that gave it.
	Via   string `json:"via,omitempty"`
	Model string `json:"model,omitempty"`
	Text  string `json:"text,omitempty"`

	Agent   string `json:"agent,omitempty"`
	Persona string `json:"persona,omitempty"`
	Task    string `json:"task,omitempty"`
	Context string `json:"context,omitempty"`
}

// delegate has an agent answer a task: by the model of the host, else by the person's, else by
// the model that called.
func (m memoryTools) delegate(ctx context.Context, c *memoryCall) (any, error) {
	c.context = given(c.context)
	switch {
	case len(c.task) > maxTask:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "task", len(c.task), maxTask).WithHint("shorten it, or name files to read")
	case len(c.context) > maxTaskContext:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "context", len(c.context), maxTaskContext).WithHint("shorten it, or name files to read")
	}
	shelf, err := m.offer.personas(c.request)
	if err != nil {
		return nil, err
	}
	name, persona, err := shelf.Character(strings.TrimSpace(c.agent))
	if err != nil {
		return nil, err
	}
	out := delegated{Status: "needs_host", Agent: name, Persona: persona, Task: c.task, Context: c.context}
	q := prompt{system: "You are " + name + ".\n\n" + visible.Clipped(persona, maxSpokenPersona), message: c.task, tokens: cmp.Or(c.count, defaultTokens)}
	if c.context != "" {
		q.message = c.context + "\n\n" + c.task
	}
	if c.sample == nil && hasModel(ctx) {
		if ask := m.callers.askModel(ctx, c.project.Dir.Path(), q); ask != nil {
			return ask, nil
		}
	}
	if text, model := c.sample.answer(q); text != "" {
		return fitted(delegated{Status: "answered", Via: "sampling", Model: visible.Clip(model, 100), Agent: name, Text: text}), nil
	}
	if m.model != nil {
		text, model, err := m.model.Complete(ctx, q.system, q.message, q.tokens)
		if err == nil {
			return fitted(delegated{Status: "answered", Via: "model", Model: model, Agent: name, Text: text}), nil
		}
		m.log.Warn("the model has not answered", "agent", name, "error", err)
	}
	return fitted(out), nil
}

// fitted returns the answer with texts that fit into a reply, the least important cut first.
func fitted(d delegated) delegated {
	for _, text := range []*string{&d.Context, &d.Text, &d.Persona} {
		for *text != "" {
			data, err := library.Encode(d)
			over := len(data) - engine.MaxReply
			if err != nil || over <= 0 {
				return d
			}
			if over += len("…"); over >= len(*text) {
				*text = ""
			} else {
				*text = visible.Clip(*text, len(*text)-over)
			}
		}
	}
	return d
}

// given is a text of the caller; some hosts put these words for none.
func given(text string) string {
	if text = strings.TrimSpace(text); text == "undefined" || text == "null" {
		return ""
	}
	return text
}

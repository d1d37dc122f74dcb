package mcpserver

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// DelegateTool is the name of the tool by which an agent answers one task.
const DelegateTool = "delegate_to_agent"

const (
	// maxSpokenPersona is the part of a persona that a model gets, in characters.
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
	task, background := c.Text("task"), trim(c.Text("context"))
	switch {
	case len(task) > maxTask:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "task", len(task), maxTask).WithHint("shorten it, or name files to read")
	case len(background) > maxTaskContext:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "context",
			len(background), maxTaskContext).WithHint("shorten it, or name files to read")
	}
	name, persona, err := m.character(ctx, c)
	if err != nil {
		return nil, err
	}
	persona = visible.Fit(persona, maxSpokenPersona)
	out := delegated{Status: "needs_host", Agent: name, Persona: persona, Task: task, Context: background}
	q := prompt{system: "You are " + name + ".\n\n" + persona, message: task, tokens: cmp.Or(c.Count("max_tokens"), defaultTokens)}
	if background != "" {
		q.message = background + "\n\n" + task
	}
	if c.sample == nil && hasModel(ctx) {
		if ask := m.askModel(ctx, c.project.Dir.Path(), q); ask != nil {
			return ask, nil
		}
	}
	if text, model := c.sample.answer(q); text != "" {
		return fit(delegated{Status: "answered", Via: "sampling", Model: visible.Fit(model, 100), Agent: name, Text: text}), nil
	}
	if m.model != nil {
		text, model, err := m.model.Complete(ctx, q.system, q.message, q.tokens)
		if err == nil {
			return fit(delegated{Status: "answered", Via: "model", Model: model, Agent: name, Text: text}), nil
		}
		m.log.Warn("the model has not answered", "agent", name, "error", err)
	}
	return fit(out), nil
}

// character returns the name and the persona of the agent that a call names: an installed one, one
// that the memory describes, a role of a workflow, one of those that the tool names as examples, or
// one that has only learned something.
func (m memoryTools) character(ctx context.Context, c *memoryCall) (name, persona string, err error) {
	agent := strings.TrimSpace(c.Text("agent_id"))
	shelf, err := m.offer.personas(c.request)
	if err == nil {
		if name, persona, err = shelf.Character(agent); err == nil {
			return name, persona, nil
		}
	}
	if !fault.Is(err, fault.NotFound) {
		return "", "", err
	}
	known, unknown := c.book.Known(ctx, agent)
	if name = cmp.Or(known.Name, known.ID); known.Name+known.Domain != "" {
		persona = "In this project " + name + " is the agent " + known.ID + ": " + cmp.Or(known.Domain, "one of the team") + "."
		return strings.TrimSpace(name + " " + known.Icon), persona, nil
	}
	for _, called := range []func(workflow.Stage) bool{
		func(st workflow.Stage) bool { return string(st.ID) == agent },
		func(st workflow.Stage) bool { return slices.Contains(st.Personas, agent) },
	} {
		for _, w := range c.project.Config.Workflows() {
			if w.Definition == nil || w.By == workflow.SetByProject { // whose texts nobody has allowed
				continue
			}
			if i := slices.IndexFunc(w.Definition.Stages, called); i >= 0 {
				st := w.Definition.Stages[i]
				return st.Role, "In this project the " + st.Role + " " + st.Description + ".", nil
			}
		}
	}
	if does, ok := moreRoles[agent]; ok {
		return does.name, does.persona, nil
	}
	if unknown == nil {
		return name, "In this project " + name + " is an agent with memories of its own: get_agent_memory has them.", nil
	}
	if shelf == nil || len(shelf.Catalog.Items(catalog.Agent)) == 0 {
		err = unknown
	}
	return "", "", err
}

// moreRoles are the agents of the tool's description that no stage has.
var moreRoles = map[string]struct{ name, persona string }{
	"analyst":     {"Business Analyst", "The Business Analyst finds out what users need, what it is worth and what speaks against it, from evidence."},
	"tech-writer": {"Technical Writer", "The Technical Writer explains the product to its readers: short, complete, in the words of their field."},
}

// fit returns the answer with texts that fit into a reply, the least important cut first.
func fit(d delegated) delegated {
	for _, text := range []*string{&d.Context, &d.Text, &d.Persona} {
		for *text != "" {
			data, err := method.Encode(d)
			over := len(data) - reply.Max
			if err != nil || over <= 0 {
				return d
			}
			if left := len(*text) - over; left < len("…") {
				*text = ""
			} else {
				*text = visible.Fit(*text, left)
			}
		}
	}
	return d
}

// trim returns a text of the caller without space around it; some hosts put these words for none.
func trim(text string) string {
	if text = strings.TrimSpace(text); text == "undefined" || text == "null" {
		return ""
	}
	return text
}

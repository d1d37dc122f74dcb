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

// DelegateTool is the name of the tool that has an agent answer one task.
const DelegateTool = "delegate_to_agent"

const (
	// maxSpokenPersona bounds the persona in a model's prompt, in bytes.
	maxSpokenPersona = 800
	// maxTask and maxTaskContext bound an agent's task and the context of the task, in bytes.
	maxTask, maxTaskContext = 8000, 32000
	defaultTokens           = 2048
)

// delegated is the answer of an agent, or the parts for the caller to answer itself.
type delegated struct {
	Status string `json:"status"`
	// Via is the source of the answer, sampling, model or a2a; Model is the name of the model.
	Via   string `json:"via,omitempty"`
	Model string `json:"model,omitempty"`
	Text  string `json:"text,omitempty"`

	Agent   string `json:"agent,omitempty"`
	Persona string `json:"persona,omitempty"`
	Task    string `json:"task,omitempty"`
	Context string `json:"context,omitempty"`

	TaskID    string   `json:"task_id,omitempty"`
	Artifacts []string `json:"artifacts,omitempty"`
}

// delegate has an agent answer a task: by the model of the host, else by the person's own model, else by the
// calling model.
func (m memoryTools) delegate(ctx context.Context, c *memoryCall) (any, error) {
	task, background := c.Text("task"), trimPlaceholder(c.Text("context"))
	switch {
	case len(task) > maxTask:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "task", len(task), maxTask).WithHint("shorten it, or name files to read")
	case len(background) > maxTaskContext:
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", "context",
			len(background), maxTaskContext).WithHint("shorten it, or name files to read")
	}
	url, knownTask := c.Text("url"), ""
	if url != "" {
		knownTask = c.Text("task_id")
	}
	missing := ""
	switch {
	case cmp.Or(url, c.Text("agent_id")) == "":
		missing = "agent_id"
	case cmp.Or(task, knownTask) == "":
		missing = "task"
	}
	if missing != "" {
		return nil, fault.New(fault.InvalidArgument, "%s is missing", missing).
			WithHint("pass agent_id and task, or url and task for an agent of another server; url and task_id ask it again")
	}
	if url != "" {
		a, err := m.remote(ctx, c.project.Dir.Path(), url, knownTask, strings.TrimSpace(background+"\n\n"+task))
		return cutToReply(delegated{Status: a.Status, Via: "a2a", Agent: a.Agent, TaskID: a.TaskID, Text: a.Text, Artifacts: a.Artifacts}), err
	}
	name, persona, err := m.findPersona(ctx, c)
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
	if text, model := c.sample.answerTo(q); text != "" {
		return cutToReply(delegated{Status: "answered", Via: "sampling", Model: visible.Fit(model, 100), Agent: name, Text: text}), nil
	}
	if m.model != nil {
		text, model, err := m.model.Complete(ctx, q.system, q.message, q.tokens)
		if err == nil {
			return cutToReply(delegated{Status: "answered", Via: "model", Model: model, Agent: name, Text: text}), nil
		}
		m.log.Warn("the model has not answered", "agent", name, "error", err)
	}
	return cutToReply(out), nil
}

// findPersona returns name and persona of the agent in a call. It looks among the installed agents, the
// agents described in the memory, the roles of workflows, the examples in the tool's description, and the
// agents with learnings only.
func (m memoryTools) findPersona(ctx context.Context, c *memoryCall) (name, persona string, err error) {
	agent := strings.TrimSpace(c.Text("agent_id"))
	shelf, err := m.offer.shelfOfPersonas(c.request)
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
			if w.Definition == nil || w.By == workflow.SetByProject { // nobody has allowed the texts
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

// moreRoles are the agents of the tool's description without a stage.
var moreRoles = map[string]struct{ name, persona string }{
	"analyst":     {"Business Analyst", "The Business Analyst finds out what users need, what it is worth and what speaks against it, from evidence."},
	"tech-writer": {"Technical Writer", "The Technical Writer explains the product to its readers: short, complete, in the words of their field."},
}

// cutToReply cuts the texts of an answer to fit into a reply, the least important text first.
func cutToReply(d delegated) delegated {
	for _, text := range []*string{&d.Context, &d.Text, &d.Persona} {
		for *text != "" {
			data, err := method.Encode(d)
			over := len(data) - reply.Max
			if err != nil || over <= 0 {
				return d
			}
			if left := max(len(*text)-over, len(*text)/2); left < len("…") {
				*text = ""
			} else {
				*text = visible.Fit(*text, left)
			}
		}
	}
	return d
}

// trimPlaceholder trims a text of the caller, and drops the words that some hosts send for an empty text.
func trimPlaceholder(text string) string {
	if text = strings.TrimSpace(text); text == "undefined" || text == "null" {
		return ""
	}
	return text
}

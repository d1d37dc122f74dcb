package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// maxDepth is how deep agents may call each other.
const maxDepth = 2

var (
	workflowTool = provider.Tool{
		Name:        openWorkflow,
		Description: "Return the instructions of a workflow or task of the method, by its name.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"words":{"type":"string","description":"what the person wants of it"}},"required":["name"]}`),
	}
	agentTool = provider.Tool{
		Name:        invokeAgent,
		Description: "Have another agent of the method do a piece of work in the same files, and return its answer. It sees nothing of this conversation, and cannot ask the person.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"agent_id":{"type":"string"},"command":{"type":"string","description":"the whole task, or an item of the agent's menu"},"context":{"type":"string"}},"required":["agent_id","command"]}`),
	}
)

// setTools gives a session the tools: run runs the agent's command lines, own are the caller's tools.
func (t *thread) setTools(run runCommand, own []AnyTool) error {
	t.command = run
	t.fileTools = vfs.NewToolbox(t.files, vfs.ToolOptions{
		ReadOnly: t.state.Options.ReadOnly, Commands: t.state.Options.Commands, Run: run, Wrote: t.noteWritten})
	t.tools = t.fileTools.Tools()
	if !t.state.Options.NoQuestions {
		t.tools = append(t.tools, askTool)
	}
	if t.menu.snapshot != nil {
		t.tools = append(t.tools, workflowTool, agentTool)
	}
	t.state.Tools = nil
	for _, tool := range own {
		if tool == nil {
			return &ToolError{"", "it is nil"}
		}
		r, err := tool.rawTool()
		if err != nil {
			return err
		}
		if r.Name == askUser || t.offersTool(r.Name) {
			return &ToolError{r.Name, "there is another tool of this name"}
		}
		t.own, t.state.Tools = append(t.own, r), append(t.state.Tools, r.Name)
		t.tools = append(t.tools, provider.Tool{Name: r.Name, Description: r.Description, Schema: r.Schema})
	}
	return nil
}

// offersTool reports whether the model is offered a tool.
func (t *thread) offersTool(name string) bool {
	return slices.ContainsFunc(t.tools, func(tool provider.Tool) bool { return tool.Name == name })
}

// builtIn returns all tools but the caller's. The system prompt, which is bounded, names these.
func (t *thread) builtIn() []provider.Tool { return t.tools[:len(t.tools)-len(t.own)] }

// ownTool returns a tool of the caller's; nil if it is another one.
func (t *thread) ownTool(name string) *RawTool {
	if at := slices.IndexFunc(t.own, func(r RawTool) bool { return r.Name == name }); at >= 0 {
		return &t.own[at]
	}
	return nil
}

// mustNotRepeat reports whether a use must not be repeated if nobody knows whether it has done the work. A
// change of files saved with the session is undone if the record of it is lost.
func (t *thread) mustNotRepeat(use provider.Block) bool {
	if own := t.ownTool(use.Name); own != nil {
		return !own.Idempotent
	}
	return use.Name == vfs.EditFile && t.state.FilesOf != ""
}

// recordBegun records, before the use of a tool, that it must not be repeated. The caller holds the lock.
func (t *thread) recordBegun(ctx context.Context, id string) error {
	if t.parent != nil { // the use of the agent is what would be repeated
		t.parent.mu.Lock()
		defer t.parent.mu.Unlock()
		t.parent.broken = t.parent.recordBegun(ctx, t.by)
		return t.parent.broken
	}
	if slices.Contains(t.state.Begun, id) {
		return nil
	}
	t.state.Begun = append(t.state.Begun, id)
	err := t.save(ctx)
	if err != nil { // it does not begin
		t.state.Begun = slices.DeleteFunc(t.state.Begun, func(begun string) bool { return begun == id })
	}
	return err
}

// execute uses a tool, and returns the result for the model.
func (t *thread) execute(ctx context.Context, use provider.Block) (text string, failed bool) {
	if !t.offersTool(use.Name) {
		var names []string
		for _, tool := range t.tools {
			names = append(names, tool.Name)
		}
		return fmt.Sprintf("Unknown tool: %s. There are: %s", use.Name, strings.Join(names, ", ")), true
	}
	switch use.Name {
	case openWorkflow:
		return t.readWorkflow(use.Input)
	case invokeAgent:
		return t.runAgent(ctx, use)
	}
	if own := t.ownTool(use.Name); own != nil {
		return own.use(context.WithValue(ctx, toolFilesKey{}, &ToolFiles{t}), use.Input)
	}
	return t.fileTools.Execute(ctx, use.Name, use.Input)
}

// madeFiles returns the files made by the agent.
func (t *thread) madeFiles() []vfs.Info {
	if _, ok := t.files.(snapshotter); ok {
		return vfs.Documents(t.files)
	}
	t.mu.Lock()
	written := slices.Sorted(slices.Values(t.state.Written))
	t.mu.Unlock()
	var out []vfs.Info
	for _, name := range written {
		if info, err := t.files.Stat(name); err == nil {
			out = append(out, info)
		}
	}
	return out
}

func (t *thread) readWorkflow(input string) (text string, failed bool) {
	var in struct {
		Name  string `json:"name"`
		Words string `json:"words"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil || in.Name == "" {
		return "The input is not JSON of this tool; required: name", true
	}
	m := t.menu
	text, err := m.snapshot.Workflow(in.Name, in.Words, methodTools)
	if err != nil {
		return plainError(err).Error(), true
	}
	return m.shelf.withPaths(text), false
}

// runAgent has another agent work. It spends the same budget, in the same files.
func (t *thread) runAgent(ctx context.Context, use provider.Block) (text string, failed bool) {
	var in struct {
		AgentID string `json:"agent_id"`
		Command string `json:"command"`
		Context string `json:"context"`
	}
	if err := json.Unmarshal([]byte(use.Input), &in); err != nil || in.AgentID == "" || strings.TrimSpace(in.Command) == "" {
		return "The input is not JSON of this tool; required: agent_id, command", true
	}
	if t.depth >= maxDepth {
		return fmt.Sprintf("Agents call each other at most %d deep; do this work yourself", maxDepth), true
	}
	child, err := t.newChild(in.AgentID, use.ID)
	if err != nil {
		return err.Error(), true
	}
	words := in.Command
	if in.Context != "" {
		words += "\n\n" + in.Context
	}
	answer, err := child.carryOut(ctx, words)
	if err != nil {
		var limit *CostLimitError
		if errors.As(err, &limit) || ctx.Err() != nil {
			return "The agent was stopped: " + err.Error(), true
		}
		return "The agent failed: " + err.Error(), true
	}
	return answer, false
}

// newChild returns a sub-agent, working for the tool use by.
func (t *thread) newChild(agentID, by string) (*thread, error) {
	agent, m, err := t.client.shelf.findAgent(agentID)
	if err != nil {
		return nil, err
	}
	model := t.client.providerOf(agent)
	if err := t.budget.Admit(model.Info().Model, t.client.o.Clock()); err != nil {
		return nil, err
	}
	c := &thread{client: t.client, kin: kin{t, by, t.depth + 1}, model: model, agent: agent, menu: m,
		files: t.files, budget: t.budget, changed: make(chan struct{})}
	c.state = state{ID: t.state.ID, Kind: kindSession, Agent: agentState{ID: agent.ID}, Provider: model.Info(),
		Status: Idle, Options: t.state.Options, FilesOf: t.state.FilesOf}
	c.state.Options.NoQuestions, c.state.Options.Output = true, nil
	own := make([]AnyTool, len(t.own))
	for n, r := range t.own {
		own[n] = r
	}
	if err := c.setTools(t.command, own); err != nil {
		return nil, err
	}
	c.state.System, err = systemPrompt(agent, m, c.builtIn(), SessionOptions{})
	return c, err
}

// carryOut works until a command is carried out, and returns the answer.
func (t *thread) carryOut(ctx context.Context, words string) (string, error) {
	if _, err := t.beginTurn(ctx, words, nil, nil); err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.takeSteps(ctx)
	t.parent.mu.Lock()
	defer t.parent.mu.Unlock()
	turn := t.parent.state.Turn
	turn.Usage, turn.Spent = turn.Usage.Plus(t.state.Turn.Usage), turn.Spent+t.state.Turn.Spent
	return t.state.responseText(), err
}

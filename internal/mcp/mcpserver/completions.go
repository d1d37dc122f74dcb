package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// maxCompletions is the protocol's limit for one answer.
const maxCompletions = 100

// completions completes the arguments of prompts and templates.
type completions struct{ *resources }

var (
	_ server.PromptCompletionProvider   = completions{}
	_ server.ResourceCompletionProvider = completions{}
)

// CompletePromptArgument completes the arguments of prompts.
func (c completions) CompletePromptArgument(ctx context.Context, _ string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return c.completeArgument(ctx, argument, given), nil
}

// CompleteResourceArgument completes the parts of addresses.
func (c completions) CompleteResourceArgument(ctx context.Context, _ string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return c.completeArgument(ctx, argument, given), nil
}

func (c completions) completeArgument(ctx context.Context, argument mcp.CompleteArgument, given mcp.CompleteContext) *mcp.Completion {
	var err error
	defer mcpwire.Caught(c.log, "completion", argument.Name, &err) // and nothing is completed
	base := c.baseRequest(ctx)
	if cwd := given.Arguments["cwd"]; cwd != "" {
		base.Cwd = cwd
	}
	var all []string
	switch argument.Name {
	case "task", "id":
		all = c.sessionNames(ctx, base, argument)
	case "name":
		all = c.artifactNames(ctx, base, given.Arguments["task"])
	case "stage":
		for _, st := range c.engine.Stages(base.Address) {
			all = append(all, string(st.ID))
		}
	case "agent", "workflow":
		all = c.itemNames(base, argument)
	case "path":
		all = c.methodFiles(base)
	}
	out := &mcp.Completion{Values: []string{}}
	for _, value := range all {
		if !strings.HasPrefix(value, argument.Value) && argument.Name != "agent" && argument.Name != "workflow" {
			continue
		}
		if out.Total++; out.Total <= maxCompletions {
			out.Values = append(out.Values, value)
		}
	}
	out.HasMore = out.Total > len(out.Values)
	return out
}

// sessionNames returns the task names or ids of sessions: active sessions first, and among equals the latest
// first. Unknown sessions are listed by task name.
func (c completions) sessionNames(ctx context.Context, base request.Request, argument mcp.CompleteArgument) (all []string) {
	known, others, err := c.engine.Known(ctx, base.Address)
	if err != nil {
		c.log.Debug("nothing is completed", "error", err)
	}
	for _, active := range []bool{true, false} {
		for _, session := range known {
			switch {
			case session.CurrentState.Active() != active:
			case argument.Name == "task", strings.HasPrefix(session.TaskName, argument.Value) && argument.Value != "":
				all = append(all, session.TaskName)
			default:
				all = append(all, session.SessionID)
			}
		}
	}
	if argument.Name == "task" || argument.Value != "" {
		all = append(all, others...)
	}
	return all
}

// itemNames returns the agents or workflows of the method that match the typed text: first by the beginning
// of the name, then by any part of name and title.
func (c completions) itemNames(base request.Request, argument mcp.CompleteArgument) []string {
	shelf := c.offer.shelfOrNil(base)
	if shelf == nil {
		return nil
	}
	kinds := []catalog.Kind{catalog.Agent}
	if argument.Name == "workflow" {
		kinds = []catalog.Kind{catalog.Workflow, catalog.Task}
	}
	typed := strings.ToLower(strings.TrimSpace(argument.Value))
	var begin, within []string
	for _, i := range shelf.Catalog.Items(kinds...) {
		names := []string{i.Short(), i.Name, i.DisplayName}
		if argument.Name == "workflow" {
			names = []string{i.Name, i.Short()}
		}
		if at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(strings.ToLower(name), typed) }); at >= 0 {
			begin = append(begin, names[at])
		} else if len(typed) > 1 && strings.Contains(strings.ToLower(i.Name+"\n"+i.Title), typed) {
			within = append(within, names[0])
		}
	}
	return append(begin, within...)
}

// methodFiles returns the paths of the method's files.
func (c completions) methodFiles(base request.Request) []string {
	shelf := c.offer.shelfOrNil(base)
	if shelf == nil {
		return nil
	}
	files, err := shelf.Catalog.Files("")
	if err != nil {
		c.log.Debug("nothing is completed", "error", err)
	}
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, strings.TrimPrefix(f.URI, bmadScheme))
	}
	return out
}

// artifactNames returns the file names of a task's artifacts, or all possible ones for an unknown task.
func (c completions) artifactNames(ctx context.Context, base request.Request, task string) []string {
	var out []string
	if base.Session = task; task != "" {
		if s, _, err := c.engine.Session(ctx, base.Address); err == nil {
			for _, file := range s.Artifacts {
				out = append(out, file[strings.LastIndexByte(file, '/')+1:])
			}
			return out
		}
	}
	for _, st := range c.engine.Stages(base.Address) {
		if st.Artifact != "" {
			out = append(out, st.Artifact)
		}
	}
	return out
}

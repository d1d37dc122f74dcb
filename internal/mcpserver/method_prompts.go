package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Each agent of the method is a prompt, bmad-{agent}. As with the tools of the toolset agents,
// which there are differs from caller to caller: they are put into the list on its way out,
// and a request for one is made one for anyAgent on its way in.

// anyAgent is the prompt that stands for every agent's; no list shows it.
const anyAgent = "bmad agent of the caller's project"

// agentKey has the agent that a request for anyAgent is for.
const agentKey = "bmad agent"

// The prompts of the method besides those of its agents.
const (
	workflowPrompt = "bmad-workflow"
	agentPrompt    = "bmad-agent"
)

// addMethodPrompts offers the prompts of the method.
func (s *Server) addMethodPrompts() {
	message := mcp.WithArgument("message", mcp.ArgumentDescription("what you want to say to the agent"))
	s.addPrompt(agentPrompt, "Talk to an agent", "Let the assistant act as an agent of the installed BMAD method", s.promptAgent,
		mcp.WithArgument("agent", mcp.ArgumentDescription("name of the agent, such as analyst"), mcp.RequiredArgument()), message)
	s.addPrompt(workflowPrompt, "Run a workflow", "Run a workflow or task of the installed BMAD method", s.promptWorkflow,
		mcp.WithArgument("workflow", mcp.ArgumentDescription("name of the workflow, such as create-prd"), mcp.RequiredArgument()),
		mcp.WithArgument("context", mcp.ArgumentDescription("what you want of it")))
	s.addPrompt(anyAgent, "Agent", "", s.promptAgent, message)
}

func (s *Server) promptAgent(_ context.Context, base engine.Request, arguments map[string]string) (string, error) {
	name := arguments["agent"]
	if own := arguments[agentKey]; own != "" {
		name = own
	}
	shelf, err := s.shelfOf(base)
	if err != nil {
		return "", err
	}
	text, err := shelf.Agent(name, arguments["message"], s.promptWays(base))
	return text + cutWords(arguments["message"]), err
}

func (s *Server) promptWorkflow(_ context.Context, base engine.Request, arguments map[string]string) (string, error) {
	shelf, err := s.shelfOf(base)
	if err != nil {
		return "", err
	}
	text, err := shelf.Workflow(arguments["workflow"], arguments["context"], s.promptWays(base))
	return text + cutWords(arguments["context"]), err
}

// promptWays are those of a document that is a prompt: what the person has typed is nowhere else.
func (s *Server) promptWays(base engine.Request) method.Ways {
	w := s.ways(base.Cwd)
	w.Whole = true
	return w
}

// cutWords says where the rest of a person's words may be: some hosts pass on only what stands
// before the first space.
func cutWords(words string) string {
	if words == "" || strings.ContainsAny(words, " \n") {
		return ""
	}
	return "\nIf this message shows more of my words, as in <command-args>, all of them count.\n"
}

// ownPrompt is an agent that is a prompt.
type ownPrompt struct {
	name  string
	agent catalog.Item
}

// ownPrompts returns the prompts that agents are. A name that two of them have, or that is a
// prompt of ours, gets its module.
func (s *Server) ownPrompts(shelf *method.Shelf) []ownPrompt {
	if shelf == nil {
		return nil
	}
	agents := shelf.Catalog.Items(catalog.Agent)
	count := map[string]int{}
	for _, i := range agents {
		count[safeName("bmad-"+i.Short(), notInPrompt)]++
	}
	taken := map[string]bool{}
	for _, name := range s.fixedPrompts {
		taken[name] = true
	}
	var out []ownPrompt
	for _, i := range agents {
		name := safeName("bmad-"+i.Short(), notInPrompt)
		if count[name] > 1 || taken[name] {
			name = safeName("bmad-"+strings.TrimPrefix(i.Module, "bmad-")+"-"+i.Short(), notInPrompt)
		}
		if taken[name] {
			name = safeName("bmad-"+i.Source+"-"+i.Module+"-"+i.Name, notInPrompt)
		}
		if taken[name] {
			continue
		}
		taken[name] = true
		out = append(out, ownPrompt{name, i})
	}
	return out
}

func (p ownPrompt) prompt(options ...mcp.PromptOption) mcp.Prompt {
	title := p.agent.DisplayName
	if p.agent.Title != "" {
		title = strings.TrimPrefix(title+", "+p.agent.Title, ", ")
	}
	if title == "" {
		title = p.agent.Name
	}
	out := mcp.NewPrompt(p.name, append([]mcp.PromptOption{
		mcp.WithPromptDescription(visible.Clip(fmt.Sprintf("Talk to %s of the BMAD method. %s", title, p.agent.Description), 300)),
		mcp.WithArgument("message", mcp.ArgumentDescription("what you want to say")),
	}, options...)...)
	out.Title = title
	return out
}

// listPrompts makes the list of prompts that of its caller.
func (s *Server) listPrompts(ctx context.Context, _ any, message *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
	base := s.base(ctx)
	shelf := s.shelf(base)
	var out []mcp.Prompt
	for _, p := range s.prompts {
		ofMethod := p.Name == agentPrompt || p.Name == workflowPrompt
		if ofMethod && s.mayHave(shelf) || !ofMethod && (s.auto() || s.offers(ToolsetTask)) {
			out = append(out, p)
		}
	}
	for _, own := range s.ownPrompts(shelf) {
		out = append(out, own.prompt(s.promptPlace()...))
	}
	result.Prompts, result.NextCursor = pageOf(out, message.Params.Cursor, func(p mcp.Prompt) string { return p.Name })
	s.subscriptions.listed(ctx, base, mcp.MethodNotificationPromptsListChanged, func() feed.Sight {
		return s.lookAtList(ctx, base, mcp.MethodNotificationPromptsListChanged)
	})
}

// getOwn makes a request for an agent's prompt one for anyAgent.
func (s *Server) getOwn(ctx context.Context, _ any, message *mcp.GetPromptRequest) {
	if s.method == nil || slices.Contains(s.fixedPrompts, message.Params.Name) {
		return
	}
	base := s.base(ctx)
	if cwd := strings.TrimSpace(message.Params.Arguments["cwd"]); cwd != "" {
		base.Cwd = cwd
	}
	for _, own := range s.ownPrompts(s.shelf(base)) {
		if own.name != message.Params.Name {
			continue
		}
		args := map[string]string{}
		for name, value := range message.Params.Arguments {
			args[name] = value
		}
		args[agentKey] = own.agent.Full()
		message.Params.Name, message.Params.Arguments = anyAgent, args
		return
	}
}

package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// The prompts of the method, besides the ones of agents.
const (
	workflowPrompt = "bmad-workflow"
	agentPrompt    = "bmad-agent"
)

// addBMAD offers the prompts of the method.
func (p *prompts) addBMAD() {
	p.addPrompt(agentPrompt, "Talk to an agent", "Let the assistant act as an agent of the installed BMAD method",
		p.documentHandler("agent", "message", (*method.Snapshot).Agent),
		mcp.WithArgument("agent", mcp.ArgumentDescription("name of the agent, such as analyst"), mcp.RequiredArgument()),
		mcp.WithArgument("message", mcp.ArgumentDescription("what you want to say to the agent")))
	p.addPrompt(workflowPrompt, "Run a workflow", "Run a workflow or task of the installed BMAD method",
		p.documentHandler("workflow", "context", (*method.Snapshot).Workflow),
		mcp.WithArgument("workflow", mcp.ArgumentDescription("name of the workflow, such as create-prd"), mcp.RequiredArgument()),
		mcp.WithArgument("context", mcp.ArgumentDescription("what you want of it")))
}

// documentHandler returns the handler of a prompt with the document of an item. name and words are the
// arguments for the item's name and for the person's words about it.
func (p *prompts) documentHandler(name, words string, document itemDocument) promptHandler {
	return func(_ context.Context, base request.Request, arguments map[string]string) (string, error) {
		shelf, err := p.offer.shelfOf(base)
		if err != nil {
			return "", err
		}
		ways := p.offer.toolNames(base.Cwd)
		ways.Whole = true // the person's words are nowhere else
		text, err := document(shelf, arguments[name], arguments[words], ways)
		return text + cutWords(arguments[words]), err
	}
}

// cutWords returns a sentence about the rest of a person's words, since some hosts pass on only the words
// before the first space; "" if the words seem whole.
func cutWords(words string) string {
	if words == "" || strings.ContainsAny(words, " \n") {
		return ""
	}
	return "\nIf this message shows more of my words, as in <command-args>, all of them count.\n"
}

// agentPrompts returns a named prompt for each agent. A name shared by two agents, or with another prompt,
// gets the module.
func (p *prompts) agentPrompts(shelf *method.Snapshot) []namedAgent {
	if shelf == nil {
		return nil
	}
	agents := shelf.Catalog.Items(catalog.Agent)
	count := map[string]int{}
	for _, i := range agents {
		count[safeName("bmad-"+i.Short(), notInPrompt)]++
	}
	taken := map[string]bool{}
	for _, prompt := range p.all {
		taken[prompt.Name] = true
	}
	return nameAgents(agents, taken, func(_ int, i catalog.Item) []string {
		names := []string{
			safeName("bmad-"+i.Short(), notInPrompt),
			safeName("bmad-"+strings.TrimPrefix(i.Module, "bmad-")+"-"+i.Short(), notInPrompt),
			safeName("bmad-"+i.Source+"-"+i.Module+"-"+i.Name, notInPrompt),
		}
		if count[names[0]] > 1 {
			return names[1:]
		}
		return names
	})
}

// asPrompt describes an agent as a prompt.
func (a namedAgent) asPrompt(options ...mcp.PromptOption) mcp.Prompt {
	load := cmp.Or(a.DisplayName, a.Name)
	if a.Title != "" && a.Title != load {
		load += " - " + a.Title
	}
	out := mcp.NewPrompt(a.name, append([]mcp.PromptOption{
		mcp.WithPromptDescription(visible.Fit(fmt.Sprintf("Load %s. %s", load, a.Description), 300)),
		mcp.WithArgument("message", mcp.ArgumentDescription("what you want to say")),
	}, options...)...)
	out.Title = a.title()
	return out
}

// promptsFor returns the prompts for a caller with a shelf.
func (p *prompts) promptsFor(shelf *method.Snapshot) []mcp.Prompt {
	var out []mcp.Prompt
	for _, prompt := range p.all {
		offered := p.offer.hasTask()
		if prompt.Name == agentPrompt || prompt.Name == workflowPrompt {
			offered = p.offer.mayHave(shelf)
		}
		if offered {
			out = append(out, prompt)
		}
	}
	for _, own := range p.agentPrompts(shelf) {
		out = append(out, own.asPrompt(p.cwdArgument()...))
	}
	return out
}

// rerouteAgent turns a request for an agent's prompt into one for agentPrompt, and a request for a stage's
// prompt into one for stagePrompt.
func (p *prompts) rerouteAgent(ctx context.Context, _ any, message *mcp.GetPromptRequest) {
	rerouteStage(message)
	if p.offer.library == nil || slices.ContainsFunc(p.all, func(known mcp.Prompt) bool { return known.Name == message.Params.Name }) {
		return
	}
	base := p.baseRequest(ctx)
	if cwd := strings.TrimSpace(message.Params.Arguments["cwd"]); cwd != "" {
		base.Cwd = cwd
	}
	for _, own := range p.agentPrompts(p.offer.shelfOrNil(base)) {
		if own.name != message.Params.Name {
			continue
		}
		takeFor(message, agentPrompt, "Talk to "+own.Full(), "agent", own.Full())
		return
	}
}

// takeFor turns a request into one for another prompt with an argument. The answer has the given title.
func takeFor(message *mcp.GetPromptRequest, prompt, title, argument, value string) {
	args := map[string]string{}
	maps.Copy(args, message.Params.Arguments)
	args[argument], args[ownTitle] = value, title
	message.Params.Name, message.Params.Arguments = prompt, args
}

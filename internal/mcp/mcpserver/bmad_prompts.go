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

// The prompts of the method besides those of its agents.
const (
	workflowPrompt = "bmad-workflow"
	agentPrompt    = "bmad-agent"
)

// addBMAD offers the prompts of the method.
func (p *prompts) addBMAD() {
	p.offers(agentPrompt, "Talk to an agent", "Let the assistant act as an agent of the installed BMAD method",
		p.item("agent", "message", (*method.Snapshot).Agent),
		mcp.WithArgument("agent", mcp.ArgumentDescription("name of the agent, such as analyst"), mcp.RequiredArgument()),
		mcp.WithArgument("message", mcp.ArgumentDescription("what you want to say to the agent")))
	p.offers(workflowPrompt, "Run a workflow", "Run a workflow or task of the installed BMAD method",
		p.item("workflow", "context", (*method.Snapshot).Workflow),
		mcp.WithArgument("workflow", mcp.ArgumentDescription("name of the workflow, such as create-prd"), mcp.RequiredArgument()),
		mcp.WithArgument("context", mcp.ArgumentDescription("what you want of it")))
}

// item returns the handler of a prompt with the document of an item, whose arguments are its name and the
// person's words about it.
func (p *prompts) item(name, words string, document itemDocument) promptHandler {
	return func(_ context.Context, base request.Request, arguments map[string]string) (string, error) {
		shelf, err := p.offer.shelfOf(base)
		if err != nil {
			return "", err
		}
		ways := p.offer.ways(base.Cwd)
		ways.Whole = true // the words that the person has typed are nowhere else
		text, err := document(shelf, arguments[name], arguments[words], ways)
		return text + cutWords(arguments[words]), err
	}
}

// cutWords names the place of the rest of a person's words: some hosts pass on only those before
// the first space.
func cutWords(words string) string {
	if words == "" || strings.ContainsAny(words, " \n") {
		return ""
	}
	return "\nIf this message shows more of my words, as in <command-args>, all of them count.\n"
}

// own returns a prompt for each agent. A name that two of them have, or that is a prompt of ours,
// gets its module.
func (p *prompts) own(shelf *method.Snapshot) []namedAgent {
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
	return named(agents, taken, func(_ int, i catalog.Item) []string {
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

// prompt describes an agent as a prompt.
func (a namedAgent) prompt(options ...mcp.PromptOption) mcp.Prompt {
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

// list returns the prompts of a caller.
func (p *prompts) list(shelf *method.Snapshot) []mcp.Prompt {
	var out []mcp.Prompt
	for _, prompt := range p.all {
		offered := p.offer.task()
		if prompt.Name == agentPrompt || prompt.Name == workflowPrompt {
			offered = p.offer.mayHave(shelf)
		}
		if offered {
			out = append(out, prompt)
		}
	}
	for _, own := range p.own(shelf) {
		out = append(out, own.prompt(p.place()...))
	}
	return out
}

// getOwn makes a request for an agent's prompt one for agentPrompt, and one for a stage's one for stagePrompt.
func (p *prompts) getOwn(ctx context.Context, _ any, message *mcp.GetPromptRequest) {
	getStage(message)
	if p.offer.library == nil || slices.ContainsFunc(p.all, func(known mcp.Prompt) bool { return known.Name == message.Params.Name }) {
		return
	}
	base := p.base(ctx)
	if cwd := strings.TrimSpace(message.Params.Arguments["cwd"]); cwd != "" {
		base.Cwd = cwd
	}
	for _, own := range p.own(p.offer.shelf(base)) {
		if own.name != message.Params.Name {
			continue
		}
		takeFor(message, agentPrompt, "Talk to "+own.Full(), "agent", own.Full())
		return
	}
}

// takeFor makes a request one for another prompt, with an argument, which answers under the title.
func takeFor(message *mcp.GetPromptRequest, prompt, title, argument, value string) {
	args := map[string]string{}
	maps.Copy(args, message.Params.Arguments)
	args[argument], args[ownTitle] = value, title
	message.Params.Name, message.Params.Arguments = prompt, args
}

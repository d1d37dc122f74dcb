package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// In the toolset agents, each agent is a tool, named {module}-{agent}, beside bmad-resources and
// bmad-workflow, which agents need. The agents differ from caller to caller and are unknown to the library:
// they are added to the outgoing list, and an incoming call of one becomes a call of bmad-agent.

// maxToolName is the longest name of a tool accepted by hosts.
const maxToolName = 64

// notInPrompt reports whether the name of a prompt cannot have a character. People type these names in their
// own script.
func notInPrompt(r rune) bool {
	return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// notInTool reports whether the name of a tool cannot have a character.
func notInTool(r rune) bool { return r > unicode.MaxASCII || notInPrompt(r) }

// safeName returns a name without forbidden characters, cut to maxToolName.
func safeName(name string, cannot func(rune) bool) string {
	name = strings.Trim(strings.Join(strings.FieldsFunc(name, cannot), "-"), "-")
	return strings.TrimRight(visible.Head(name, maxToolName), "-")
}

// namedAgent is an agent of the method with a name as a tool or prompt.
type namedAgent struct {
	name string
	catalog.Item
}

// title returns the title of the agent, after the persona's name if it has one.
func (a namedAgent) title() string { return cmp.Or(titleOf(a.Item), a.Name) }

// describeAgents returns the parts of agents shown in a list: name, title and description.
func describeAgents(agents []namedAgent) []string {
	out := make([]string, len(agents))
	for i, a := range agents {
		out[i] = a.name + " " + a.title() + " " + a.Description
	}
	return out
}

// nameAgents gives each agent the first of its names that is not taken yet.
func nameAgents(agents []catalog.Item, taken map[string]bool, names func(n int, i catalog.Item) []string) (out []namedAgent) {
	for n, i := range agents {
		for _, name := range names(n, i) {
			if !taken[name] {
				taken[name] = true
				out = append(out, namedAgent{name, i})
				break
			}
		}
	}
	return out
}

// ownTools returns a tool for each agent.
func (o *offer) ownTools(shelf *method.Snapshot) []namedAgent {
	if shelf == nil || !o.asksFor(config.ToolsetAgents) {
		return nil
	}
	taken := map[string]bool{}
	for name := range o.sets {
		taken[name] = true
	}
	return nameAgents(shelf.Catalog.Items(catalog.Agent), taken, func(n int, i catalog.Item) (names []string) {
		// The last one is for names without any allowed character.
		for _, name := range []string{strings.TrimPrefix(i.Name, "bmad-agent-"), i.Name, i.Source + "-" + i.Name, fmt.Sprintf("agent-%d", n+1)} {
			if safeName(name, notInTool) != "" {
				names = append(names, safeName(cmp.Or(i.Module, "bmad")+"-"+name, notInTool))
			}
		}
		return names
	})
}

var ownToolSchema = []byte(`{"type": "object", "properties": {"message": {"type": "string", "description": "what the human says to the agent"}}, "required": ["message"], "additionalProperties": false}`)

// ownArguments are the arguments of an agent's tool.
var ownArguments = definition{
	Schema: ownToolSchema, Example: `{"message": "help me think through an idea"}`, Arguments: []string{"cwd", "message"},
}.methodArguments()

// The bounds of a description: of the sentences and of each action, in bytes, and of the number of actions.
const maxOwnDescription, maxAction, maxActions = 400, 80, 12

// asTool describes an agent as a tool, with the agent's actions.
func (a namedAgent) asTool(actions []string) tool {
	description := visible.Fit("Returns what you need to act as "+a.title()+" of the BMAD method. "+a.Description, maxOwnDescription)
	for n, action := range actions[:min(len(actions), maxActions)] {
		if n == 0 {
			description += "\n\nAvailable actions:"
		}
		description += "\n• " + visible.Fit(action, maxAction)
	}
	return tool{name: a.name, title: a.title(), description: description, schema: ownToolSchema, reads: true, bare: true}
}

// maxInstalled bounds the names of items in a description, in bytes: a host cuts descriptions at 2,000 characters.
const maxInstalled = 1000

// installedKinds are the kinds of the items that the description of a tool names.
var installedKinds = map[string][]catalog.Kind{AgentTool: {catalog.Agent}, WorkflowTool: {catalog.Workflow, catalog.Task}}

// describeInstalled names what a tool can be called with, so that a model needs no list first. The names are of
// files that others wrote: no sentence gets through.
func describeInstalled(shelf *method.Snapshot, tool string) string {
	kinds := installedKinds[tool]
	if shelf == nil || kinds == nil {
		return ""
	}
	var names []string
	for _, i := range shelf.Catalog.Items(kinds...) {
		name := safeName(i.Short(), notInPrompt)
		if person := safeName(i.DisplayName, notInPrompt); person != "" && name != "" {
			name += " (" + person + ")"
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names, ", ")
	for n := len(names) - 1; len(text) > maxInstalled; n-- {
		text = fmt.Sprintf("%s and %d more, which %s lists", strings.Join(names[:n], ", "), len(names)-n, ResourcesTool)
	}
	return "\n\nInstalled: " + text + "."
}

// titleOf returns the title of an item of the method, after the persona's name if it has one.
func titleOf(i catalog.Item) string { return strings.Trim(i.DisplayName+", "+i.Title, ", ") }

// callOwn turns a call of an agent's tool into a call of bmad-agent. It also takes names of the form
// {module}.{agent}, as other servers of the method have them.
func (o *offer) callOwn(shelf *method.Snapshot, message *mcp.CallToolRequest) {
	name := strings.Replace(message.Params.Name, ".", "-", 1)
	for _, own := range o.ownTools(shelf) {
		if own.name != name {
			continue
		}
		args, err := ownArguments.Decode(rawArguments(*message))
		message.Params.Name, message.Params.Arguments, message.Params.RawArguments = AgentTool, misread{err}, nil
		if err == nil {
			args.Set("agent", own.Full())
			message.Params.Arguments = map[string]any(args)
		}
		return
	}
}

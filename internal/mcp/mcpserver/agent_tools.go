package mcpserver

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// In the toolset agents each agent is a tool of its own, named {module}-{agent}, beside
// bmad-resources and bmad-workflow, which it needs. The agents differ from caller to caller, so
// that the library does not know them: they are added to the list on its way out, and a call of
// one becomes a call of bmad-agent on its way in.

// maxToolName is the longest name of a tool that hosts accept.
const maxToolName = 64

// notInPrompt reports whether the name of a prompt, which people type in their script, cannot have a
// character.
func notInPrompt(r rune) bool {
	return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// notInTool is the same for the name of a tool.
func notInTool(r rune) bool { return r > unicode.MaxASCII || notInPrompt(r) }

// safeName returns a name without the characters that it cannot have.
func safeName(name string, cannot func(rune) bool) string {
	name = strings.Trim(strings.Join(strings.FieldsFunc(name, cannot), "-"), "-")
	return strings.TrimRight(visible.Head(name, maxToolName), "-")
}

// namedAgent is an agent of the method that is a tool or a prompt, under a name of its own.
type namedAgent struct {
	name string
	catalog.Item
}

// title returns the title of the agent, behind the name of its person if it has one.
func (a namedAgent) title() string { return cmp.Or(titleOf(a.Item), a.Name) }

// sights returns what a list shows of agents.
func sights(agents []namedAgent) []string {
	out := make([]string, len(agents))
	for i, a := range agents {
		out[i] = a.name + " " + a.title() + " " + a.Description
	}
	return out
}

// named returns agents under names of their own: of each, the first that is not taken.
func named(agents []catalog.Item, taken map[string]bool, names func(n int, i catalog.Item) []string) (out []namedAgent) {
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
	return named(shelf.Catalog.Items(catalog.Agent), taken, func(n int, i catalog.Item) (names []string) {
		// The last is for names without any character that is allowed.
		for _, name := range []string{strings.TrimPrefix(i.Name, "bmad-agent-"), i.Name, i.Source + "-" + i.Name, fmt.Sprintf("agent-%d", n+1)} {
			if safeName(name, notInTool) != "" {
				names = append(names, safeName(cmp.Or(i.Module, "bmad")+"-"+name, notInTool))
			}
		}
		return names
	})
}

var ownToolSchema = []byte(`{"type": "object", "properties": {"message": {"type": "string", "description": "what the human says to the agent"}}, "required": ["message"], "additionalProperties": false}`)

// ownArguments are those of such a tool.
var ownArguments = definition{
	Schema: ownToolSchema, Example: `{"message": "help me think through an idea"}`, Arguments: []string{"cwd", "message"},
}.methodArguments()

// The bounds of a description: of its sentences and of each action, in bytes, and of the number of actions.
const maxOwnDescription, maxAction, maxActions = 400, 80, 12

// tool describes an agent as a tool, with the actions that it offers.
func (a namedAgent) tool(actions []string) tool {
	description := visible.Fit("Returns what you need to act as "+a.title()+" of the BMAD method. "+a.Description, maxOwnDescription)
	for n, action := range actions[:min(len(actions), maxActions)] {
		if n == 0 {
			description += "\n\nAvailable actions:"
		}
		description += "\n• " + visible.Fit(action, maxAction)
	}
	return tool{name: a.name, title: a.title(), description: description, schema: ownToolSchema, reads: true, bare: true}
}

// titleOf returns the title of an item of the method, behind the name of its person if it has one.
func titleOf(i catalog.Item) string { return strings.Trim(i.DisplayName+", "+i.Title, ", ") }

// callOwn makes a call of an agent's tool one of bmad-agent. Other servers of the method name
// these tools {module}.{agent}, which is taken too.
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

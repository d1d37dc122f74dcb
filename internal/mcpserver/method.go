package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
)

// The toolsets: groups of tools that are offered together, because each definition costs the
// model's context.
const (
	// ToolsetAuto is ToolsetTask, and ToolsetMethod for callers for whom an installation of
	// the BMAD method is found.
	ToolsetAuto    = "auto"
	ToolsetTask    = "task"
	ToolsetMethod  = "method"
	ToolsetClassic = "method-classic"
	ToolsetAgents  = "agents"
)

// The tools of the method's toolsets.
const (
	ResourcesTool = "bmad-resources"
	WorkflowTool  = "bmad-workflow"
	AgentTool     = "bmad-agent"
)

// toolsets says which tools belong to which.
var toolsets = map[string][]string{
	ToolsetTask:    {TaskTool, ConfirmTool},
	ToolsetMethod:  {ResourcesTool, WorkflowTool, AgentTool},
	ToolsetClassic: {"list_workflows", "get_workflow_details", "execute_workflow", "list_tasks", "execute_task", "get_knowledge"},
}

// offers reports whether a toolset was asked for by name.
func (s *Server) offers(toolset string) bool { return slices.Contains(s.toolsets, toolset) }

// auto reports whether the toolsets go by what is found.
func (s *Server) auto() bool { return len(s.toolsets) == 0 || s.offers(ToolsetAuto) }

// servesMethod reports whether the method is served at all: as tools, and with them as
// prompts and resources.
func (s *Server) servesMethod() bool {
	return s.method != nil && (s.auto() || s.offers(ToolsetMethod) || s.offers(ToolsetClassic) || s.offers(ToolsetAgents))
}

// callable reports whether a tool may be called: one that is only not listed may, and then
// says what is missing.
func (s *Server) callable(name string) bool {
	switch {
	case slices.Contains(toolsets[ToolsetTask], name):
		return s.auto() || s.offers(ToolsetTask)
	case slices.Contains(toolsets[ToolsetMethod], name):
		return s.method != nil && (s.auto() || s.offers(ToolsetMethod) || s.offers(ToolsetAgents))
	case slices.Contains(toolsets[ToolsetClassic], name):
		return s.method != nil && s.offers(ToolsetClassic)
	}
	return true
}

// shelf returns what there is of the method for a caller; nil where the method is not served.
func (s *Server) shelf(base engine.Request) *method.Shelf {
	shelf, err := s.shelfOf(base)
	if err != nil {
		s.log.Debug("nothing of the method is listed", "error", err)
	}
	return shelf
}

// shelfOf returns the same, or what is wrong with the project that the caller names. One who
// names none has what is the person's, where it cannot be known which project is meant.
func (s *Server) shelfOf(base engine.Request) (*method.Shelf, error) {
	if !s.servesMethod() {
		return nil, nil
	}
	project, err := s.engine.Where(base)
	if err != nil && base.Cwd != "" {
		return nil, err
	}
	return s.method.At(project), nil
}

// addMethod offers the tools of the method.
func (s *Server) addMethod() {
	if !s.servesMethod() {
		return
	}
	s.wire.AddTool(s.described(resourcesTool()), s.reading(s.handleResources))
	s.wire.AddTool(s.described(workflowTool()), s.reading(s.handleWorkflow))
	s.wire.AddTool(s.described(agentTool()), s.reading(s.handleAgent))
	if s.offers(ToolsetClassic) {
		s.addClassic()
	}
	s.addMethodPrompts()
	s.addMethodResources()
}

// readingTool describes a tool that changes nothing.
func readingTool(name, title, description string, schema []byte) mcp.Tool {
	tool := newTool(name, title, description, schema, map[string]any{})
	tool.Annotations.ReadOnlyHint = mcp.ToBoolPtr(true)
	tool.Annotations.IdempotentHint = mcp.ToBoolPtr(true)
	return tool
}

// methodHandler answers a call of one of the method's tools with a text.
type methodHandler func(shelf *method.Shelf, args arguments) (string, error)

// reading turns a handler into one of the library's.
func (s *Server) reading(handle methodHandler) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := decodeArguments(call)
		if err != nil {
			return failure(err), nil
		}
		req := engine.Request{By: caller(ctx), Client: s.client(ctx), Cwd: args.text("cwd")}
		if ask := s.place(ctx, call, &req); ask != nil {
			return ask, nil
		}
		shelf, err := s.shelfOf(req)
		if err != nil {
			return failure(err), nil
		}
		text, err := handle(shelf, args)
		if err == nil {
			err = args.rest()
		}
		if err != nil {
			s.log.Info("refused", "tool", call.Params.Name, "error", err)
			return failure(err), nil
		}
		return mcp.NewToolResultText(text), nil
	}
}

// arguments are those of a call, as they came.
type arguments struct {
	given map[string]json.RawMessage
	// known are the names that the tool has, asked for so far; wrong is what could not be read.
	known *[]string
	wrong *error
}

func decodeArguments(call mcp.CallToolRequest) (arguments, error) {
	raw := rawArguments(call)
	args := arguments{given: map[string]json.RawMessage{}, known: &[]string{"cwd"}, wrong: new(error)}
	if err := checkEncoding(raw); err != nil {
		return args, err
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args.given); err != nil {
		return args, fault.New(fault.InvalidArgument, "the arguments are %s, not an object", strings.TrimSuffix(kind(raw), " with other values")).
			WithHint("call with an object of names and values")
	}
	return args, nil
}

// text returns an argument that is a text; "" where it is left out.
func (a arguments) text(name string) string {
	raw, ok := a.raw(name)
	if !ok {
		return ""
	}
	var out string
	if err := json.Unmarshal(raw, &out); err != nil {
		*a.wrong = fault.New(fault.InvalidArgument, "%s must be a text, not %s", name, kind(raw)).WithHint("correct the argument and call again")
	}
	return out
}

// words returns an argument that may be a text or an object, as a text.
func (a arguments) words(name string) string {
	raw, ok := a.raw(name)
	switch {
	case !ok || bytes.Equal(raw, []byte("{}")):
		return ""
	case raw[0] == '{':
		return string(raw)
	}
	return a.text(name)
}

func (a arguments) raw(name string) (json.RawMessage, bool) {
	if !slices.Contains(*a.known, name) {
		*a.known = append(*a.known, name)
	}
	raw, ok := a.given[name]
	raw = bytes.TrimSpace(raw)
	return raw, ok && string(raw) != "null"
}

// due returns an argument that the call cannot do without.
func (a arguments) due(name, example string) (string, error) {
	value := strings.TrimSpace(a.text(name))
	if *a.wrong == nil && value == "" {
		return "", fault.New(fault.InvalidArgument, "%s is missing", name).WithHint("pass it, such as %s", example)
	}
	return value, *a.wrong
}

// item returns the name of an item and the person's words about it, which are all that its
// tool takes.
func (a arguments) item(name, example, words string) (item, said string, err error) {
	if item, err = a.due(name, example); err != nil {
		return "", "", err
	}
	said = a.words(words)
	return item, said, a.rest()
}

// rest refuses what the tool does not know, and what could not be read.
func (a arguments) rest() error {
	if *a.wrong != nil {
		return *a.wrong
	}
	for name := range a.given {
		if !slices.Contains(*a.known, name) {
			return fault.New(fault.InvalidArgument, "unknown argument %q", clip(name)).WithHint("the arguments are: %s", strings.Join(*a.known, ", "))
		}
	}
	return nil
}

// encoded returns a list as the text of a result.
func encoded(v any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	data, err := method.Encode(v)
	return string(data), err
}

// ways are how a document's reader reaches what it names, by tools. cwd is the project that
// the caller has named; the next calls have to name it too.
func (s *Server) ways(cwd string) method.Ways {
	with := ""
	if cwd != "" {
		with = fmt.Sprintf(", cwd: %q", cwd)
	}
	if !s.auto() && !s.offers(ToolsetMethod) && !s.offers(ToolsetAgents) {
		return method.Ways{Read: "get_knowledge {domain: <address>" + with + "}", Workflow: "execute_workflow {workflow_name: …" + with + "}", Agent: "a prompt of this server"}
	}
	w := method.Ways{
		Read: fmt.Sprintf(`%s {operation: "read", uri: …%s}`, ResourcesTool, with), List: fmt.Sprintf(`%s {operation: "list", pattern: %%q%s}`, ResourcesTool, strings.ReplaceAll(with, "%", "%%")),
		Workflow: WorkflowTool + " {workflow: …" + with + "}", Agent: AgentTool + " {agent: …" + with + "}",
	}
	if !s.auto() && !s.offers(ToolsetMethod) {
		w.Agent = "its own tool"
	}
	return w
}

package mcpserver

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
)

var (
	//go:embed resources_description.md
	resourcesDescription string
	//go:embed resources_schema.json
	resourcesSchema []byte
	//go:embed workflow_description.md
	workflowDescription string
	//go:embed workflow_schema.json
	workflowSchema []byte
	//go:embed agent_description.md
	agentDescription string
	//go:embed agent_schema.json
	agentSchema []byte
)

// bmadTools serves the tools of the BMAD method.
type bmadTools struct {
	offer   *offer
	callers *callers
}

// bmadCall has the arguments of a call of one of these tools.
type bmadCall struct {
	cwd, item, words                     string
	operation, uri, pattern, query, kind string
	category, module, domain, cursor     string
}

// bmadFields are the arguments of all these tools.
var bmadFields = []arguments.Argument[bmadCall]{
	{Name: "cwd", Text: func(a *bmadCall) *string { return &a.cwd }},
	{Name: "operation", Text: func(a *bmadCall) *string { return &a.operation }},
	{Name: "uri", Text: func(a *bmadCall) *string { return &a.uri }},
	{Name: "pattern", Text: func(a *bmadCall) *string { return &a.pattern }},
	{Name: "query", Text: func(a *bmadCall) *string { return &a.query }},
	{Name: "type", Text: func(a *bmadCall) *string { return &a.kind }},
	{Name: "category", Text: func(a *bmadCall) *string { return &a.category }},
	{Name: "module", Text: func(a *bmadCall) *string { return &a.module }},
	{Name: "domain", Text: func(a *bmadCall) *string { return &a.domain }},
	{Name: "cursor", Text: func(a *bmadCall) *string { return &a.cursor }},
	{Name: "workflow", Text: itemOf}, {Name: "workflow_name", Text: itemOf}, {Name: "agent", Text: itemOf}, {Name: "task_name", Text: itemOf},
	{Name: "context", Read: readWords}, {Name: "message", Read: readWords}, {Name: "params", Read: readWords},
}

func itemOf(a *bmadCall) *string { return &a.item }

// readWords reads an argument that may be a text or an object, as a text.
func readWords(a *bmadCall, raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	switch {
	case bytes.Equal(raw, []byte("{}")):
		return nil
	case raw[0] == '{':
		a.words = string(raw)
		return nil
	}
	return arguments.Text(&a.words, raw)
}

var (
	resourcesArguments = arguments.Pick(bmadFields, resourcesSchema, `{"operation": "agents"}`, "cwd", "operation", "uri", "pattern", "query", "type", "cursor")
	workflowArguments  = arguments.Pick(bmadFields, workflowSchema, `{"workflow": "create-prd"}`, "cwd", "workflow", "context")
	agentArguments     = arguments.Pick(bmadFields, agentSchema, `{"agent": "analyst", "message": "help me think through an idea"}`, "cwd", "agent", "message")
)

// bmadHandler answers a call with a text.
type bmadHandler func(shelf *library.Snapshot, a bmadCall) (string, error)

// reading turns a handler into one of the library's.
func (b bmadTools) reading(args arguments.Set[bmadCall], handle bmadHandler) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := args.Decode(rawArguments(call))
		if err != nil {
			return b.callers.refuseCall(ctx, call, err), nil
		}
		req := b.callers.request(ctx)
		req.Cwd = a.cwd
		if ask := b.callers.place(ctx, call, &req); ask != nil {
			return ask, nil
		}
		shelf, err := b.offer.shelfOf(req)
		if err != nil {
			return b.callers.refuse(ctx, req, err), nil
		}
		text, err := handle(shelf.Speaking(func() lang.Language { return b.callers.engine.Language(ctx, req) }), a)
		if err != nil {
			b.offer.log.Info("refused", "tool", call.Params.Name, "error", err)
			return b.callers.refuse(ctx, req, err), nil
		}
		return mcp.NewToolResultText(text), nil
	}
}

// encode returns the JSON of a list, for the text of a result.
func encode(v any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	data, err := library.Encode(v)
	return string(data), err
}

// itemDocument returns the document of an item, with the person's words about it.
type itemDocument func(shelf *library.Snapshot, name, words string, w library.ToolNames) (string, error)

// item answers with the document of an item.
func (b bmadTools) item(document itemDocument) bmadHandler {
	return func(shelf *library.Snapshot, a bmadCall) (string, error) {
		return document(shelf, strings.TrimSpace(a.item), a.words, b.offer.ways(a.cwd))
	}
}

// itemKinds are the operations of bmad-resources that list items, and the types that its search
// takes.
var itemKinds = map[string]catalog.Kind{"agents": catalog.Agent, "workflows": catalog.Workflow, "tasks": catalog.Task}

// operations are those of bmad-resources.
var operations = []string{"read", "list", "modules", "agents", "workflows", "tasks", "search"}

func (b bmadTools) findOrRead(shelf *library.Snapshot, a bmadCall) (string, error) {
	switch operation := strings.TrimSpace(a.operation); operation {
	case "read":
		if strings.TrimSpace(a.uri) == "" {
			return "", fault.New(fault.InvalidArgument, "uri is missing").WithHint(`pass the address of a file, such as {"operation": "read", "uri": "bmad://config/current"}`)
		}
		return b.readText(shelf, a.uri, a.cwd)
	case "list":
		return encode(shelf.Files(a.pattern, a.cursor))
	case "modules":
		return encode(shelf.Modules(a.cursor))
	case "agents", "workflows", "tasks":
		return encode(shelf.Items(itemKinds[operation], "", "", a.cursor))
	case "search":
		var kinds []catalog.Kind
		if kind, ok := itemKinds[a.kind]; ok {
			kinds = append(kinds, kind)
		} else if a.kind != "" && a.kind != "all" {
			return "", fault.New(fault.InvalidArgument, "there is no type %q", clip(a.kind)).WithHint("the types are: agents, workflows, tasks, all")
		}
		return encode(shelf.Search(a.query, a.cursor, kinds...))
	default:
		return "", fault.New(fault.InvalidArgument, "there is no operation %q", clip(operation)).WithHint("the operations are: %s", strings.Join(operations, ", "))
	}
}

// readText returns a file as the text of a result: nothing precedes it, and of a long one it is
// the part that fits, with the address of the rest.
func (b bmadTools) readText(shelf *library.Snapshot, uri, cwd string) (string, error) {
	if ref, err := catalog.ParseRef(uri); err == nil && ref.Cwd != "" { // it names the project itself
		if shelf, err = b.offer.shelfOf(request.Request{Address: project.Address{Cwd: ref.Cwd}}); err != nil {
			return "", err
		}
	}
	r, err := shelf.Read(uri, library.MaxReply-300)
	if err != nil {
		return "", err
	}
	if r.Next == "" {
		return string(r.Data), nil
	}
	next := r.Next
	if cwd != "" {
		next += " with the same cwd"
	}
	return string(r.Data) + "\n[this file goes on: read " + next + "]", nil
}

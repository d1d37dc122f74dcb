package mcpserver

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
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

func resourcesTool() mcp.Tool {
	return readingTool(ResourcesTool, "BMAD method: find and read", resourcesDescription, resourcesSchema)
}

func workflowTool() mcp.Tool {
	return readingTool(WorkflowTool, "BMAD method: run a workflow", workflowDescription, workflowSchema)
}

func agentTool() mcp.Tool {
	return readingTool(AgentTool, "BMAD method: act as an agent", agentDescription, agentSchema)
}

// operations are those of bmad-resources.
var operations = []string{"read", "list", "modules", "agents", "workflows", "tasks", "search"}

func (s *Server) handleResources(shelf *library.Snapshot, args arguments) (string, error) {
	operation, err := args.due("operation", `{"operation": "agents"}`)
	if err != nil {
		return "", err
	}
	if !slices.Contains(operations, operation) {
		return "", fault.New(fault.InvalidArgument, "there is no operation %q", clip(operation)).WithHint("the operations are: %s", strings.Join(operations, ", "))
	}
	uri, pattern, query, of, cursor := args.text("uri"), args.text("pattern"), args.text("query"), args.text("type"), args.text("cursor")
	if err := args.rest(); err != nil {
		return "", err
	}
	switch operation {
	case "read":
		if strings.TrimSpace(uri) == "" {
			return "", fault.New(fault.InvalidArgument, "uri is missing").WithHint(`pass the address of a file, such as {"operation": "read", "uri": "bmad://config/current"}`)
		}
		return s.readText(shelf, uri, args.text("cwd"))
	case "list":
		return encoded(shelf.Files(pattern, cursor))
	case "modules":
		return encoded(shelf.Modules(cursor))
	case "agents":
		return encoded(shelf.Items(catalog.Agent, "", "", cursor))
	case "workflows":
		return encoded(shelf.Items(catalog.Workflow, "", "", cursor))
	case "tasks":
		return encoded(shelf.Items(catalog.Task, "", "", cursor))
	}
	kinds, ok := map[string][]catalog.Kind{
		"": nil, "all": nil, "agents": {catalog.Agent}, "workflows": {catalog.Workflow}, "tasks": {catalog.Task},
	}[of]
	if !ok {
		return "", fault.New(fault.InvalidArgument, "there is no type %q", clip(of)).WithHint("the types are: agents, workflows, tasks, all")
	}
	return encoded(shelf.Search(query, cursor, kinds...))
}

// readText returns a file as the text of a result: nothing is put before it, and of a long
// one the part that fits, with where the rest is.
func (s *Server) readText(shelf *library.Snapshot, uri, cwd string) (string, error) {
	if ref, err := catalog.ParseRef(uri); err == nil && ref.Cwd != "" { // it names the project itself
		if shelf, err = s.shelfOf(engine.Request{Cwd: ref.Cwd}); err != nil {
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
	if cwd != "" {
		return string(r.Data) + "\n[this file goes on: read " + r.Next + " with the same cwd]", nil
	}
	return string(r.Data) + "\n[this file goes on: read " + r.Next + "]", nil
}

func (s *Server) handleWorkflow(shelf *library.Snapshot, args arguments) (string, error) {
	name, words, err := args.item("workflow", `{"workflow": "create-prd"}`, "context")
	if err != nil {
		return "", err
	}
	return shelf.Workflow(name, words, s.ways(args.text("cwd")))
}

func (s *Server) handleAgent(shelf *library.Snapshot, args arguments) (string, error) {
	name, message, err := args.item("agent", `{"agent": "analyst", "message": "help me think through an idea"}`, "message")
	if err != nil {
		return "", err
	}
	return shelf.Agent(name, message, s.ways(args.text("cwd")))
}

package mcpserver

import (
	_ "embed"
	"encoding/json"

	"github.com/bmad-mcp/bmad-mcp/internal/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
)

// classicDefinitions has the descriptions and schemas of the toolset method-classic.
//
//go:embed classic_tools.json
var classicDefinitions []byte

// addClassic offers the tools of the toolset method-classic.
func (s *Server) addClassic() {
	handlers := map[string]methodHandler{
		"list_workflows":       listWorkflows,
		"get_workflow_details": workflowDetails,
		"execute_workflow":     s.executeWorkflow,
		"list_tasks":           listTasks,
		"execute_task":         s.executeTask,
		"get_knowledge":        knowledge,
	}
	var definitions []struct {
		Name, Title, Description string
		Schema                   json.RawMessage
	}
	if err := json.Unmarshal(classicDefinitions, &definitions); err != nil {
		panic(err) // it is part of the program
	}
	for _, d := range definitions {
		s.wire.AddTool(readingTool(d.Name, d.Title, d.Description, d.Schema), s.reading(handlers[d.Name]))
	}
}

func listWorkflows(shelf *method.Shelf, args arguments) (string, error) {
	category, module, cursor := args.text("category"), args.text("module"), args.text("cursor")
	if err := args.rest(); err != nil {
		return "", err
	}
	page, err := shelf.Items(catalog.Workflow, category, module, cursor)
	return encoded(page, err)
}

func workflowDetails(shelf *method.Shelf, args arguments) (string, error) {
	name, err := args.due("workflow_name", `{"workflow_name": "create-prd"}`)
	if err == nil {
		err = args.rest()
	}
	if err != nil {
		return "", err
	}
	details, err := shelf.Details(catalog.Workflow, name)
	return encoded(details, err)
}

func (s *Server) executeWorkflow(shelf *method.Shelf, args arguments) (string, error) {
	name, words, err := args.item("workflow_name", `{"workflow_name": "create-prd"}`, "params")
	if err != nil {
		return "", err
	}
	return shelf.Workflow(name, words, s.ways(args.text("cwd")))
}

func listTasks(shelf *method.Shelf, args arguments) (string, error) {
	cursor := args.text("cursor")
	if err := args.rest(); err != nil {
		return "", err
	}
	return encoded(shelf.Items(catalog.Task, "", "", cursor))
}

func (s *Server) executeTask(shelf *method.Shelf, args arguments) (string, error) {
	name, words, err := args.item("task_name", `{"task_name": "shard-doc"}`, "params")
	if err != nil {
		return "", err
	}
	return shelf.Task(name, words, s.ways(args.text("cwd")))
}

func knowledge(shelf *method.Shelf, args arguments) (string, error) {
	domain, cursor := args.text("domain"), args.text("cursor")
	if err := args.rest(); err != nil {
		return "", err
	}
	text, page, err := shelf.Knowledge(domain, cursor)
	if err != nil || text != "" {
		return text, err
	}
	return encoded(page, nil)
}

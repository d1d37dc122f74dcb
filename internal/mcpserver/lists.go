package mcpserver

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// looking returns what looks at one list of a caller.
func (s *Server) looking(ctx context.Context, base engine.Request, method string) func() (map[string]string, []string) {
	return func() (map[string]string, []string) { return s.states(ctx, base, []string{method}) }
}

// states returns what tells lists of a caller from others, by the notification of their
// change, and the folders in which they can change: the first is the project's, "" where
// there is none to follow.
func (s *Server) states(ctx context.Context, base engine.Request, methods []string) (map[string]string, []string) {
	out, folders := map[string]string{}, []string{""}
	shelf := s.shelf(base)
	for _, method := range methods {
		var names []string
		switch method {
		case mcp.MethodNotificationResourcesListChanged:
			listed, cwd := s.listed(ctx, base)
			folders[0] = cwd
			out[method] = fingerprint(append(listed, methodResources(shelf)...))
			continue
		case mcp.MethodNotificationToolsListChanged:
			for _, name := range toolsets[ToolsetMethod] {
				if s.lists(name, shelf) {
					names = append(names, name)
				}
			}
			for _, own := range s.ownTools(shelf) {
				names = append(names, own.name+" "+own.tool().Title+" "+own.agent.Description)
			}
		case mcp.MethodNotificationPromptsListChanged:
			for _, own := range s.ownPrompts(shelf) {
				names = append(names, own.name+" "+own.prompt().Title+" "+own.agent.Description)
			}
		}
		out[method] = strings.Join(names, "\n")
	}
	if shelf != nil {
		folders = append(folders, shelf.Folders()...)
	}
	return out, folders
}

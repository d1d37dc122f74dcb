package mcpserver

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// look looks at a subject for a caller: a list, or the resource at an address.
func (s *Server) look(ctx context.Context, base engine.Request, subject string) feed.Sight {
	if isList(subject) {
		return s.lookAtList(ctx, base, subject)
	}
	res, cwd, err := s.read(ctx, subject, base)
	if cwd == "" && base.Cwd == "" && len(base.Places) > 0 {
		cwd = base.Places[0] // what is not there yet will appear in the caller's project
	}
	seen := feed.Sight{Project: cwd}
	if cwd != "" && res.Path != "" {
		seen.Folders = []string{filepath.Dir(filepath.Join(cwd, filepath.FromSlash(res.Path)))}
	}
	if err == nil {
		seen.State = workflow.Hash([]byte(res.Text))
	}
	return seen
}

// lookAtList looks at one of the lists of a caller.
func (s *Server) lookAtList(ctx context.Context, base engine.Request, list string) feed.Sight {
	shelf := s.shelf(base)
	var names []string
	switch list {
	case mcp.MethodNotificationResourcesListChanged:
		listed, cwd := s.listed(ctx, base)
		return resourcesSight(append(listed, methodResources(shelf)...), cwd, shelf)
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
	return listSight(names, "", shelf)
}

// resourcesSight is the sight of a list of resources: by what is on it. That an entry has changed
// is another notification's matter.
func resourcesSight(listed []mcp.Resource, project string, shelf *method.Shelf) feed.Sight {
	uris := make([]string, len(listed))
	for i, r := range listed {
		uris[i] = r.URI
	}
	slices.Sort(uris)
	return listSight(uris, project, shelf)
}

func listSight(names []string, project string, shelf *method.Shelf) feed.Sight {
	seen := feed.Sight{State: strings.Join(names, "\n"), Project: project}
	if shelf != nil {
		seen.Folders = shelf.Folders()
	}
	return seen
}

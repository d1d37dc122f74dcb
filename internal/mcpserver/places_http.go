package mcpserver

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Over HTTP one server has many projects, and clients of several people. A call is for the
// folder its cwd names, else for the root that its client works in, as far as it is served,
// else for the served folder if that is itself a project. Where none of it says which project
// is meant, the call is refused: a folder of projects is no place for the work of one.

// placeServed does over HTTP what place does on stdio.
func (s *Server) placeServed(ctx context.Context, call mcp.CallToolRequest, req *engine.Request) *mcp.CallToolResult {
	if req.Cwd != "" {
		if req.Action == workflow.ActionStart && s.onlyHolds(req.Cwd) {
			return failure(fault.New(fault.InvalidArgument, "cwd %q is a folder of several projects, not a project", clip(req.Cwd)).
				WithHint("pass the folder of the one that is meant, such as %s; if all of it is one project, make it a repository, or start the server in it without --root", strings.Join(s.engine.ServedProjects(), ", ")))
		}
		return nil
	}
	roots, ask := s.servedRoots(ctx, &call)
	if ask != nil {
		return ask
	}
	req.Places = append(req.Places, s.served(roots, req.SessionID != "")...)
	return nil
}

// served returns where to look for a client with these roots. Several say where sessions may
// be, but not where to start one.
func (s *Server) served(roots []string, several bool) []string {
	var out []string
	for _, root := range roots {
		if s.engine.Serves(root) && (!s.isServed(root) || s.home() != "") {
			out = append(out, root)
		}
	}
	if len(out) > 1 && !several {
		out = nil
	}
	if home := s.home(); home != "" {
		out = append(out, home)
	}
	return out
}

// home is the folder of calls that do not say which project they are for: the one that the
// server was started in, or the only one it was told to serve if that is a project.
func (s *Server) home() string {
	switch p := s.places; {
	case p.Project != "":
		return p.Project
	case len(p.Served) == 1 && s.engine.IsProject(p.Served[0]):
		return p.Served[0]
	}
	return ""
}

// isServed reports whether a folder is one that the server was told to serve, and not one
// within it.
func (s *Server) isServed(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && slices.Contains(s.places.Served, filepath.Clean(real))
}

// onlyHolds reports whether a folder was given to serve the projects in it.
func (s *Server) onlyHolds(folder string) bool {
	return s.places.Project == "" && s.isServed(folder) && s.engine.HoldsProjects(folder)
}

// servedRoots returns the roots of a request's client, or the question for them, to be
// returned to it. call is nil where a request is no call of a tool and cannot ask.
func (s *Server) servedRoots(ctx context.Context, call *mcp.CallToolRequest) ([]string, *mcp.CallToolResult) {
	if mcpwire.Capabilities(ctx).Roots == nil {
		return nil, nil
	}
	if mcpwire.Modern(ctx) {
		// Nothing tells two windows of one program apart here, so nothing is remembered.
		if call == nil {
			return nil, nil
		}
		return clientRoots(ctx, *call)
	}
	client := clientKey(ctx)
	s.roots.mu.Lock()
	roots, known := s.roots.known[client]
	s.roots.mu.Unlock()
	if !known {
		// Asked once, not with each call: also a client that does not answer.
		roots = folders(mcpwire.Roots(ctx))
		s.roots.set(client, roots)
	}
	return roots, nil
}

// cwdOnStdio are the words by which schemas say what cwd is on stdio, with what else tells the
// project of such a call over HTTP.
var cwdOnStdio = map[string]string{
	"absolute path of the project folder; default: the folder the host works in": "session_id is given or your host tells its roots",
	"absolute path of the project, if not the one the server runs for":           "your host tells its roots",
}

// described says in a tool's schema what cwd is for the callers of a server for several
// clients; on stdio it is as it stands.
func (s *Server) described(tool mcp.Tool) mcp.Tool {
	if !s.places.Remote {
		return tool
	}
	home := s.home()
	schema := string(tool.RawInputSchema)
	for words, unless := range cwdOnStdio {
		here := "absolute path of the project folder, in " + strings.Join(s.places.Served, " or ")
		if home != "" {
			here += "; default: " + home
		} else {
			here += "; required unless " + unless
		}
		if text, err := json.Marshal(here); err == nil {
			schema = strings.Replace(schema, `"`+words+`"`, string(text), 1)
		}
	}
	tool.RawInputSchema = json.RawMessage(schema)
	return tool
}

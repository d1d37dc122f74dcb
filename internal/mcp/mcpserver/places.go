package mcpserver

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// placeCall adds the folders to search for a call without cwd: the host's project, the client's roots, the
// server's folder. A non-nil result is a question to the client, which then repeats the call, or a refusal.
func (c *callers) placeCall(ctx context.Context, call mcp.CallToolRequest, req *request.Request) *mcp.CallToolResult {
	req.Cwd = plainPath(req.Cwd)
	if c.places.Remote {
		return c.placeServed(ctx, call, req)
	}
	if req.Cwd != "" {
		req.Places = c.places.foldersFor(nil) // for the language of a refusal
		return c.checkFolder(ctx, call, *req)
	}
	var roots []string
	if c.places.byRoots() {
		var ask *mcp.CallToolResult
		if roots, ask = clientRoots(ctx, call); ask != nil {
			return ask
		}
		if roots != nil {
			c.roots.set(mcpwire.ClientKey(ctx), roots)
		}
	}
	c.addPlaces(req, roots)
	return nil
}

// baseRequest returns an engine request for a caller without a tool call, with the folders to search.
func (c *callers) baseRequest(ctx context.Context) request.Request {
	req := c.requestFrom(ctx)
	var roots []string
	if c.places.Remote || c.places.byRoots() {
		roots = c.roots.rootsFor(ctx)
	}
	c.addPlaces(&req, roots)
	return req
}

// addPlaces adds the folders to search for a client with these roots, the likeliest first. Several roots are
// searched for sessions, but none of them is the place of a new session.
func (c *callers) addPlaces(req *request.Request, roots []string) {
	around, found := c.places.foldersFor, roots
	if c.places.Remote {
		roots = slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
			if !c.engine.Projects().Serves(root) {
				return true
			}
			return c.isServed(root) && c.defaultFolder() == ""
		})
		around, found = c.withHome, c.withHome(roots)
	}
	req.Several = len(found) > 1
	if len(roots) > 1 && req.Session == "" {
		roots = nil
	}
	req.Places = append(req.Places, around(roots)...)
}

// refuseCall is failureResult for a call with arguments not read yet.
func (c *callers) refuseCall(ctx context.Context, call mcp.CallToolRequest, err error) *mcp.CallToolResult {
	req := c.baseRequest(ctx)
	var given map[string]json.RawMessage
	_ = json.Unmarshal(rawArguments(call), &given) // without arguments, the call is for no session
	for name, field := range map[string]*string{"session_id": &req.Session, "cwd": &req.Cwd, "objective": &req.Objective} {
		if json.Unmarshal(given[name], field) != nil {
			*field = "" // a malformed argument counts as a missing one
		}
	}
	return c.failureResult(ctx, req, err)
}

// Over HTTP one server has many projects, and clients of several people. A call is for the folder in cwd,
// else for the client's root if it is served, else for the served folder if this is a project. Otherwise the
// call is refused: the work of one project does not belong into a folder of several.

// placeServed is placeCall over HTTP.
func (c *callers) placeServed(ctx context.Context, call mcp.CallToolRequest, req *request.Request) *mcp.CallToolResult {
	if req.Cwd != "" {
		if req.Action == workflow.ActionStart && c.onlyHolds(req.Cwd) {
			return c.failureResult(ctx, *req, fault.New(fault.InvalidArgument, "cwd %q is a folder of several projects, not a project", clipText(req.Cwd)).
				WithHint("pass the folder of the one that is meant, such as %s; if all of it is one project, make it a repository, or start the server in it without --root", strings.Join(c.engine.Projects().Some(), ", ")))
		}
		return nil
	}
	roots := c.roots.rootsFor(ctx)
	if server.IsModernRequest(ctx) {
		var ask *mcp.CallToolResult
		if roots, ask = clientRoots(ctx, call); ask != nil {
			return ask
		}
	}
	c.addPlaces(req, roots)
	return nil
}

// withHome returns roots followed by the default folder, if there is one.
func (c *callers) withHome(roots []string) []string {
	if home := c.defaultFolder(); home != "" {
		return append(slices.Clone(roots), home)
	}
	return roots
}

// defaultFolder returns the folder of calls without a project: the project in which the server was started,
// or the only served folder if it is a project.
func (c *callers) defaultFolder() string {
	switch p := c.places; {
	case p.Project != "":
		return p.Project
	case len(p.Served) == 1 && project.Is(p.Served[0]):
		return p.Served[0]
	}
	return ""
}

// isServed reports whether a folder is one of the served folders, and not just inside one.
func (c *callers) isServed(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && slices.Contains(c.places.Served, filepath.Clean(real))
}

// onlyHolds reports whether a folder is served for the projects in it, and is not a project.
func (c *callers) onlyHolds(folder string) bool {
	return c.places.Project == "" && c.isServed(folder) && project.Holds(folder)
}

// cwdOnStdio are the descriptions of cwd in the embedded schemas, which are for stdio. Each comes with the
// condition under which a call over HTTP needs no cwd.
var cwdOnStdio = map[string]string{
	"absolute path of the project folder; default: the folder the host works in": "session_id is given or your host tells its roots",
	"absolute path of the project, if not the one the server runs for":           "your host tells its roots",
}

// leanCwd adds cwd to the schema of a lean tool, with a description of cwdOnStdio.
const leanCwd = `"properties":{"cwd":{"type":"string","description":"absolute path of the project, if not the one the server runs for"},`

// schemaFor returns a tool's schema, with cwd described for the callers of this server. A lean tool always
// takes cwd, and lists it only if a call has no other way to name the project.
func (c *callers) schemaFor(t tool) json.RawMessage {
	if !c.places.Remote {
		return t.schema
	}
	home := c.defaultFolder()
	schema := string(t.schema)
	if t.lean && home == "" {
		schema = strings.Replace(schema, `"properties": {`, leanCwd, 1)
	}
	for words, unless := range cwdOnStdio {
		here := "absolute path of the project folder, in " + strings.Join(c.places.Served, " or ")
		if home != "" {
			here += "; default: " + home
		} else {
			here += "; required unless " + unless
		}
		if text, err := json.Marshal(here); err == nil {
			schema = strings.Replace(schema, `"`+words+`"`, string(text), 1)
		}
	}
	return json.RawMessage(schema)
}

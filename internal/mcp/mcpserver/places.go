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

// place adds the folders in which to look for a call without cwd: the host's project, the
// client's roots, the server's folder. A non-nil result is a question for the client, which then
// repeats the call, or a refusal.
func (c *callers) place(ctx context.Context, call mcp.CallToolRequest, req *request.Request) *mcp.CallToolResult {
	if c.places.Remote {
		return c.placeServed(ctx, call, req)
	}
	if req.Cwd != "" {
		req.Places = c.places.with(nil) // a refusal speaks the language of the work there
		return c.reachable(ctx, call, *req)
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
	c.look(req, roots)
	return nil
}

// base returns the request of a caller that calls no tool, with the folders in which to look.
func (c *callers) base(ctx context.Context) request.Request {
	req := c.request(ctx)
	var roots []string
	if c.places.Remote || c.places.byRoots() {
		roots = c.roots.of(ctx)
	}
	c.look(&req, roots)
	return req
}

// look adds the folders in which to look for a client with these roots, the likeliest first. Several
// roots are places of sessions, but do not decide in which to start one.
func (c *callers) look(req *request.Request, roots []string) {
	around, found := c.places.with, roots
	if c.places.Remote {
		roots = slices.DeleteFunc(slices.Clone(roots), func(root string) bool {
			return !c.engine.Projects().Serves(root) || c.isServed(root) && c.home() == ""
		})
		around, found = c.withHome, c.withHome(roots)
	}
	req.Several = len(found) > 1
	if len(roots) > 1 && req.Session == "" {
		roots = nil
	}
	req.Places = append(req.Places, around(roots)...)
}

// refuseCall is refuse for a call whose arguments are not read yet.
func (c *callers) refuseCall(ctx context.Context, call mcp.CallToolRequest, err error) *mcp.CallToolResult {
	req := c.base(ctx)
	var given map[string]json.RawMessage
	_ = json.Unmarshal(rawArguments(call), &given) // without arguments it is a call for no session
	for name, field := range map[string]*string{"session_id": &req.Session, "cwd": &req.Cwd, "objective": &req.Objective} {
		if json.Unmarshal(given[name], field) != nil {
			*field = "" // the refusal is about this argument, or comes before it
		}
	}
	return c.refuse(ctx, req, err)
}

// Over HTTP one server has many projects, and clients of several people. A call is for the
// folder its cwd names, else for the root that its client works in, as far as it is served,
// else for the served folder if that is itself a project. Otherwise the call is refused: the
// work of one project does not belong into a folder of several.

// placeServed is place over HTTP.
func (c *callers) placeServed(ctx context.Context, call mcp.CallToolRequest, req *request.Request) *mcp.CallToolResult {
	if req.Cwd != "" {
		if req.Action == workflow.ActionStart && c.onlyHolds(req.Cwd) {
			return c.refuse(ctx, *req, fault.New(fault.InvalidArgument, "cwd %q is a folder of several projects, not a project", clip(req.Cwd)).
				WithHint("pass the folder of the one that is meant, such as %s; if all of it is one project, make it a repository, or start the server in it without --root", strings.Join(c.engine.Projects().Some(), ", ")))
		}
		return nil
	}
	roots := c.roots.of(ctx)
	if server.IsModernRequest(ctx) {
		var ask *mcp.CallToolResult
		if roots, ask = clientRoots(ctx, call); ask != nil {
			return ask
		}
	}
	c.look(req, roots)
	return nil
}

// withHome returns roots that are served, and the folder of calls that do not say where.
func (c *callers) withHome(roots []string) []string {
	if home := c.home(); home != "" {
		return append(slices.Clone(roots), home)
	}
	return roots
}

// home returns the folder of calls that do not say which project they are for: the one that the
// server was started in, or the only one it was told to serve if that is a project.
func (c *callers) home() string {
	switch p := c.places; {
	case p.Project != "":
		return p.Project
	case len(p.Served) == 1 && project.Is(p.Served[0]):
		return p.Served[0]
	}
	return ""
}

// isServed reports whether a folder is one of those that the server was told to serve, and not
// just inside one.
func (c *callers) isServed(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && slices.Contains(c.places.Served, filepath.Clean(real))
}

// onlyHolds reports whether a folder was given to serve the projects in it.
func (c *callers) onlyHolds(folder string) bool {
	return c.places.Project == "" && c.isServed(folder) && project.Holds(folder)
}

// cwdOnStdio are the descriptions of cwd in the schemas, which are those on stdio, each with the
// condition under which a call over HTTP can do without it.
var cwdOnStdio = map[string]string{
	"absolute path of the project folder; default: the folder the host works in": "session_id is given or your host tells its roots",
	"absolute path of the project, if not the one the server runs for":           "your host tells its roots",
}

// leanCwd adds cwd to the schema of a lean tool, with a description of cwdOnStdio.
const leanCwd = `"properties":{"cwd":{"type":"string","description":"absolute path of the project, if not the one the server runs for"},`

// schema describes cwd in a tool's schema as it is for the callers of this server. A lean tool
// takes it everywhere, and lists it if only that names the project.
func (c *callers) schema(t tool) json.RawMessage {
	if !c.places.Remote {
		return t.schema
	}
	home := c.home()
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

package mcpserver

import (
	"context"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// pathRows is the most rows of a path in a form. Hosts show few rows, and of a longer path the person would
// see, and allow, only the beginning.
const pathRows = 2

// Reach decides which folders the client on stdio may use.
type Reach interface {
	// SetRoots sets the folders open in the client.
	SetRoots(folders []string)
	// Includes reports whether a folder may be used.
	Includes(folder string) bool
	// Askable returns the real path of a folder, and whether the person may be asked to allow it.
	Askable(folder string) (real string, ok bool)
	// Allow and Deny record the person's answer for a folder, named by the real path. counts is false if the
	// rules keep the folder out all the same.
	Allow(ctx context.Context, real string) (counts bool, err error)
	Deny(real string)
}

// checkFolder checks the folder in a call: it asks the client for roots, and then the person, if either could
// allow the folder. The result is the question or the refusal; nil leaves the decision to the engine.
func (c *callers) checkFolder(ctx context.Context, call mcp.CallToolRequest, req request.Request) *mcp.CallToolResult {
	if c.reach == nil {
		return nil
	}
	state := call.Params.RequestState
	switch {
	case state == rootsKey:
		c.roots.set(mcpwire.ClientKey(ctx), rootFolders(server.RootsResponse(call.Params.InputResponses, rootsKey)))
	case strings.HasPrefix(state, folderPrefix):
		if result := c.folderAnswered(ctx, call, state, req); result != nil {
			return result
		}
	}
	if c.reach.Includes(req.Cwd) || strings.HasPrefix(state, folderPrefix) {
		return nil // a call asks at most once
	}
	// Modern clients do not report changes of their roots.
	_, known := c.roots.get(mcpwire.ClientKey(ctx))
	mayHaveChanged := server.IsModernRequest(ctx) && state == ""
	if !known || mayHaveChanged {
		if _, ask := clientRoots(ctx, call); ask != nil {
			return ask
		}
	}
	return c.askFolder(ctx, req)
}

// askFolder asks the person whether a folder may be used; nil if they cannot be asked.
func (c *callers) askFolder(ctx context.Context, req request.Request) *mcp.CallToolResult {
	client := mcpwire.ClientKey(ctx)
	real, askable := c.reach.Askable(req.Cwd)
	lines, fits := wrapPath(quotePath(real))
	if !askable || !fits || !showsForms(ctx) || c.forms.isSilent(client) {
		return nil
	}
	style := styleOf(ctx)
	asks := style.folderSheet(c.engine.Language(ctx, req), lines) // the language of other folders: this one is not read yet
	state, _ := c.forms.addForm(folderPrefix, form{cwd: real, client: client, limit: gate.FormTimeout, held: !server.IsModernRequest(ctx), sheet: asks})
	if state == "" {
		return nil
	}
	c.log.Info("asked about a folder", "folder", real)
	return server.NewInputRequestBuilder(state).Elicit(formKey, style.elicitation(asks)).ToolResult()
}

// quotePath returns a path for a form: in quotes if it could be mistaken for words.
func quotePath(path string) string {
	if strings.ContainsAny(path, " ?!,;\"'") {
		return strconv.Quote(path)
	}
	return path
}

// wrapPath breaks a path into rows that fit a host's window; ok is false for more than pathRows.
func wrapPath(path string) (lines string, ok bool) {
	var rows []string
	for path != "" {
		row := visible.Cut(path, messageColumns, "")
		rows, path = append(rows, row), path[len(row):]
	}
	return strings.Join(rows, "\n"), len(rows) <= pathRows
}

// folderAnswered takes the answer to a form about a folder. A program may have made it up, so the answer
// counts only if it is an offered choice, given in human time, for the folder in the form.
func (c *callers) folderAnswered(ctx context.Context, call mcp.CallToolRequest, state string, req request.Request) *mcp.CallToolResult {
	client := mcpwire.ClientKey(ctx)
	f := c.forms.takeOpen(state, client)
	if f == nil {
		return nil // never sent, or answered before
	}
	if real, _ := c.reach.Askable(req.Cwd); real != f.cwd {
		return nil // the call names another folder than the form
	}
	answer := server.ElicitationResponse(call.Params.InputResponses, formKey)
	took := c.forms.now().Sub(f.asked)
	refused := func(why lang.Text) *mcp.CallToolResult {
		c.log.Info("a folder was not allowed", "folder", f.cwd, "why", why.String())
		return c.failureResult(ctx, req, fault.New(fault.NotAllowed, "bmad-mcp may not work in %q: %s", req.Cwd, why).
			WithHint("tell the person; they can add the folder in a terminal: bmad-mcp projects add DIR"))
	}
	switch {
	case took < humanTime:
		c.forms.setSilent(client, true)
		return refused(lang.T("no person has seen the form"))
	case answer == nil || took >= f.limit:
		return refused(lang.T("the form was not answered in time"))
	}
	if answer.Action != mcp.ElicitationResponseActionAccept {
		c.reach.Deny(f.cwd)
		return refused(lang.T("the form was closed or declined"))
	}
	filled, why := f.sheet.readAnswer(answer.Content)
	switch filled[decisionField] {
	case allowFolder:
		counts, err := c.reach.Allow(ctx, f.cwd)
		if !counts {
			return refused(lang.T("it is not an existing folder, or another than the form has shown"))
		}
		if err != nil {
			c.log.Warn("the folder is allowed until the server ends, but not remembered", "folder", f.cwd, "error", err)
		}
		return nil
	case denyFolder:
		c.reach.Deny(f.cwd)
		return refused(lang.T("the person does not allow it"))
	case notNow:
		return refused(lang.T("the person has not decided"))
	}
	return refused(lang.T("the host's answer to the form cannot be used: %s", why))
}

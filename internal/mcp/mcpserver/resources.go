package mcpserver

import (
	"cmp"
	"context"
	_ "embed"
	"path"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// listedSessions bounds the sessions in a list of resources, which hosts show to people and models. Addresses
// of older sessions can be completed, and are in the list of sessions.
const listedSessions = 10

// resources serves the views of the tool as resources, for hosts that show resources.
type resources struct {
	*callers
	offer  *offer
	memory *memory.Memory

	// all are the resources for every caller.
	all []mcp.Resource
}

// addTo adds the resources to a server of the library.
func (r *resources) addTo(s *server.MCPServer) {
	add := func(uri, name, title, description, mime string) {
		res := mcp.NewResource(uri, name, mcp.WithResourceDescription(description), mcp.WithMIMEType(mime))
		res.Title = title
		s.AddResource(res, r.serveResource)
		r.all = append(r.all, res)
	}
	add(sessionsURI, "sessions", "BMAD sessions", "The sessions of the project, the ones changed last first.", "application/json")
	add(workflowURI, "workflow", "BMAD state diagram", "The states of a stage and what moves between them, as a mermaid diagram.", "text/markdown")

	addReviewApp(s)
	if r.offer.servesMemory() {
		add(museumURI, "memory/museum", "BMAD failures", "The failures that the project remembers, with their lessons and rules.", "application/json")
		for _, t := range notes.Types() {
			add(notesURI+string(t), "memory/"+string(t), "BMAD notes: "+string(t), "The notes of this type in the project memory, the newest first.", "application/json")
		}
	}

	template := func(uri, name, title, description, mime string) {
		t := mcp.NewResourceTemplate(uri, name, mcp.WithTemplateDescription(description), mcp.WithTemplateMIMEType(mime))
		t.Title = title
		s.AddResourceTemplate(t, r.serveResource)
	}
	template(sessionsTemplate, "sessions-of", "BMAD sessions of a project", "The sessions of the project in the folder cwd.", "application/json")
	template(sessionTemplate, "session", "BMAD session", "A session as its file has it: stages, scores, questions, answers, grants. id may be the task name.", "application/json")
	template(historyTemplate, "history", "BMAD history", "What happened to a session: when, by whom, by whose decision.", "application/json")
	template(artifactTemplate, "artifact", "BMAD artifact", "A saved document of a task, by its file name or its stage.", "text/markdown")
	if r.offer.servesMemory() {
		template(museumURI+"{?cwd}", "memory-museum", "BMAD failures of a project", "The failures that a project remembers.", "application/json")
		template(notesURI+"{type}{?cwd}", "memory-notes", "BMAD notes", "The notes of a type in a project's memory.", "application/json")
		template(memoryFileURI+"{+path}{?cwd}", "memory-file", "File of a BMAD memory",
			"A file that a kit keeps in a project's memory, as it is, such as _bmad/_memory/shared-context.md.", "text/markdown")
		template(agentMemoryURI+"{agent}{?cwd}", "memory-agent", "BMAD learnings of an agent", "What an agent has learned in a project.", "application/json")
	}
	if r.offer.hasMethod() {
		template(bmadScheme+"{+path}", "bmad-file", "File of the BMAD method",
			"A file of the installed BMAD method as it is, such as bmad://_bmad/bmm/config.yaml; with ?view=resolved its text with placeholders filled in.", "")
	}
}

// serveResource answers a request for a resource.
func (r *resources) serveResource(ctx context.Context, call mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	res, err := r.readSafely(ctx, call.Params.URI)
	if err != nil {
		failure := r.protocolError(ctx, r.requestAbout(ctx, call.Params.URI), err, "uri", call.Params.URI)
		switch fault.From(err).Code {
		case fault.NotFound:
			failure.Code = mcpwire.NotFoundCode(ctx)
		case fault.InvalidArgument:
			failure.Code = mcp.INVALID_PARAMS
		}
		return nil, failure
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: call.Params.URI, MIMEType: res.MIMEType, Text: res.Text}}, nil
}

// requestAbout returns a request for the session and project in a resource's address, as far as it has them.
func (r *resources) requestAbout(ctx context.Context, uri string) request.Request {
	base := r.baseRequest(ctx)
	if a, err := parseAddress(uri); err == nil {
		base.Session, base.Cwd = a.session, cmp.Or(a.cwd, base.Cwd)
	} else if ref, err := catalog.ParseRef(uri); err == nil {
		base.Cwd = cmp.Or(ref.Cwd, base.Cwd)
	}
	return base
}

// readSafely reads the resource at an address, and turns a panic into an error.
func (r *resources) readSafely(ctx context.Context, uri string) (res reply.Resource, err error) {
	defer mcpwire.Caught(r.log, "resource", uri, &err)
	res, _, err = r.readResource(ctx, uri, r.baseRequest(ctx))
	return res, err
}

// readResource returns the resource at an address, for a caller at base, and the folder of the project.
func (r *resources) readResource(ctx context.Context, uri string, base request.Request) (reply.Resource, string, error) {
	if r.offer.servesMemory() && strings.HasPrefix(uri, memoryScheme) {
		return readMemory(ctx, r.engine, r.memory, uri, base)
	}
	if r.offer.hasMethod() && strings.HasPrefix(uri, bmadScheme) {
		return r.offer.readBMAD(uri, base)
	}
	a, err := parseAddress(uri)
	if err != nil {
		return reply.Resource{}, "", err
	}
	base.Session = a.session
	if a.cwd != "" {
		base.Cwd = a.cwd
	}
	if a.view == engine.ViewReview {
		return renderReview(ctx, r.engine, a, base)
	}
	return r.engine.Resource(ctx, base.Address, a.view)
}

// documentTitle turns a document's file name into a title, for example 01-product-requirements.md into
// "product requirements".
func documentTitle(file string) string {
	name := strings.TrimLeft(strings.TrimSuffix(file, path.Ext(file)), "0123456789-")
	return strings.ReplaceAll(name, "-", " ")
}

// resourceOrder returns a sort key of a resource in a list: runs waiting for the person come first.
func resourceOrder(r mcp.Resource) string {
	if r.Annotations != nil && r.Annotations.Priority != nil {
		return "0 " + r.Name
	}
	return "1 " + r.Name
}

// forProject returns the resources of the caller's project, and the project's folder. An unknown or
// unreadable project has none: the list must not fail for it.
func (r *resources) forProject(ctx context.Context, base request.Request) ([]mcp.Resource, string) {
	entries, cwd, err := r.engine.Index(ctx, base.Address, listedSessions)
	if err != nil {
		r.log.Debug("no resources are listed", "error", err)
		return nil, ""
	}
	out, most := make([]mcp.Resource, 0, len(entries)), 1.0
	for _, e := range entries {
		task, size := e.Session.TaskName, e.Size
		res := mcp.Resource{URI: artifactURI(task, e.View), Name: task + "/" + e.View, Title: task + ": " + documentTitle(e.View), MIMEType: "text/markdown", Size: &size}
		res.Annotations = &mcp.Annotations{LastModified: e.Changed.UTC().Format(time.RFC3339)}
		if e.View == engine.ViewSession {
			state := strings.ReplaceAll(string(e.Session.CurrentState), "_", " ")
			res.URI, res.Name, res.MIMEType = sessionURI(e.Session.SessionID), task, "application/json"
			res.Title, res.Description = task+": the run, "+state, string(e.Session.CurrentStage)+", "+state
			if e.Session.CurrentState.WaitsForHuman() {
				res.Title, res.Annotations.Priority = task+": waits for you at "+string(e.Session.CurrentStage), &most
			}
		}
		out = append(out, res)
	}
	if r.offer.servesMemory() {
		out = append(out, memoryFiles(ctx, r.engine, r.memory, base)...)
	}
	return out, cwd
}

package mcpserver

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed icon.svg
var icon []byte

// icons returns the icon of everything this server lists.
func icons() []mcp.Icon {
	return []mcp.Icon{{
		Src: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"},
	}}
}

// listedSessions bounds the sessions in a list of resources: hosts show the list to people
// and put it before models. The address of an older one can be completed, and is known
// from the list of sessions.
const listedSessions = 10

// addResources offers what the tool tells too, for hosts that show resources.
func (s *Server) addResources() {
	add := func(uri, name, title, description, mime string) {
		r := mcp.NewResource(uri, name, mcp.WithResourceDescription(description), mcp.WithMIMEType(mime))
		r.Title = title
		s.wire.AddResource(r, s.readResource)
		s.resources = append(s.resources, r)
	}
	add(sessionsURI, "sessions", "BMAD sessions", "The sessions of the project, the ones changed last first.", "application/json")
	add(workflowURI, "workflow", "BMAD state diagram", "The states of a stage and what moves between them, as a mermaid diagram.", "text/markdown")

	template := func(uri, name, title, description, mime string) {
		t := mcp.NewResourceTemplate(uri, name, mcp.WithTemplateDescription(description), mcp.WithTemplateMIMEType(mime))
		t.Title = title
		s.wire.AddResourceTemplate(t, s.readResource)
	}
	template(sessionsTemplate, "sessions-of", "BMAD sessions of a project", "The sessions of the project in the folder cwd.", "application/json")
	template(sessionTemplate, "session", "BMAD session", "A session as its file has it: stages, scores, questions, answers, grants. id may be the task name.", "application/json")
	template(historyTemplate, "history", "BMAD history", "What happened to a session: when, by whom, by whose decision.", "application/json")
	template(artifactTemplate, "artifact", "BMAD artifact", "A saved document of a task, by its file name or its stage.", "text/markdown")
}

func (s *Server) readResource(ctx context.Context, call mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	res, err := s.readSafely(ctx, call.Params.URI)
	if err != nil {
		f := NewFailure(err)
		failure := mcpwire.Error{Text: fmt.Sprintf("%s (%s)", f.Error, f.Hint), Data: map[string]any{"uri": call.Params.URI, "code": f.Code, "hint": f.Hint}}
		switch f.Code {
		case fault.NotFound:
			failure.Code = mcpwire.NotFoundCode(ctx)
		case fault.InvalidArgument:
			failure.Code = mcp.INVALID_PARAMS
		}
		return nil, failure
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: call.Params.URI, MIMEType: res.MIMEType, Text: res.Text}}, nil
}

// readSafely reads the resource at an address; a panic is an error of it.
func (s *Server) readSafely(ctx context.Context, uri string) (res engine.Resource, err error) {
	defer mcpwire.Caught(s.log, "resource", uri, &err)
	res, _, err = s.read(ctx, uri, s.base(ctx))
	return res, err
}

// read returns the resource at an address, for a caller at base, and its project.
func (s *Server) read(ctx context.Context, uri string, base engine.Request) (engine.Resource, string, error) {
	if s.servesMethod() && strings.HasPrefix(uri, methodScheme) {
		return s.readMethod(uri, base)
	}
	a, err := parseAddress(uri)
	if err != nil {
		return engine.Resource{}, "", err
	}
	base.SessionID = a.session
	if a.cwd != "" {
		base.Cwd = a.cwd
	}
	return s.engine.Resource(ctx, base, a.view)
}

// listResources makes the list of resources that of its caller: with what there is in the
// caller's project. A project that is not known, or cannot be read, adds nothing: the list
// must not fail for it.
func (s *Server) listResources(ctx context.Context, _ any, message *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	base := s.base(ctx)
	shelf := s.shelf(base)
	listed, cwd := s.listed(ctx, base)
	ofMethod := methodResources(shelf)
	all := slices.Concat(s.resources, listed, ofMethod)
	for _, r := range result.Resources { // what only this session has
		if !slices.ContainsFunc(all, func(known mcp.Resource) bool { return known.URI == r.URI }) {
			all = append(all, r)
		}
	}
	result.Resources, result.NextCursor = pageOf(all, message.Params.Cursor, func(r mcp.Resource) string { return r.Name })
	s.subscriptions.listed(ctx, base, mcp.MethodNotificationResourcesListChanged, func() feed.Sight { // without looking again
		return resourcesSight(slices.Concat(listed, ofMethod), cwd, shelf)
	})
}

// listed returns the resources of the caller's project, and its folder.
func (s *Server) listed(ctx context.Context, base engine.Request) ([]mcp.Resource, string) {
	entries, cwd, err := s.engine.Index(ctx, base, listedSessions)
	if err != nil {
		s.log.Debug("no resources are listed", "error", err)
		return nil, ""
	}
	out := make([]mcp.Resource, 0, len(entries))
	for _, e := range entries {
		size := e.Size
		r := mcp.Resource{URI: artifactURI(e.Session.TaskName, e.View), Name: e.Session.TaskName + "/" + e.View, MIMEType: "text/markdown", Size: &size}
		if e.View == engine.ViewSession {
			r.URI, r.Name, r.MIMEType = sessionURI(e.Session.SessionID), e.Session.TaskName, "application/json"
			r.Description = string(e.Session.CurrentStage) + ", " + strings.ReplaceAll(string(e.Session.CurrentState), "_", " ")
		}
		r.Annotations = &mcp.Annotations{LastModified: e.Changed.UTC().Format(time.RFC3339)}
		out = append(out, r)
	}
	return out, cwd
}

// maxCompletions is what the protocol allows in one answer.
const maxCompletions = 100

// completions completes the arguments of prompts and templates.
type completions struct{ s *Server }

var (
	_ server.PromptCompletionProvider   = completions{}
	_ server.ResourceCompletionProvider = completions{}
)

// CompletePromptArgument completes the arguments of prompts.
func (c completions) CompletePromptArgument(ctx context.Context, _ string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, argument, given), nil
}

// CompleteResourceArgument completes the parts of addresses.
func (c completions) CompleteResourceArgument(ctx context.Context, _ string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, argument, given), nil
}

func (c completions) complete(ctx context.Context, argument mcp.CompleteArgument, given mcp.CompleteContext) *mcp.Completion {
	var err error
	defer mcpwire.Caught(c.s.log, "completion", argument.Name, &err) // and nothing is completed
	base := c.s.base(ctx)
	if cwd := given.Arguments["cwd"]; cwd != "" {
		base.Cwd = cwd
	}
	var all []string
	switch argument.Name {
	case "task", "id":
		sessions, _, _, err := c.s.engine.Sessions(ctx, base)
		if err != nil {
			c.s.log.Debug("nothing is completed", "error", err)
		}
		slices.SortStableFunc(sessions, latestActive)
		for _, session := range sessions {
			switch {
			case argument.Name == "task", strings.HasPrefix(session.TaskName, argument.Value) && argument.Value != "":
				all = append(all, session.TaskName)
			default:
				all = append(all, session.SessionID)
			}
		}
	case "name":
		all = c.artifacts(ctx, base, given.Arguments["task"])
	case "stage":
		all = workflow.Default().IDs()
	case "agent", "workflow":
		all = c.items(base, argument)
	case "path":
		all = c.files(base)
	}
	out := &mcp.Completion{Values: []string{}}
	for _, value := range all {
		if !strings.HasPrefix(value, argument.Value) && argument.Name != "agent" && argument.Name != "workflow" {
			continue
		}
		if out.Total++; out.Total <= maxCompletions {
			out.Values = append(out.Values, value)
		}
	}
	out.HasMore = out.Total > len(out.Values)
	return out
}

// items lists the agents or workflows of the method that what was typed may mean: by the
// beginning of their names, then by any part of their names and titles.
func (c completions) items(base engine.Request, argument mcp.CompleteArgument) []string {
	shelf := c.s.shelf(base)
	if shelf == nil {
		return nil
	}
	kinds := []catalog.Kind{catalog.Agent}
	if argument.Name == "workflow" {
		kinds = []catalog.Kind{catalog.Workflow, catalog.Task}
	}
	typed := strings.ToLower(strings.TrimSpace(argument.Value))
	var begin, within []string
	for _, i := range shelf.Catalog.Items(kinds...) {
		names := []string{i.Short(), i.Name, i.DisplayName}
		if argument.Name == "workflow" {
			names = []string{i.Name, i.Short()}
		}
		if at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(strings.ToLower(name), typed) }); at >= 0 {
			begin = append(begin, names[at])
		} else if len(typed) > 1 && strings.Contains(strings.ToLower(i.Name+"\n"+i.Title), typed) {
			within = append(within, names[0])
		}
	}
	return append(begin, within...)
}

// files lists the paths of the method's files.
func (c completions) files(base engine.Request) []string {
	shelf := c.s.shelf(base)
	if shelf == nil {
		return nil
	}
	files, err := shelf.Catalog.Files("")
	if err != nil {
		c.s.log.Debug("nothing is completed", "error", err)
	}
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, strings.TrimPrefix(f.URI, methodScheme))
	}
	return out
}

// artifacts lists the file names of a task's artifacts; of an unknown task, all there can be.
func (c completions) artifacts(ctx context.Context, base engine.Request, task string) []string {
	var out []string
	if base.SessionID = task; task != "" {
		if s, _, err := c.s.engine.Session(ctx, base); err == nil {
			for _, file := range s.Artifacts {
				out = append(out, file[strings.LastIndexByte(file, '/')+1:])
			}
			return out
		}
	}
	for _, st := range workflow.Default().Stages {
		if st.Artifact != "" {
			out = append(out, st.Artifact)
		}
	}
	return out
}

// latestActive orders sessions: the active ones first, and of each kind the ones changed last.
func latestActive(a, b workflow.Summary) int {
	switch x, y := a.CurrentState.Active(), b.CurrentState.Active(); {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return b.UpdatedAt.Compare(a.UpdatedAt)
}

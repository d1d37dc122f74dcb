package mcpserver

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The review app is a page for hosts with the extension MCP Apps, which show it beside a call of the tool. It
// shows the document and takes comments, and hands these to the conversation as the person's words. It
// decides nothing.
const (
	appsExtension = "io.modelcontextprotocol/ui"
	reviewAppURI  = "ui://bmad-mcp/review"
	reviewAppMIME = "text/html;profile=mcp-app"
)

//go:embed review_app.html
var reviewApp string

// reviewAppWords are the sentences of the app, by their names in the app's script.
var reviewAppWords = map[string]lang.Text{
	"waiting": lang.T("Waiting for the first step of a run."),
	"score":   lang.T("Score"),
	"audit":   lang.T("Form"),
	"decide":  lang.T("This page decides nothing. Decide in the form of your host, in the dashboard, or in a terminal:"),
	"comment": lang.T("Comment"),
	"add":     lang.T("Add the comment"),
	"cancel":  lang.T("Cancel"),
	"remove":  lang.T("Delete"),
	"send":    lang.T("Send the comments to the conversation"),
	"sent":    lang.T("The comments are in the conversation."),
	"unsent":  lang.T("The host did not take the comments; they are still here."),
	"nothing": lang.T("The document cannot be read here; its file is:"),
	"intro":   lang.T("My comments on the draft {}:"),
	"lines":   lang.T("lines {}"),
	"edited":  lang.T("This is not the text that was scored: it was edited since."),
	"hidden":  lang.T("Parts that readers of the document do not see are marked."),
}

// takesApps reports whether the client of a call shows apps.
func takesApps(ctx context.Context) bool {
	_, declared := mcpwire.Capabilities(ctx).Extensions[appsExtension]
	return declared
}

// ReviewApp returns the page of the review app, in all languages.
func ReviewApp() string {
	said := map[lang.Language]map[string]string{}
	for _, l := range lang.All() {
		said[l] = map[string]string{}
		for name, text := range reviewAppWords {
			said[l][name] = text.In(l)
		}
	}
	words, err := json.Marshal(said) // Marshal escapes the characters that could end a script element
	if err != nil {
		panic(err) // texts can be encoded
	}
	return strings.Replace(reviewApp, "{{words}}", string(words), 1)
}

// addReviewApp adds the page to a server of the library. Only clients that show apps have it in their lists.
func addReviewApp(s *server.MCPServer) {
	res := mcp.NewResource(reviewAppURI, "review", mcp.WithResourceDescription("Shows the document of a run for review."), mcp.WithMIMEType(reviewAppMIME))
	s.AddResource(res, func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{
			URI: reviewAppURI, MIMEType: reviewAppMIME, Text: ReviewApp(),
			Meta: map[string]any{"ui": map[string]any{"csp": map[string]any{}, "prefersBorder": true}},
		}}, nil
	})
}

// withApp names the app in the definition of the tool, for clients that show apps.
func withApp(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	if !takesApps(ctx) {
		return tools
	}
	out := slices.Clone(tools)
	for i := range out {
		if out[i].Name == TaskTool {
			out[i].Meta = &mcp.Meta{AdditionalFields: map[string]any{"ui": map[string]any{"resourceUri": reviewAppURI}}}
		}
	}
	return out
}

// withoutApp leaves the app out of the resources of clients that show none.
func withoutApp(ctx context.Context, listed []mcp.Resource) []mcp.Resource {
	if takesApps(ctx) {
		return listed
	}
	return slices.DeleteFunc(slices.Clone(listed), func(r mcp.Resource) bool { return r.URI == reviewAppURI })
}

// reviewed is the document of a stage, for the app.
type reviewed struct {
	Task  string           `json:"task_name"`
	Stage workflow.StageID `json:"stage"`
	Round int              `json:"round"`
	Path  string           `json:"path"`
	// HTML is written by package render, and has nothing active in it.
	HTML   string          `json:"html"`
	Hidden []render.Hidden `json:"hidden,omitempty"`
	// Edited reports whether the text is not the scored one.
	Edited bool `json:"edited,omitempty"`
}

// renderReview renders the latest round of a stage's document.
func renderReview(ctx context.Context, e *engine.Engine, a address, base request.Request) (reply.Resource, string, error) {
	at := base.Address
	s, cwd, err := e.Session(ctx, at)
	if err != nil {
		return reply.Resource{}, "", err
	}
	stage := workflow.StageID(cmp.Or(a.stage, string(s.CurrentStage)))
	round := 0
	for _, t := range s.History {
		if t.Action == workflow.ActionSubmit && t.FromStage() == stage && t.Path != "" {
			round = t.Iteration
		}
	}
	if round == 0 {
		return reply.Resource{}, "", fault.New(fault.NotFound, "the stage %q has no document yet", string(stage)).WithHint("status says where the run stands")
	}
	texts, err := e.Submissions(ctx, at, stage, round)
	if err != nil {
		return reply.Resource{}, "", err
	}
	shown := texts[0]
	if q, err := e.Gate(ctx, base); err == nil && q.Stage == stage { // the text to decide on
		shown.Text, shown.Path, shown.Edited = q.Document, q.Draft, q.Edited || q.Document == ""
	}
	page := render.Document(shown.Text)
	data, err := json.Marshal(reviewed{Task: s.TaskName, Stage: stage, Round: round, Path: shown.Path, HTML: string(page.HTML), Hidden: page.Hidden, Edited: shown.Edited})
	return reply.Resource{Name: engine.ViewReview, MIMEType: "application/json", Text: string(data), Path: shown.Path, Size: int64(len(data))}, cwd, err
}

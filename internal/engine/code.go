package engine

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Code returns the changes of a project's files since the work of a session began; nil if nothing is there to compare
// them with.
func (e *Engine) Code(ctx context.Context, at project.Address) (*project.Code, error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return documents.On(p).Code(ctx, s)
}

// ViewDiff is the view of the code; a path behind a colon asks for one file.
const ViewDiff = "diff"

// maxPatch bounds the changes in a view, in bytes. A reply cuts more off.
const maxPatch = reply.MaxShown * 8 / 10

// readDiff returns the changes as text: the list of files first.
func readDiff(ctx context.Context, p *project.Project, s *workflow.Session, view string) (reply.Resource, error) {
	l := p.Language(s.Objective)
	code, err := documents.On(p).Code(ctx, s)
	if err != nil {
		return reply.Resource{}, err
	}
	if code == nil {
		return reply.Resource{}, fault.New(fault.NotFound, "there is nothing to compare the code with: the project has no git repository with a commit").
			WithHint("read the files themselves")
	}
	_, one, _ := strings.Cut(view, ":")
	if _, known := code.Find(one); one != "" && !known {
		var paths []string
		for _, f := range code.Files {
			paths = append(paths, f.Path)
		}
		return reply.Resource{}, fault.New(fault.NotFound, "the file %s was not changed since the work began", one).
			WithHint("status with view diff lists the changed files").Suggest(one, paths)
	}
	text, more := code.Patch(l, one, maxPatch)
	said := l.Say("since commit %s", code.Base[:12])
	if code.IsHead {
		said = l.Say("not committed; the commit before the work is not known here")
	}
	if more > 0 {
		said += "; " + l.Say("the changes of %s do not fit: view diff:PATH shows one", l.Count(more, "file"))
	}
	return reply.NewResource(view, "text/x-diff", "", said+"\n"+text), nil
}

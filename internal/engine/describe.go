package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// DescribePipeline returns the stages of a session in one line, each with a mark for the status.
func DescribePipeline(w *workflow.Definition, s *workflow.Session) string {
	return words.Pipeline(w, s)
}

// DescribeRows counts the rows of a report in words; "" if it has none.
func DescribeRows(l lang.Language, rows []workflow.Criterion) string { return words.Rows(l, rows) }

// Since is a document that went on before, with the differences from the text of that step.
type Since = standing.Since

// Since returns the documents of a run that went on before, with the differences and the changed files that they name.
func (e *Engine) Since(ctx context.Context, at project.Address) ([]Since, error) {
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r := e.newRun(p, id, request.Request{Action: workflow.ActionStatus}, e.memory.count.Add(1))
	s, err := r.check.readSession(ctx)
	if err != nil {
		return nil, err
	}
	st := r.gatherFacts(s)
	r.disk.GatherSaved(ctx, st)
	r.disk.GatherDraft(ctx, st)
	return r.markOthers(r.disk.Since(ctx, st)), ctx.Err()
}

// DescribeSince says in how many sections a document differs from its approved text, and in which; "" if there is no
// later text.
func DescribeSince(l lang.Language, c Since) string { return words.Since(l, c) }

// SinceView is such a document in JSON.
type SinceView = reply.SinceView

// ReadChanges returns the sentences about the documents and the code of a run that have changed since they were approved,
// and the same in JSON. isReport tells that other people read the sentences.
func (e *Engine) ReadChanges(ctx context.Context, at project.Address, l lang.Language, w *workflow.Definition, isReport bool) ([]string, []SinceView, error) {
	all, err := e.Since(ctx, at)
	all = slices.DeleteFunc(all, func(c Since) bool { return !c.IsNews() })
	for i := range all {
		all[i].Reported = isReport
		all[i].Others = all[i].Others || isReport
	}
	return words.DescribeChanges(l, w, all), reply.NewSinceViews(all), err
}

// DescribeMoved names the changed files of the project that an approved document names; "" if there are none.
func DescribeMoved(l lang.Language, st workflow.Stage, c Since) string {
	return words.CodeMoved(l, st, c)
}

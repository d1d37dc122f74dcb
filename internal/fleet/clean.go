package fleet

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
)

// Cleaned is a worktree that [Clean] has looked at.
type Cleaned struct {
	Task   string `json:"task_name"`
	Folder string `json:"folder"`
	// Removed is true if it is gone now; Why says why it is kept.
	Removed bool   `json:"removed"`
	Why     string `json:"why,omitempty"`
	why     lang.Text
}

// In returns the worktree with the reason in a language.
func (c Cleaned) In(l lang.Language) Cleaned {
	c.Why = c.why.In(l)
	return c
}

// Clean removes the worktrees of the runs of a project that have ended, if everything in them is committed. The branches
// stay.
func Clean(ctx context.Context, p *project.Project) (out []Cleaned, err error) {
	all, err := p.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	main := project.Top(p.Home.Path())
	recorded := map[string]bool{}
	for _, folder := range git.RecordedWorktrees(main) {
		recorded[folder] = true
	}
	busy, err := headless.AtWork(p.Home)
	if err != nil {
		return nil, err
	}
	for _, s := range all.Sessions {
		_, top := p.Worktree(s.TaskName)
		if top == "" || !recorded[top] {
			continue
		}
		c := Cleaned{Task: s.TaskName, Folder: top}
		switch {
		case s.CurrentState.Active():
			c.why = lang.T("stays, as the run is at %s; to end the run: bmad-mcp cancel %s", s.CurrentStage, s.TaskName)
			if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) {
				c.why = lang.T("the run is at %s, and its worktree is gone: bmad-mcp run --resume %s makes it anew", s.CurrentStage, s.TaskName)
			}
		case slices.Contains(busy, s.SessionID): // its engine has not ended yet
			c.why = lang.T("a process still works on the run")
		default:
			c.why, c.Removed = remove(ctx, main, top, s.TaskName)
		}
		out = append(out, c)
	}
	return out, ctx.Err()
}

// remove removes the worktree of a run, unless something is lost with it, which why names.
func remove(ctx context.Context, main, top, task string) (why lang.Text, removed bool) {
	documents := filepath.Join(top, filepath.FromSlash(artifact.TaskFolder(task)))
	if _, err := os.Lstat(documents); err == nil {
		ignored, err := git.Ignores(ctx, top, artifact.TaskFolder(task)+"/document.md")
		switch {
		case err != nil:
			return lang.Of(err), false
		case ignored:
			return lang.T("git ignores its documents, and no branch has them: move %s elsewhere first", documents), false
		}
	}
	if err := git.RemoveWorktree(ctx, main, top); err != nil {
		return lang.Of(err), false
	}
	return why, true
}

package fleet

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
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
	for _, s := range all.Sessions {
		_, top := p.Worktree(s.TaskName)
		if top == "" || !recorded[top] {
			continue
		}
		c := Cleaned{Task: s.TaskName, Folder: top}
		switch {
		case s.CurrentState.Active():
			c.why = lang.T("the run is at %s", s.CurrentStage)
			if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) {
				c.why = lang.T("the run is at %s, and its worktree is gone: bmad-mcp run --resume %s makes it anew", s.CurrentStage, s.TaskName)
			}
		default:
			if err := git.RemoveWorktree(ctx, main, top); err != nil {
				c.why = lang.Of(err)
			} else {
				c.Removed = true
			}
		}
		out = append(out, c)
	}
	return out, ctx.Err()
}

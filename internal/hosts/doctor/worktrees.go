package doctor

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// worktreesCheck checks the worktrees of the runs with a branch of their own.
type worktreesCheck struct {
	*ProjectFiles
	runs        int
	gone, ended []Defect
	first       string // the task of the first one that is gone
}

func (c *worktreesCheck) visit(s *workflow.Session, _ []reference) {
	if s.Branch == "" || c.Worktree == nil {
		return
	}
	c.runs++
	folder := c.Worktree(s.TaskName)
	if folder == "" {
		return
	}
	_, err := os.Lstat(folder)
	isGone := errors.Is(err, fs.ErrNotExist)
	switch {
	case isGone && s.CurrentState.Active():
		if c.gone = append(c.gone, Defect{folder, c.Say("%s is under way, and its worktree is gone", s.TaskName)}); c.first == "" {
			c.first = s.TaskName
		}
	case !isGone && !s.CurrentState.Active():
		c.ended = append(c.ended, Defect{folder, c.Say("%s has ended, and its worktree is still there", s.TaskName)})
	}
}

func (c *worktreesCheck) result() Check {
	out := newOK("worktrees", c.Say("%s with a branch of its own", lang.Count(c.runs, "run")))
	for _, d := range append(c.gone, c.ended...) {
		out.addDefect(Warning, d.Path, d.What)
	}
	switch {
	case len(c.gone) > 0 && len(c.ended) > 0:
		out.Remedy = c.Say("make it anew: bmad-mcp run --resume %s; remove those of runs that have ended: bmad-mcp run --clean", c.first)
	case len(c.gone) > 0:
		out.Remedy = c.Say("make it anew: bmad-mcp run --resume %s", c.first)
	case len(c.ended) > 0:
		out.Remedy = c.Say("remove those of runs that have ended: bmad-mcp run --clean")
	}
	return out
}

package documents

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// notWork are the folders of this program: its state, the artifacts with the settings of hosts, and the memories.
var notWork = []string{store.Folder + "/", ".claude/", "_bmad/_memory/", "_grimoire/_memory/"}

// notCode are the ones without code to review: settings of hosts name programs.
var notCode = []string{store.Folder + "/", artifact.Folder + "/", "_bmad/_memory/", "_grimoire/_memory/"}

// Tree returns what stands for the project's files without those of the session, "" if they cannot be read.
func (d *Disk) Tree(ctx context.Context, s *workflow.Session) string {
	t, err := d.project.ReadTree(ctx, "", append(filesOf(s.History), notWork...), nil)
	if err != nil { // the gate of the work says that it cannot be compared
		return ""
	}
	return t.String()
}

// Dirty returns the contents that the checked-out commit does not have.
func (d *Disk) Dirty(ctx context.Context, s *workflow.Session) map[string]string {
	return d.project.ReadDirty(ctx, append(filesOf(s.History), notCode...))
}

// CompareTree compares the project's files with those before the work. The result is empty if they have changed; why says
// why that is unknown. sources are the files of the submission.
func (d *Disk) CompareTree(ctx context.Context, s *workflow.Session, sources []string) (found workflow.Untouched, why lang.Text) {
	before, _ := workflow.TreeBefore(s)
	if before == "" {
		return workflow.ChangeUnknown, lang.T("the files of that time are not on record")
	}
	var known []string
	for i, e := range s.History {
		if e.Tree == before {
			known = filesOf(s.History[:i])
		}
	}
	later := append(filesOf(s.History), sources...)
	slices.Sort(later)
	later = slices.DeleteFunc(slices.Compact(later), func(name string) bool { return slices.Contains(known, name) })
	now, err := d.project.ReadTree(ctx, before, append(known, notWork...), later)
	if err != nil {
		return workflow.ChangeUnknown, lang.Of(err)
	}
	switch same, isKnown := now.Same(before); {
	case !isKnown:
		return workflow.ChangeUnknown, lang.Text{}
	case same:
		return workflow.NothingChanged, lang.Text{}
	}
	return "", lang.Text{}
}

// Code returns the project's changes since the commit before the work, without the files of this program and the
// session's documents; nil if there is nothing to compare them with.
func (d *Disk) Code(ctx context.Context, s *workflow.Session) (*project.Code, error) {
	commit, dirty := workflow.CodeBefore(s)
	return d.project.ReadCode(ctx, commit, dirty, append(filesOf(s.History), notCode...))
}

func filesOf(history []workflow.Transition) (out []string) {
	for _, e := range history {
		out = append(out, e.Sources...)
	}
	return out
}

package headless

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// checkWorktree refuses a project in which no worktree for a run can be made.
func checkWorktree(p *project.Project) error {
	folder := p.Dir.Path()
	head, err := git.Head(folder)
	switch {
	case err != nil:
		return err
	case head == "":
		return fault.New(fault.NotAllowed, "%s has no commit of git, from which a worktree could be made", folder).
			WithHint("git init, and commit the files")
	case git.MainTree(folder) != "":
		return fault.New(fault.NotAllowed, "%s is a linked worktree itself", folder).
			WithHint("start the run in the main tree, %s; or leave out --worktree", git.MainTree(folder))
	}
	return nil
}

// enterWorktree returns the project in the worktree of the run of a session, in place of p, which it closes then. It makes
// the worktree if it is not there: of the run's branch, so that only what was not committed is lost with a removed one.
func (r *Runner) enterWorktree(ctx context.Context, s *workflow.Session, p *project.Project) (*project.Project, error) {
	if s.Branch == "" || r.Lease != nil || git.CheckedOut(p.Dir.Path()) == s.Branch {
		return p, nil
	}
	folder, top := p.Worktree(s.TaskName)
	switch {
	case p.Home != p.Dir:
		return p, fault.New(fault.Conflict, "the worktree %s of the run is on another branch than %s", top, s.Branch).
			WithHint("git -C %s switch %s", top, s.Branch)
	case top == "":
		return p, fault.New(fault.NotAllowed, "the run works on the branch %s of git, and %s is in no repository", s.Branch, p.Dir.Path()).
			WithHint("run it in the repository that it was started in")
	}
	main, base := project.Top(p.Home.Path()), r.Base
	if base == "" {
		var err error
		if base, err = git.Head(p.Home.Path()); err != nil {
			return p, err
		}
	}
	if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) && slices.Contains(git.RecordedWorktrees(main), top) {
		if err := git.RemoveWorktree(ctx, main, top); err != nil { // git's record of the one that was removed
			return p, err
		}
	}
	err := git.AddWorktree(ctx, main, top, s.Branch, base)
	if err != nil {
		return p, err
	}
	if dir, err := durable.OpenDir(folder); err == nil { // the records of the run hide themselves from git
		_, err = dir.MkdirAll(store.Folder)
		err = errors.Join(err, dir.Ignore(store.Folder), dir.Close())
		if err != nil {
			return p, fault.From(err)
		}
	}
	there, err := r.Engine.Projects().Follow(p, s)
	if err == nil && there == p {
		err = fault.New(fault.Storage, "the worktree %s was made, and is none of %s", top, p.Home.Path()).WithHint("see git worktree list")
	}
	return there, err
}

// branch returns the branch to which the work of the run is committed, "" if it is not committed.
func (r *run) branch() string {
	if r.Lease != nil {
		return r.Lease.Branch()
	}
	return r.session.Branch
}

// onBranch reports whether the branch of the run is checked out.
func (r *run) onBranch() bool {
	branch := r.branch()
	return branch != "" && git.CheckedOut(r.project.Dir.Path()) == branch
}

// hashChanged returns the hashes of the files of a tree that are not committed, "" for a deleted one.
func (r *run) hashChanged(tree *Tree) map[string]string {
	if tree == nil || !r.onBranch() {
		return nil
	}
	out := map[string]string{}
	for _, name := range tree.Files() {
		data, err := r.project.Dir.ReadFile(name, durable.MaxText)
		if out[name] = ""; err == nil {
			out[name] = workflow.Hash(data)
		} else if info, err := r.project.Dir.Lstat(name); err == nil { // a link, or a large file
			out[name] = strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String()
		}
	}
	return out
}

// noteWritten adds the files to the ones of the run that a call of an engine has changed.
func (r *run) noteWritten(tree *Tree) {
	a := r.state.Attempt
	for name, hash := range r.hashChanged(tree) {
		if before, had := a.Before[name]; (!had || before != hash) && !slices.Contains(r.state.Wrote, name) {
			r.state.Wrote = append(r.state.Wrote, name)
		}
	}
	slices.Sort(r.state.Wrote)
}

// commitWork commits the files that the run has changed, and its documents, with a subject. Files that others have changed
// in the worktree stay as they are. It does nothing for a run without a branch of its own.
func (r *run) commitWork(ctx context.Context, subject, body string) error {
	if r.branch() == "" || r.Look == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // the work is done
	folder := r.project.Dir.Path()
	if !r.onBranch() {
		r.tellEvent(Event{Type: Noticed, Why: r.language.Say("the worktree is not on the branch %s of the run: nothing was committed", r.branch())})
		return nil
	}
	tree, err := r.Look(ctx, folder)
	if err != nil || tree == nil {
		return err
	}
	documents := artifact.TaskFolder(r.session.TaskName) + "/"
	files := slices.DeleteFunc(tree.Files(), func(name string) bool {
		return !strings.HasPrefix(name, documents) && !slices.Contains(r.state.Wrote, name) && !r.isNote(name)
	})
	commit, err := git.CommitFiles(ctx, folder, git.Commit{
		Files: files, Message: r.commitMessage(subject, body), Author: git.Identity(folder), At: r.Engine.Clock(),
	})
	if err != nil {
		return errors.Join(err, ErrUncommitted)
	}
	if r.state.Wrote = nil; commit == "" { // a killed process may have committed it
		commit = tree.Head
		r.state.Commit = commit
		return nil
	}
	if r.state.Commit = commit; commit != "" {
		r.tellEvent(Event{Type: Committed, Commit: commit, Text: subject})
	}
	return nil
}

// isNote reports whether a file is of the project's memory, in a worktree that goes with the lease.
func (r *run) isNote(name string) bool {
	if r.Lease == nil || strings.HasPrefix(name, store.Folder+"/") || strings.HasPrefix(name, artifact.Folder+"/") {
		return false
	}
	return r.isOwn(name)
}

// maxSubject is the usual greatest length of the first line of a commit, in columns.
const maxSubject = 72

// commitMessage returns the message of a commit, with the trailers by which it is found again.
func (r *run) commitMessage(subject, body string) string {
	text := clipLine(subject, maxSubject) + "\n\n"
	if body != "" {
		text += body + "\n\n"
	}
	text += "Bmad-Run: " + r.session.SessionID + "\n"
	if r.Lease != nil {
		text += "Bmad-Lease: " + strconv.FormatInt(r.Lease.Number(), 10) + "\n"
	}
	return text
}

// commitCall commits the work of a call that has brought an answer.
func (r *run) commitCall(ctx context.Context, t *task) error {
	if !t.Writes {
		return nil
	}
	subject, round := r.session.Objective, r.now.Iteration+1
	if t.stage.Kind != workflow.KindBuild || round > 1 {
		subject = r.language.Say("%s: %s, round %d", clipLine(subject, maxSubject/2), t.Stage, round)
	}
	return r.commitWork(ctx, subject, r.language.Say("%s, round %d, by %s.", t.Stage, round, t.Engine))
}

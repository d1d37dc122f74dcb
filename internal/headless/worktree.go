package headless

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

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
		before, had := a.Before[name]
		if isSame := had && before == hash; !isSame && !slices.Contains(r.state.Wrote, name) {
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
		goes := r.Lease != nil && r.isOwn(name) && isNote(name) // with the worktree
		return !strings.HasPrefix(name, documents) && !slices.Contains(r.state.Wrote, name) && !goes
	})
	commit, left, err := git.CommitFiles(ctx, folder, git.Commit{
		Files: files, Message: commitMessage(r.session.SessionID, r.Lease, subject, body), Author: git.Identity(folder), At: r.Engine.Clock(),
	})
	if err != nil {
		return errors.Join(err, ErrUncommitted)
	}
	if len(left) > 0 {
		why := lang.Join(left[:min(len(left), maxNamed)], "; ")
		r.tellEvent(Event{Type: Noticed, Why: r.language.Say("not all work is in the commit: %s. Commit what belongs to the work yourself, in %s", why, folder)})
	}
	if r.state.Wrote = nil; commit == "" {
		if b := r.state.Before; b == nil || b.Head != tree.Head { // a process that was killed has committed it
			r.state.Commit = tree.Head
		}
		return nil
	}
	r.state.Commit = commit
	if r.state.After != nil { // else the next look would report this commit as somebody's
		after := *r.state.After
		after.Head, r.state.After = commit, &after
	}
	r.tellEvent(Event{Type: Committed, Commit: commit, Text: subject})
	return nil
}

// maxNamed bounds the files that a notice names.
const maxNamed = 10

// isNote reports whether a file that this program writes is of the project's memory.
func isNote(name string) bool {
	return !strings.HasPrefix(name, store.Folder+"/") && !strings.HasPrefix(name, artifact.Folder+"/")
}

// maxSubject is the usual greatest length of the first line of a commit, in columns.
const maxSubject = 72

// commitMessage returns the message of a commit, with the trailers by which it is found again.
func commitMessage(sessionID string, l Lease, subject, body string) string {
	text := clipLine(subject, maxSubject) + "\n\n"
	if body != "" {
		text += body + "\n\n"
	}
	text += "Bmad-Run: " + sessionID + "\n"
	if l != nil {
		text += "Bmad-Lease: " + strconv.FormatInt(l.Number(), 10) + "\n"
	}
	return text
}

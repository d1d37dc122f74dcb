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

// noteIgnored notes the ignored files of a tree at the begin of a call, also the ones that engines have made: the person may
// have put a secret into them since.
func (r *run) noteIgnored(tree *Tree) {
	if tree == nil || !r.onBranch() {
		return
	}
	all := slices.Concat(r.state.Apart, slices.DeleteFunc(slices.Clone(tree.Ignored), r.isOwn))
	slices.Sort(all)
	r.state.Apart = slices.Compact(all)
}

// noteWritten adds the files to the ones of the run that a call of an engine has changed. A file that git ignored before is
// not the run's: the person may keep a secret in it. isRecalled is true for a call whose end nobody has seen.
func (r *run) noteWritten(tree *Tree, engine string, isRecalled bool) {
	a, hashes := r.state.Attempt, r.hashChanged(tree)
	if hashes == nil {
		return
	}
	var apart, told, unsure []string
	for _, line := range tree.Changed {
		name := fileOf(line)
		before, had := a.Before[name]
		isNew := strings.HasPrefix(line, "??") || strings.HasPrefix(line, "A") || strings.HasPrefix(line, " A")
		isApart := isNew && containsPath(r.state.Apart, name)
		if isApart {
			apart = append(apart, name)
		}
		switch isSame := had && before == hashes[name]; {
		case isSame || slices.Contains(r.state.Wrote, name):
		case isApart:
			told = append(told, name)
		default:
			r.state.Wrote = append(r.state.Wrote, name)
			if isNew {
				unsure = append(unsure, name)
			}
		}
	}
	slices.Sort(r.state.Wrote)
	if len(told) > 0 {
		r.tellEvent(Event{Type: Noticed, Why: r.language.Say("left out of the commits, because git ignored it when %s began to work: %s. "+
			"Commit it yourself if it belongs to the work and holds no secret", engine, nameSome(told))})
	}
	if isRecalled && len(unsure) > 0 {
		r.tellEvent(Event{Type: Noticed, Why: r.language.Say("the call of %s was cut off, so that nobody knows who has made these files: %s. "+
			"They are committed with the work: before it is pushed, take out of the branch what does not belong to it", engine, nameSome(unsure))})
	}
	r.state.Apart = apart
}

// nameSome lists the first of many files.
func nameSome(names []string) lang.Text {
	if len(names) > maxNamed {
		return lang.T("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return lang.T("%s", strings.Join(names, ", "))
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
		Files: files, Message: commitMessage(r.session.SessionID, r.Lease, subject, body), Author: git.Identity(folder), At: r.Engine.Clock(), Wait: r.Wait,
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

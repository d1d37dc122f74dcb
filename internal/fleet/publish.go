package fleet

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Proposal is a branch to offer for review.
type Proposal struct {
	// Folder is in the repository, Branch the branch and Commit its commit.
	Folder, Branch, Commit string
	// Title and Body are the texts of the request; of the title its first line counts.
	Title, Body string
	// Environ is the environment of the forge's program.
	Environ []string
}

// forge is a program that opens a request for review.
type forge struct {
	program string
	// status are the arguments that show whether it is logged in, create those before the branch, and texts those behind it.
	status, create []string
	texts          func(p Proposal) []string
}

var forges = []forge{
	{"gh", []string{"auth", "status"}, []string{"pr", "create", "--head"}, func(p Proposal) []string {
		return []string{"--title", p.Title, "--body", p.Body}
	}},
	{"glab", []string{"auth", "status"}, []string{"mr", "create", "--source-branch"}, func(p Proposal) []string {
		return []string{"--title", p.Title, "--description", p.Body, "--yes"}
	}},
}

// createCommand returns the command with which the person offers a pushed branch for review.
func (f *forge) createCommand(branch string) string {
	return f.program + " " + strings.Join(f.create, " ") + " " + quotePath(branch)
}

// maxTitle bounds the title of a request, in columns: GitLab takes 255 characters, GitHub one more.
const maxTitle = 250

// forgeTime bounds a call of a forge's program.
const forgeTime = 2 * time.Minute

// forgeGrace is the time that one has to end.
const forgeGrace = 2 * time.Second

// Publish pushes a branch and opens a request for its review by gh or glab, where one is logged in for the repository. It
// returns the outcome, with the commands to type if that was not possible.
func Publish(ctx context.Context, p Proposal) lang.Text {
	if err := pushWork(ctx, p.Folder, p.Branch, p.Commit); err != nil {
		return lang.T("%s was not pushed: %s. What to do: %s", p.Branch, lang.Of(err), pushCommand(p.Branch)+" && "+forges[0].createCommand(p.Branch))
	}
	title, _, _ := strings.Cut(strings.TrimSpace(p.Title), "\n")
	p.Title = visible.Shorten(strings.TrimSpace(title), maxTitle, "…")
	var failed lang.Text
	for _, f := range forges { // one that is logged in can be so for another server than the remote
		path, err := exec.LookPath(f.program)
		if err != nil {
			continue
		}
		if _, err := runForge(ctx, p, path, f.status); err != nil {
			continue
		}
		said, err := runForge(ctx, p, path, slices.Concat(f.create, []string{p.Branch}, f.texts(p)))
		if err == nil {
			return lang.T("%s was pushed, and offered for review: %s", p.Branch, said)
		}
		if failed.Empty() {
			failed = lang.T("%s was pushed; %s opened no request: %s. What to do: %s", p.Branch, f.program, said, f.createCommand(p.Branch))
		}
	}
	if !failed.Empty() {
		return failed
	}
	return lang.T("%s was pushed; to offer it for review: %s", p.Branch, forges[0].createCommand(p.Branch))
}

// maxSaid bounds the output of a forge's program, in columns.
const maxSaid = 300

// runForge runs a forge's program, and returns the last line that it has said.
func runForge(ctx context.Context, p Proposal, path string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, forgeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the person's own program, with the texts as arguments
	said := &ending{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Folder, said, said
	cmd.Env = append(process.Environ(p.Environ), "GH_PROMPT_DISABLED=1", "NO_PROMPT=1", "GIT_TERMINAL_PROMPT=0")
	group := process.Own(cmd, forgeGrace)
	err := group.Start()
	if err == nil {
		_, err = group.Wait()
		group.End()
	}
	lines := strings.Split(strings.TrimSpace(string(said.data)), "\n")
	return visible.Cut(visible.Line(lines[len(lines)-1]), maxSaid, "…"), err
}

// ending keeps the end of what is written.
type ending struct{ data []byte }

// maxEnding bounds it, in bytes.
const maxEnding = 16 << 10

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	e.data = append(e.data, p[max(0, len(p)-maxEnding):]...)
	e.data = e.data[max(0, len(e.data)-maxEnding):]
	return len(p), nil
}

// HeadOf returns the commit that is checked out in a folder.
func HeadOf(folder string) (string, error) { return git.Head(folder) }

// CommitOf returns the commit of a branch, "" if there is none.
func CommitOf(folder, branch string) string {
	commit, err := git.BranchCommit(folder, branch)
	if err != nil {
		return ""
	}
	return commit
}

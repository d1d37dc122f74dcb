package fleet

import (
	"context"
	"os/exec"
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
	// Title and Body are the texts of the request.
	Title, Body string
	// Environ is the environment of the forge's program.
	Environ []string
}

// forges are the programs that open a request for review, with the arguments that show whether they are logged in.
var forges = []struct {
	program string
	status  []string
	create  func(p Proposal) []string
}{
	{"gh", []string{"auth", "status"}, func(p Proposal) []string {
		return []string{"pr", "create", "--head", p.Branch, "--title", p.Title, "--body", p.Body}
	}},
	{"glab", []string{"auth", "status"}, func(p Proposal) []string {
		return []string{"mr", "create", "--source-branch", p.Branch, "--title", p.Title, "--description", p.Body, "--yes"}
	}},
}

// forgeTime bounds a call of a forge's program.
const forgeTime = 2 * time.Minute

// forgeGrace is the time that one has to end.
const forgeGrace = 2 * time.Second

// Publish pushes a branch and opens a request for its review by gh or glab, where one is logged in for the repository. It
// returns the outcome, with the commands to type if that was not possible.
func Publish(ctx context.Context, p Proposal) lang.Text {
	if err := pushWork(ctx, p.Folder, p.Branch, p.Commit); err != nil {
		return lang.T("%s was not pushed: %s. What to do: %s", p.Branch, lang.Of(err), commands(p))
	}
	for _, f := range forges {
		path, err := exec.LookPath(f.program)
		if err != nil {
			continue
		}
		if _, err := runForge(ctx, p, path, f.status); err != nil {
			continue
		}
		said, err := runForge(ctx, p, path, f.create(p))
		if err != nil {
			return lang.T("%s was pushed; %s opened no request: %s. What to do: %s", p.Branch, f.program, said, commands(p))
		}
		return lang.T("%s was pushed, and offered for review: %s", p.Branch, said)
	}
	return lang.T("%s was pushed; to offer it for review: %s", p.Branch, commands(p))
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

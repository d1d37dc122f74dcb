package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/runner"
)

// runWorkers are the engines on this machine, the likeliest first.
func runWorkers() []runner.Worker {
	var out []runner.Worker
	if path, ok := hostcli.Find("claude", exec.LookPath); ok {
		out = append(out, &hostcli.Claude{Path: path})
	}
	if path, ok := hostcli.Find("codex", exec.LookPath); ok {
		out = append(out, &hostcli.Codex{Path: path})
	}
	return out
}

// gitRepository describes a project's repository by git.
type gitRepository struct{}

// maxGit bounds what git may say, in bytes.
const maxGit = 16 << 20

// Look implements runner.Repository.
func (gitRepository) Look(ctx context.Context, folder string) (*runner.Tree, error) {
	git := func(args ...string) (string, error) {
		// A monitor of files would be a program that the repository names.
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "-c", "core.fsmonitor=false"}, args...)...) //nolint:gosec // a folder, and our own words
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
		out, err := cmd.Output()
		if len(out) > maxGit {
			out = out[:maxGit]
		}
		return string(bytes.TrimRight(out, "\n")), err
	}
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, ctx.Err() //nolint:nilerr // without git, or outside of a repository
	}
	tree := &runner.Tree{}
	if head, err := git("rev-parse", "--verify", "-q", "HEAD"); err == nil {
		tree.Head = head
	}
	status, err := git("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".")
	if err != nil {
		return nil, fault.New(fault.Storage, "git status failed in %s: %w", folder, err).WithHint("see what it says there")
	}
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) > 3 {
			tree.Changed = append(tree.Changed, entry[:3]+strings.TrimPrefix(entry[3:], prefix))
		}
	}
	return tree, nil
}

package gitsource

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// The bounds on git's answer to a question, and on the list of files, in bytes.
const (
	maxAnswer = 64 << 10
	maxList   = MaxFiles * 512
)

// newUpdate returns an update, whose git runs in a folder of the cache.
func (c *Cache) newUpdate(ctx context.Context, e *cacheEntry) *update {
	s := e.spec
	u := &update{entry: e, timeout: c.timeout(), registry: c.Registry, call: git.Call{Program: c.Git, Dir: e.Join(e.key), Protocol: s.scheme, Settings: []string{
		"core.sparseCheckout=false",
		// The time-out kills this process; child processes end by themselves.
		"http.lowSpeedLimit=1",
		"http.lowSpeedTime=60",
	}}}
	if l := s.login(); l != nil {
		// For this address alone: redirected, the header would go to wherever the server points.
		u.call.Secrets = []string{"http." + s.url() + ".extraHeader", l.header()}
		u.call.Settings = append(u.call.Settings, "http.followRedirects=false")
	}
	if s.scheme != schemeSSH || os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return u
	}
	// The variable would override the person's setting, too.
	if set, err := u.askGit(ctx, "config", "--get", "core.sshCommand"); err != nil || set == "" {
		u.call.Env = []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15"}
	}
	return u
}

// serverArgs returns the arguments to keep the git of a repository on this disk, which reads the settings
// there, from fetching anything itself.
func (u *update) serverArgs() []string {
	if u.entry.spec.scheme != schemeFile {
		return nil
	}
	return []string{"--upload-pack=GIT_ALLOW_PROTOCOL=none git-upload-pack"}
}

// askGit runs git and returns the output, without the spaces around it.
func (u *update) askGit(ctx context.Context, args ...string) (string, error) {
	out := &git.Bounded{Most: maxAnswer}
	err := u.runGit(ctx, out, args...)
	return strings.TrimSpace(string(out.Data)), err
}

// checkSize refuses a commit over the bounds of a copy.
func (u *update) checkSize(ctx context.Context, commit string) error {
	list := &git.Bounded{Most: maxList}
	err := u.runGit(ctx, list, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
	files, bytes := countFiles(string(list.Data))
	if isLong := errors.Is(err, git.ErrTooMuch) && files > 0; isLong || files > MaxFiles || bytes > MaxBytes {
		return fault.New(fault.NotFound, "the repository has more than %d files or %d MB at commit %s", MaxFiles, MaxBytes>>20, commit[:12]).
			WithHint("use a smaller repository, or a branch with less in it")
	}
	return err
}

// countFiles counts the files in a list of git ls-tree -l -z, and their bytes.
func countFiles(list string) (files int, bytes int64) {
	for entry := range strings.SplitSeq(list, "\x00") {
		about, _, _ := strings.Cut(entry, "\t")
		if field := strings.Fields(about); len(field) == 4 {
			size, _ := strconv.ParseInt(field[3], 10, 64) // "-" for a submodule, which is not fetched
			files++
			bytes += size
		}
	}
	return files, bytes
}

// runGit runs git with nothing to read. The error is the context's if the call is given up,
// else a fault whose message is one line for people.
func (u *update) runGit(ctx context.Context, out io.Writer, args ...string) error {
	call := u.call
	call.Args, call.Out = args, out
	err := call.Run(ctx)
	var failed *git.Failure
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return timeoutError(lang.T("git %s", args[0]), u.timeout)
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, git.ErrTooMuch):
		problem := fault.New(fault.NotFound, "git %s printed more than it should", args[0]).WithHint("see that the program is git")
		problem.Err = err
		return problem
	case !errors.As(err, &failed):
		return fault.New(fault.NotFound, "git cannot be started: %w", err).
			WithHint("install git (https://git-scm.com/downloads) so that it is found in PATH, or use a folder on this disk instead of a git address")
	}
	words := u.entry.spec.login().cleanLine(failed.Said)
	problem := fault.New(fault.NotFound, "git %s failed: %s", args[0], words)
	if words == "" {
		problem = fault.New(fault.NotFound, "git %s failed: it said nothing (%v)", args[0], err)
	}
	return problem.WithHint("%s", hintFor(words))
}

// timeoutError returns the error for an update over the time limit.
func timeoutError(what lang.Text, limit time.Duration) error {
	return fault.New(fault.NotFound, "the remote did not answer in time: %s was ended after %s", what, limit).
		WithHint("check the network and the remote; a large repository may need more time")
}

// hints map messages of git to advice for a person.
var hints = []struct {
	words *pattern.Pattern
	hint  lang.Text
}{
	{pattern.New(`transport '\S+' not allowed`), lang.T("your settings of git send this address over another protocol (url.<base>.insteadOf); write the address in the form it is sent to")},
	{pattern.New(`dubious ownership`), lang.T("the repository belongs to somebody else: if you trust it, add it to safe.directory in your settings of git, as git says")},
	{pattern.New(`(?i)permission denied|host key|publickey`), lang.T("see that you may read the repository; over ssh, that `ssh` to this host works without a question: the key is in an agent, and the host is known")},
	{pattern.New(`(?i)authentication|could not read (?:username|password)|terminal prompts disabled|\b40[13]\b`),
		lang.T("see that `git ls-remote` with this address works without a question: set up a credential helper, or a token that is still valid")},
	{pattern.New(`(?i)not found|does not appear to be|not exist|no such`), lang.T("see that the address is right and that you may read the repository")},
	{pattern.New(`(?i)redirect|\b30[1278]\b`), lang.T("the repository has moved: write its new address")},
}

func hintFor(words string) lang.Text {
	for _, h := range hints {
		if h.words.MatchString(words) {
			return h.hint
		}
	}
	return lang.T("see that the network is there and that `git ls-remote` with this address works, then update it again")
}

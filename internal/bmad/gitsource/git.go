package gitsource

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// grace is how long to wait for the output of an ended git that another process holds open, such as
// a connection that ssh keeps for later.
const grace = 500 * time.Millisecond

// The bounds on git's output.
const (
	maxSaid   = 8 << 10
	maxAnswer = 64 << 10
)

// errTimeout is the cause of a context that ended with the time of an update.
var errTimeout = errors.New("timeout")

// git runs git for one remote.
type git struct {
	program string
	spec    Spec
	timeout time.Duration
	dir     string   // where it stands
	env     []string // all of its environment
}

// newGit returns the git of an update. It runs in a folder of the cache, and takes neither that nor
// one above it for a repository.
func (c *Cache) newGit(ctx context.Context, s Spec, cache, dir string) git {
	g := git{program: cmp.Or(c.Git, "git"), spec: s, timeout: c.timeout(), dir: dir}
	g.env = environment(os.Environ(), s)
	g.env = append(g.env, "GIT_CEILING_DIRECTORIES="+cache)
	if s.scheme != schemeSSH || os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return g
	}
	// The variable would override the person's setting, too.
	if set, err := g.answer(ctx, "config", "--get", "core.sshCommand"); err != nil || set == "" {
		g.env = append(g.env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15")
	}
	return g
}

// in returns the git of a repository and its work tree.
func (g git) in(repository, tree string) git {
	g.dir = tree
	g.env = append(slices.Clip(g.env), "GIT_DIR="+repository, "GIT_WORK_TREE="+tree)
	return g
}

// kept are the variables of git that are passed on; all others that begin with GIT_ belong to the
// repository in which this program may have been started, or are for tracing.
var kept = pattern.New(`^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|(?:SSL|PROXY|HTTP)_\w+)$`)

// environment returns the environment of git: the person's, so that it finds their
// settings, keys and proxies, without those that could prompt them or lead it elsewhere.
func environment(inherited []string, s Spec) []string {
	var out []string
	var own []string // the person's settings in variables: pairs of name and value
	values := map[string]string{}
	for _, entry := range inherited {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name) // Windows ignores case
		values[name] = value
		switch {
		case strings.HasPrefix(name, "GIT_") && !kept.MatchString(name):
		case strings.HasPrefix(name, "GIT_SSH") && value == "": // git would run nothing
		case name == "SSH_ASKPASS" || name == "SSH_ASKPASS_REQUIRE" || name == "GCM_INTERACTIVE" || name == "LC_ALL" || name == "LANGUAGE":
		default:
			out = append(out, entry)
		}
	}
	count, _ := strconv.Atoi(values["GIT_CONFIG_COUNT"])
	for i := range min(count, 1000) {
		n := strconv.Itoa(i)
		if key := values["GIT_CONFIG_KEY_"+n]; key != "" {
			own = append(own, key, values["GIT_CONFIG_VALUE_"+n])
		}
	}
	if l := s.login(); l != nil {
		// For this address alone, and so that nobody can read it among the arguments.
		own = append(own, "http."+s.url()+".extraHeader", l.header())
	}
	for i := 0; i < len(own); i += 2 {
		n := strconv.Itoa(i / 2)
		out = append(out, "GIT_CONFIG_KEY_"+n+"="+own[i], "GIT_CONFIG_VALUE_"+n+"="+own[i+1])
	}
	return append(out,
		"GIT_CONFIG_COUNT="+strconv.Itoa(len(own)/2),
		"GIT_ALLOW_PROTOCOL="+s.scheme,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // none, and none of the settings' either
		"GIT_LFS_SKIP_SMUDGE=1",
		"SSH_ASKPASS_REQUIRE=never",
		"GCM_INTERACTIVE=never",
		"LC_ALL=C",
	)
}

// settings are passed to every git, and override those of the person and the repository.
func settings(s Spec) []string {
	all := []string{
		"protocol.allow=never",
		"protocol." + s.scheme + ".allow=always",
		"core.hooksPath=" + os.DevNull,
		"core.fsmonitor=false",
		"core.longpaths=true",
		"core.sparseCheckout=false",
		"credential.interactive=false",
		"fetch.recurseSubmodules=false",
		"submodule.recurse=false",
		"transfer.bundleURI=false",
		// The time-out kills this process; the processes that it started end by themselves.
		"http.lowSpeedLimit=1",
		"http.lowSpeedTime=60",
		"gc.auto=0",
		"maintenance.auto=false",
	}
	if s.sealed != nil {
		// The header would go to wherever the server points.
		all = append(all, "http.followRedirects=false")
	}
	var out []string
	for _, setting := range all {
		out = append(out, "-c", setting)
	}
	return out
}

// answer runs git and returns its output, without the spaces around it.
func (g git) answer(ctx context.Context, args ...string) (string, error) {
	out := &bounded{most: maxAnswer}
	err := g.run(ctx, out, args...)
	return strings.TrimSpace(string(out.data)), err
}

// run runs git with nothing to read. The error is the context's if the call is given up,
// else a fault whose message is one line for people.
func (g git) run(ctx context.Context, out outputWriter, args ...string) error {
	said := &lastLines{}
	// A program that prints too much is killed: not all end when nobody reads their output.
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, g.program, append(settings(g.spec), args...)...) //nolint:gosec // git, with arguments that Parse has let through
	cmd.Dir, cmd.Env = g.dir, g.env
	cmd.Stdout, cmd.Stderr = stopper{out, stop}, said
	cmd.WaitDelay = grace
	group(cmd)
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
	} else if ctx.Err() == nil {
		return fault.New(fault.NotFound, "git cannot be started: %w", err).
			WithHint("install git (https://git-scm.com/downloads) so that it is found in PATH, or use a folder on this disk instead of a git address")
	}
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		return late(lang.T("git %s", args[0]), g.timeout)
	case ctx.Err() != nil:
		return ctx.Err()
	case out.refused():
		return fault.New(fault.NotFound, "git %s printed more than it should", args[0]).WithHint("see that the program is git")
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // its own exit counts
		return nil
	}
	words := g.spec.login().line(said.String())
	failed := fault.New(fault.NotFound, "git %s failed: %s", args[0], words)
	if words == "" {
		failed = fault.New(fault.NotFound, "git %s failed: it said nothing (%v)", args[0], err)
	}
	return failed.WithHint("%s", hint(words))
}

// late is the error for an update that takes too long.
func late(what lang.Text, limit time.Duration) error {
	return fault.New(fault.NotFound, "the remote did not answer in time: %s was ended after %s", what, limit).
		WithHint("check the network and the remote; a large repository may need more time")
}

// hints map messages of git to what a person can do.
var hints = []struct {
	words *pattern.Pattern
	hint  lang.Text
}{
	{pattern.New(`transport '\S+' not allowed`), lang.T("your settings of git send this address over another protocol (url.<base>.insteadOf); write the address in the form it is sent to")},
	{pattern.New(`dubious ownership`), lang.T("the repository belongs to somebody else: if you trust it, add it to safe.directory in your settings of git, as git says")},
	{pattern.New(`(?i)permission denied|host key|publickey`), lang.T("see that you may read the repository; over ssh, that `ssh` to this host works without a question: the key is in an agent, and the host is known")},
	{pattern.New(`(?i)authentication|could not read (?:username|password)|terminal prompts disabled|\b40[13]\b`), lang.T("see that `git ls-remote` with this address works without a question: set up a credential helper, or a token that is still valid")},
	{pattern.New(`(?i)not found|does not appear to be|not exist|no such`), lang.T("see that the address is right and that you may read the repository")},
	{pattern.New(`(?i)redirect|\b30[1278]\b`), lang.T("the repository has moved: write its new address")},
}

func hint(words string) lang.Text {
	for _, h := range hints {
		if h.words.MatchString(words) {
			return h.hint
		}
	}
	return lang.T("see that the network is there and that `git ls-remote` with this address works, then update it again")
}

// outputWriter receives git's output.
type outputWriter interface {
	Write(p []byte) (int, error)
	// refused reports whether there was more than it takes.
	refused() bool
}

// errRefused is the error of a writer that takes no more.
var errRefused = errors.New("too much output")

// stopper is a writer that calls stop when its writer takes no more.
type stopper struct {
	outputWriter
	stop func()
}

// Write implements io.Writer.
func (s stopper) Write(p []byte) (int, error) {
	n, err := s.outputWriter.Write(p)
	if err != nil {
		s.stop()
	}
	return n, err
}

// bounded takes at most a number of bytes. It does not embed bytes.Buffer: io.Copy would use its
// ReadFrom, and nothing would be bounded.
type bounded struct {
	data []byte
	most int
	over bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.most {
		b.over = true
		return 0, errRefused
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *bounded) refused() bool { return b.over }

// lastLines keeps the end of its input.
type lastLines struct {
	data []byte
	cut  bool
}

// Write implements io.Writer. It never fails, since git would fail too.
func (t *lastLines) Write(p []byte) (int, error) {
	if t.data = append(t.data, p...); len(t.data) > 2*maxSaid {
		t.data, t.cut = append(t.data[:0], t.data[len(t.data)-maxSaid:]...), true
	}
	return len(p), nil
}

// String returns whole lines: the rest of a cut line may be half of a secret.
func (t *lastLines) String() string {
	if !t.cut {
		return string(t.data)
	}
	_, lines, _ := bytes.Cut(t.data, []byte("\n"))
	return string(lines)
}

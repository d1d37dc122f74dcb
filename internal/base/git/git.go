// Package git runs git, and no other package does. A repository has no influence on a call: otherwise
// everybody able to write to it could have commands run.
//
// A [Call] states the git directory, and git looks for none. The person's own configuration, keys, helpers
// for credentials, filters and proxies stay in force. Hooks, monitors of files and transports other than
// the stated one are off for every call.
//
// [Look] describes a project written by others. There git does not see the project's git directory at all,
// but one made for the occasion, with the checked-out commit and settings without a program's name. Index
// and objects are read in their own place.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// grace is the time to wait for the output of an ended git if another process holds it open, for example a
// connection kept by ssh for later.
const grace = 500 * time.Millisecond

// maxSaid is the number of kept bytes of git's standard error.
const maxSaid = 8 << 10

// Call is one call of git.
type Call struct {
	// Program is the path of git. If it is "", git is looked up in PATH.
	Program string
	// Args are the subcommand and the arguments.
	Args []string
	// Dir is the folder in which it runs.
	Dir string
	// Repository is the git directory, Tree the work tree. "" is none, and git does not search for one.
	Repository, Tree string
	// Protocol is the one allowed transport, for example "https"; "" is none.
	Protocol string
	// Settings override the person's settings, each as key=value.
	Settings []string
	// Secrets are settings to keep out of the arguments of a process, as pairs of key and value. They need
	// git 2.31.
	Secrets []string
	// Env are variables besides the person's.
	Env []string
	// In is the input of git; nil is an empty one.
	In io.Reader
	// Out receives the output. An error of it ends git.
	Out io.Writer
}

// Failure is the error of a git that was started and failed.
type Failure struct {
	// Said is the end of git's standard error, in whole lines.
	Said string
	// Err is the error with which it ended.
	Err error
}

// Error returns the text of the error with which git ended.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error with which git ended.
func (f *Failure) Unwrap() error { return f.Err }

// Run runs git and waits for it. The error is the context's if it has ended, else Out's, else a [*Failure],
// or the error of the system if git could not be started.
func (c Call) Run(ctx context.Context) error {
	said := &lastLines{}
	// A program with too much output is killed, because not every one ends when nobody reads it.
	running, stop := context.WithCancel(ctx)
	defer stop()
	out := &stopper{out: c.Out, stop: stop}
	cmd := exec.CommandContext(running, cmp.Or(c.Program, "git"), append(c.settingArgs(), c.Args...)...) //nolint:gosec // git, by the callers' words
	cmd.Dir, cmd.Env = c.Dir, c.environment(os.Environ())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, out, said
	cmd.WaitDelay = grace
	setProcessGroup(cmd)
	err := cmd.Start()
	started := err == nil
	if started {
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.err != nil:
		return out.err
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // git's own exit counts
		return nil
	case !started:
		return err
	}
	return &Failure{said.String(), err}
}

// settingArgs returns the arguments before the subcommand. They override the settings of the person.
func (c Call) settingArgs() []string {
	all := []string{
		"protocol.allow=never",
		"core.hooksPath=" + os.DevNull,
		"core.fsmonitor=false",
		"core.untrackedCache=false",
		"core.longpaths=true",
		"credential.interactive=false",
		"fetch.recurseSubmodules=false",
		"submodule.recurse=false",
		"transfer.bundleURI=false",
		"gc.auto=0",
		"maintenance.auto=false",
	}
	if c.Protocol != "" {
		all = append(all, "protocol."+c.Protocol+".allow=always")
	}
	var out []string
	for _, setting := range append(all, c.Settings...) {
		out = append(out, "-c", setting)
	}
	return out
}

// kept matches the variables of git to pass on. All others with GIT_ in front belong to the repository in
// which this program may have been started, or are for tracing.
var kept = pattern.New(`^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|(?:SSL|PROXY|HTTP)_\w+)$`)

// environment returns the environment of git: the person's, with all settings, keys and proxies, but
// without variables that could prompt the person or lead git elsewhere.
func (c Call) environment(inherited []string) []string {
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
		case strings.HasPrefix(name, "BMAD_"), name == "PGPASSWORD": // a store's password, of which no program of git's needs to know
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
	own = append(own, c.Secrets...)
	for i := 0; i < len(own); i += 2 {
		n := strconv.Itoa(i / 2)
		out = append(out, "GIT_CONFIG_KEY_"+n+"="+own[i], "GIT_CONFIG_VALUE_"+n+"="+own[i+1])
	}
	out = append(out,
		"GIT_CONFIG_COUNT="+strconv.Itoa(len(own)/2),
		"GIT_DIR="+cmp.Or(c.Repository, os.DevNull),
		"GIT_ALLOW_PROTOCOL="+cmp.Or(c.Protocol, "none"),
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // overrides the setting's, too
		"GIT_LFS_SKIP_SMUDGE=1",
		"SSH_ASKPASS_REQUIRE=never",
		"GCM_INTERACTIVE=never",
		"LC_ALL=C",
	)
	if c.Tree != "" {
		out = append(out, "GIT_WORK_TREE="+c.Tree)
	}
	return slices.Concat(out, c.Env)
}

// stopper is a writer that calls stop when the writer below takes no more.
type stopper struct {
	out  io.Writer
	stop func()
	err  error
}

// Write implements io.Writer.
func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	if err != nil {
		s.err = err
		s.stop()
	}
	return n, err
}

// lastLines keeps the end of the text written to it.
type lastLines struct {
	data []byte
	cut  bool
}

// Write implements io.Writer. It never fails, because git would fail, too.
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

// ErrTooMuch is the error of a call with too much output.
var ErrTooMuch = errors.New("git printed more than it should")

// Bounded is a writer for at most a number of bytes; then it fails with [ErrTooMuch]. It does not embed
// bytes.Buffer, because io.Copy would use the buffer's ReadFrom, which has no bound.
type Bounded struct {
	Data []byte
	Most int
}

// Write implements io.Writer.
func (b *Bounded) Write(p []byte) (int, error) {
	if len(b.Data)+len(p) > b.Most {
		return 0, ErrTooMuch
	}
	b.Data = append(b.Data, p...)
	return len(p), nil
}

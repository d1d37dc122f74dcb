// Package contract runs the completion contract of a project: the check that decides whether
// work is finished.
//
// The contract is the verify command of the settings, else the script of a kit
// (_bmad/_config/custom/cc-verify.sh, or the same under _grimoire), else none. Either runs only if
// the person has allowed it, the script by its content. A script gets the stack in the variable
// CC_STACK and no arguments; it finds its own folder by $0, while BASH_SOURCE is empty.
package contract

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Status is the outcome of a contract.
type Status string

// The outcomes. Only Pass means a check with a good result.
const (
	Pass    Status = "PASS"
	Fail    Status = "FAIL"
	Skipped Status = "SKIPPED"
	Error   Status = "ERROR"
)

// Auto is the stack of a call without a choice.
const Auto = "auto"

// maxOutput bounds the output in a result, in bytes, without the mark of its beginning.
const maxOutput = 4000

// The exit codes of a shell for a command it could not run.
const notExecutable, notFound = 126, 127

// Call names the work to check.
type Call struct {
	// Stack is one of Stacks; empty is Auto.
	Stack string
	// Dir is a folder of the project, absolute or relative to it; empty is the project.
	Dir string
}

// Result is the outcome of a contract, as callers read it.
type Result struct {
	Status  Status `json:"status"`
	Command string `json:"command,omitempty"`
	// Stack names the checked stacks, if they are known: the one of the call, or the ones reported by the script,
	// for example "go, node".
	Stack string `json:"stack"`
	// Output is the end of the output, without control sequences for terminals.
	Output     string `json:"output,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	// ExitCode is nil if nothing ran to completion.
	ExitCode *int     `json:"exit_code,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	// Proposed is a possible command for the contract; Hint is the way to configure it.
	Proposed string `json:"proposed,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

// Runner runs contracts, one in a project at a time.
type Runner struct {
	person  *permission.Person
	current runs
}

// New returns a runner for the person who allows commands.
func New(person *permission.Person) *Runner { return &Runner{person: person} }

// Run checks the work in a project.
func (r *Runner) Run(ctx context.Context, p *project.Project, call Call, tell func(verify.Notice)) (Result, error) {
	call.Stack = cmp.Or(strings.TrimSpace(call.Stack), Auto)
	if !slices.Contains(Stacks(), call.Stack) {
		return Result{}, fault.New(fault.InvalidArgument, "unknown stack %q", call.Stack).
			WithHint("the stacks are: %s", strings.Join(Stacks(), ", ")).Suggest(call.Stack, Stacks())
	}
	dir, err := localFolder(p, call.Dir)
	if err != nil {
		return Result{}, err
	}
	call.Dir = dir
	return r.current.runShared(ctx, p, call, func() (Result, error) { return r.runContract(ctx, p, call, tell) })
}

// localFolder returns the path of a folder relative to the project. It refuses a link to the outside.
func localFolder(p *project.Project, given string) (string, error) {
	local := p.Local(cmp.Or(given, "."))
	if info, err := p.Dir.Stat(local); err != nil || !info.IsDir() || !filepath.IsLocal(filepath.FromSlash(local)) {
		return "", fault.New(fault.InvalidArgument, "working_dir %q is not a folder inside the project %s", given, p.Dir.Path()).
			WithHint("pass an existing folder of the project, or leave it out for all of it")
	}
	return local, nil
}

// runContract runs the first contract of the project.
func (r *Runner) runContract(ctx context.Context, p *project.Project, call Call, tell func(verify.Notice)) (Result, error) {
	guard, said, l := r.person.In(p), &verdicts{}, p.Language("")
	limits := verify.Limits{Tail: maxOutput, Language: l, Env: []string{"CC_STACK"}, Copy: said} // without a value it is removed
	if call.Stack != Auto {
		limits.Env[0] += "=" + call.Stack
	}
	if command := guard.Configured(); command.Command != "" {
		if call.Dir != "." {
			return Result{}, fault.New(fault.InvalidArgument, "the verify command of the settings is for the whole project, and working_dir is %q", call.Dir).
				WithHint("call again without working_dir")
		}
		e, err := guard.Verify(ctx, tell, command, limits)
		if err != nil {
			return Result{}, err
		}
		return newResult(l, call.Stack, e, ofCommand(e)), nil
	}
	script, err := guard.Script()
	if err != nil {
		return Result{}, err
	}
	if script == nil {
		found, command := proposeCommand(p.Dir.Tree(), call)
		return Result{
			Status: Skipped, Stack: cmp.Or(strings.Join(found, ", "), call.Stack), Proposed: command,
			Notes: []string{l.Say("nothing was run: the project names no verify command, and has no script of a kit")},
			Hint:  l.Say("to have the work checked, set `verify` in %s; the person then allows it: %s allow", config.ProjectFile, r.person.Names.Program),
		}, nil
	}
	e, err := guard.Run(ctx, tell, script, p.Dir.Join(call.Dir), limits)
	if err != nil {
		return Result{}, err
	}
	said.endLine()
	if call.Stack == Auto {
		call.Stack = cmp.Or(said.stacks, Auto)
	}
	return newResult(l, call.Stack, e, said.scriptStatus(e)), nil
}

// ofCommand returns the outcome of a verify command.
func ofCommand(e *workflow.Evidence) Status {
	switch {
	case !ranToEnd(e) || e.ExitCode == notExecutable || e.ExitCode == notFound:
		return Error
	case e.ExitCode == 0:
		return Pass
	}
	return Fail
}

// ranToEnd reports whether a command ended by itself.
func ranToEnd(e *workflow.Evidence) bool { return e.NotRun == "" && !e.TimedOut && e.ExitCode >= 0 }

// newResult describes a command after the run, or a command that could not be started.
func newResult(l lang.Language, stack string, e *workflow.Evidence, status Status) Result {
	out := Result{Status: status, Command: e.Command, Stack: stack, Output: e.Tail, DurationMS: e.TookMS, Notes: e.Notes}
	switch {
	case e.NotRun != "":
		out.Notes = append(out.Notes, e.NotRun)
	case e.TimedOut:
		out.Notes = append(out.Notes, l.Say("it took longer than %s allows, and was stopped", "verify_timeout"))
	default:
		out.ExitCode = &e.ExitCode
	}
	if status == Skipped {
		out.Notes = append(out.Notes, l.Say("the script ended without a line CC PASS or CC FAIL: it has checked nothing"))
	}
	return out
}

// runs are the contracts under way: a *shared for the path of each project.
type runs struct{ open sync.Map }

// shared is a contract under way. The result is valid once ended is closed.
type shared struct {
	call Call
	// tree is the fingerprint of the project's files at the start, "" if it is unknown.
	tree  string
	ended chan struct{}

	result Result
	err    error
	// givenUp is true if the caller did not wait for the end.
	givenUp bool
}

// runShared runs a contract, or waits for the one under way in the same project if it has the same call: two
// simultaneous runs of a build disturb each other.
func (r *runs) runShared(ctx context.Context, p *project.Project, call Call, run func() (Result, error)) (Result, error) {
	key := trust.PathOf(p.Dir.Path())
	for {
		tree, _ := p.Fingerprint(nil, time.Time{})
		mine := &shared{call: call, tree: tree, ended: make(chan struct{}), givenUp: true}
		found, isRunning := r.open.LoadOrStore(key, mine)
		other := found.(*shared)
		switch {
		case !isRunning:
			defer func() { // also after a panic, whose result is not shared
				r.open.Delete(key)
				close(mine.ended)
			}()
			mine.result, mine.err = run()
			mine.givenUp = ctx.Err() != nil
			return mine.result, mine.err
		case other.call != call:
			return Result{}, errBusy(lang.T("for another stack or folder"))
		case tree == "" || other.tree != tree:
			return Result{}, errBusy(lang.T("and files have changed since it began"))
		}
		select {
		case <-other.ended:
			if !other.givenUp {
				return other.result, other.err
			}
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
}

func errBusy(why lang.Text) error {
	return fault.New(fault.Conflict, "the completion contract runs in this project already, %s", why).
		WithHint("wait until it has ended, then call again")
}

// verdictLine matches the line with the result of a script of the kit, and the stacks in it.
var verdictLine = pattern.New(`^[^\p{L}\p{N}]*CC (PASS|FAIL)\b(?:[^\[]{0,20}\[([^\]]{1,100})\])?`)

// maxLine bounds the bytes read of a line.
const maxLine = 1000

// verdicts reads all the output of a script for the verdict: the kept end may not have the line.
type verdicts struct {
	line         []byte
	pass, failed bool
	// stacks names the stacks reported by the script.
	stacks string
}

// Write implements io.Writer. It never fails, since an error would make the script fail.
func (v *verdicts) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			v.addToLine(p)
			return n, nil
		}
		v.addToLine(p[:i])
		v.endLine()
		p = p[i+1:]
	}
}

func (v *verdicts) addToLine(part []byte) {
	v.line = append(v.line, part[:min(len(part), maxLine-len(v.line))]...)
}

// endLine reads the complete line.
func (v *verdicts) endLine() {
	if m := verdictLine.FindStringSubmatch(verify.Plain(string(v.line))); m != nil {
		v.pass, v.failed = v.pass || m[1] == "PASS", v.failed || m[1] == "FAIL"
		if m[2] != "" {
			v.stacks = m[2]
		}
	}
	v.line = v.line[:0]
}

// scriptStatus returns the outcome of a script. An exit code of 0 alone does not pass: the script of the
// kit ends so if it knows no stack of the project.
func (v *verdicts) scriptStatus(e *workflow.Evidence) Status {
	switch {
	case !ranToEnd(e):
		return Error
	case e.ExitCode == 1 || v.failed:
		return Fail
	case e.ExitCode != 0:
		return Error
	case v.pass:
		return Pass
	}
	return Skipped
}

// stack is a kind of project, with a command to propose for it.
type stack struct {
	name string
	// marks are patterns of names of files in such a project, the likelier first; with a slash at the end, of
	// folders.
	marks []string
	// command is proposed; %s stands for the name of the file found.
	command string
}

var stacks = []stack{
	{"go", []string{"go.mod"}, "go build ./... && go vet ./... && go test ./..."},
	{"typescript", []string{"package.json"}, "npm test"},
	{"python", []string{"pyproject.toml", "setup.py", "requirements*.txt"}, "python -m pytest"},
	{"terraform", []string{"*.tf"}, "terraform init -backend=false && terraform validate"},
	{"ansible", []string{"playbook*.yml", "playbook*.yaml", "site.yml", "ansible/"}, "ansible-lint"},
	{"docker", []string{"Dockerfile"}, "docker build --check ."},
	{"k8s", []string{"k8s/", "kubernetes/", "manifests/"}, "kubectl apply --dry-run=client -R -f %s"},
}

// Stacks returns the names of the stacks.
func Stacks() []string {
	out := []string{Auto}
	for _, s := range stacks {
		out = append(out, s.name)
	}
	return out
}

// proposeCommand returns the stacks found in the call's folder, and a command to check them.
func proposeCommand(tree fs.FS, call Call) (found []string, command string) {
	entries, err := fs.ReadDir(tree, call.Dir)
	if err != nil {
		return nil, ""
	}
	var commands []string
	if call.Dir != "." {
		commands = append(commands, "cd '"+strings.ReplaceAll(call.Dir, "'", `'\''`)+"'")
	}
	for _, s := range stacks {
		isWanted := call.Stack == Auto || call.Stack == s.name
		if mark := s.findMark(entries); mark != "" && isWanted {
			found, commands = append(found, s.name), append(commands, strings.Replace(s.command, "%s", mark, 1))
		}
	}
	if found == nil {
		return nil, ""
	}
	return found, strings.Join(commands, " && ")
}

// findMark returns the entry identifying a folder of the stack, "" if there is none.
func (s stack) findMark(entries []fs.DirEntry) string {
	for _, mark := range s.marks {
		name, folder := strings.CutSuffix(mark, "/")
		for _, e := range entries {
			if fits, err := path.Match(name, e.Name()); err == nil && fits && e.IsDir() == folder {
				return e.Name()
			}
		}
	}
	return ""
}

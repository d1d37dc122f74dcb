package hostcli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// The bounds of a program's output.
const (
	maxLine   = 16 << 20
	maxOutput = 512 << 20
)

// grace is the time that a program has to save its session when it has to end.
var grace = 5 * time.Second

var errFlood = fmt.Errorf("it printed more than %d MB", maxOutput>>20)

// program is an engine's program with its arguments.
type program struct {
	path string
	args []string
	env  []string
	// line is called with each line of the output.
	line func([]byte)
}

// run runs a program on a job's prompt until it and all that it has started have ended. If the program
// failed, the error has its own words if there are any. If the context has ended, the error is that of
// the context.
func (p program) run(ctx context.Context, j Job) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:gosec // the person's own assistant
	cmd.Dir, cmd.Env, cmd.Stdin = j.Dir, p.env, strings.NewReader(j.Prompt)
	out := &lines{each: p.line, raw: j.Raw, left: maxOutput, flood: func() { stop(errFlood) }}
	why := "" // the last line that begins as an error, or the last one if none does
	isError := func(line string) bool { return strings.HasPrefix(strings.ToLower(line), "error") }
	words := &lines{left: math.MaxInt, each: func(line []byte) {
		if isError(string(line)) || !isError(why) {
			why = string(line)
		}
	}}
	cmd.Stdout, cmd.Stderr = out, words
	group := process.Own(cmd, grace)
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	stopped, err := group.Wait()
	group.End()
	out.end()
	words.end()
	switch {
	case stopped:
		return context.Cause(ctx)
	case cmd.ProcessState == nil || !cmd.ProcessState.Success():
		return errors.Join(errors.New(why), err)
	}
	return nil // the program did not fail if a child held the output open
}

// lines is a writer that cuts its input into lines. A line that is too long is left out.
type lines struct {
	each  func([]byte)
	raw   io.Writer
	part  []byte
	skip  bool
	left  int
	flood func()
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	if l.left -= n; l.left < 0 {
		l.flood()
		return n, nil // the program is about to end
	}
	for {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		if l.skip = l.skip || len(l.part)+len(line) > maxLine; l.skip {
			l.part = nil
		} else {
			l.part = append(l.part, line...)
		}
		if !whole {
			return n, nil
		}
		l.end()
		l.skip, p = false, rest
	}
}

// end passes on the line so far.
func (l *lines) end() {
	line := bytes.TrimSpace(l.part)
	l.part = l.part[:0]
	if len(line) == 0 {
		return
	}
	if l.raw != nil {
		_, _ = l.raw.Write(append(slices.Clip(line), '\n')) // only a log: the work goes on without it
	}
	l.each(line)
}

// marks are the variables that an assistant sets for the programs that it starts.
var marks = []string{
	"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PROJECT_DIR",
	"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
}

// environment returns the variables for an engine: those of the person, by which it finds its
// login, without our own settings and without the marks of an assistant around us.
func environment(env []string, more ...string) []string {
	if env == nil {
		env = os.Environ()
	}
	var out []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name) // Windows ignores case
		if !strings.HasPrefix(name, "BMAD_") && !slices.Contains(marks, name) {
			out = append(out, entry)
		}
	}
	return append(out, more...)
}

// configuration returns the folder of an assistant's own settings: the one that a variable names, else
// its usual one in the person's home, or "" if there is neither.
func configuration(env []string, name, usual string) string {
	home := cmp.Or(value(env, "HOME"), value(env, "USERPROFILE"))
	folder := cmp.Or(value(env, name), filepath.Join(home, usual))
	if !filepath.IsAbs(folder) {
		return ""
	}
	return folder
}

// conversation returns the name of an engine's conversation. It comes from a file that others can
// write, and must not become an option.
func conversation(engine, name string) (string, error) {
	id, err := uuid.Parse(name)
	if err != nil {
		return "", &Failure{Engine: engine, Why: fmt.Sprintf("%q is not the name of one of its sessions", name)}
	}
	return id.String(), nil
}

// value returns a variable of an environment.
func value(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			return text
		}
	}
	return ""
}

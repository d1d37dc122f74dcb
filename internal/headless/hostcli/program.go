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

// grace is a program's time to save the session before the end, linger the time to end after its result.
var grace, linger = 5 * time.Second, 5 * time.Second

var (
	errFlood  = fmt.Errorf("it printed more than %d MB", maxOutput>>20)
	errLinger = errors.New("it does not end after its result")
)

// listener reads the output of an engine's program.
type listener interface {
	readLine([]byte)
	// complete reports whether the program has printed its result, and nothing of another turn since.
	complete() bool
	// outcome returns the result after the last line. judgeWork, called next, reports whether the work was done, and
	// the reason if it was not, because a program may end well without.
	outcome() *Outcome
	judgeWork() (why string, ok bool)
}

// finish returns the result of a program that has ended with an error, or with nil.
func finish(ctx context.Context, engine string, r listener, because error) (*Outcome, error) {
	out := r.outcome()
	if why, ok := r.judgeWork(); !ok || because != nil {
		return out, newFailure(ctx, engine, because, why)
	}
	return out, nil
}

// recall returns the result in the kept output of a program whose end nobody has seen.
func recall(engine string, r listener, raw []byte) (*Outcome, error) {
	l := &lines{each: r.readLine, left: math.MaxInt}
	_, _ = l.Write(raw)
	l.flushLine()
	return finish(context.Background(), engine, r, nil)
}

// program is an engine's program with arguments.
type program struct {
	path string
	args []string
	env  []string
	// out reads the output.
	out listener
}

// run runs a program on a job's prompt until it and all programs started by it have ended. One that does not end
// after the result is ended. The error of a failed program has the program's own words if there are any. If the
// context has ended before the result, the error is the context's.
func (p program) run(ctx context.Context, j Job) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:gosec // the person's own assistant
	cmd.Dir, cmd.Env, cmd.Stdin = j.Dir, p.env, strings.NewReader(j.Prompt)
	late := time.AfterFunc(time.Hour, func() { stop(errLinger) })
	late.Stop()
	defer late.Stop()
	out := &lines{each: func(line []byte) {
		before := p.out.complete()
		p.out.readLine(line)
		switch now := p.out.complete(); {
		case now && !before:
			late.Reset(linger)
		case before && !now:
			late.Stop()
		}
	}, raw: j.Raw, left: maxOutput, flood: func() { stop(errFlood) }}
	why := "" // the last line that begins as an error, or the last line
	isError := func(line string) bool { return strings.HasPrefix(strings.ToLower(line), "error") }
	words := &lines{left: math.MaxInt, each: func(line []byte) {
		if isError(string(line)) || !isError(why) {
			why = string(line)
		}
	}}
	cmd.Stdout, cmd.Stderr = out, words
	group := process.Own(cmd, cmp.Or(j.Grace, grace))
	if err := group.Start(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	stopped, err := group.Wait()
	group.End()
	out.flushLine()
	words.flushLine()
	switch {
	case stopped && p.out.complete() && !errors.Is(context.Cause(ctx), errFlood):
		return nil
	case stopped:
		return context.Cause(ctx)
	case cmd.ProcessState == nil || !cmd.ProcessState.Success():
		return errors.Join(errors.New(why), err)
	}
	return nil // the program did not fail if a child held the output open
}

// lines is a writer that cuts the input into lines. Too long a line is left out.
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
		l.flushLine()
		l.skip, p = false, rest
	}
}

// flushLine passes on the line so far.
func (l *lines) flushLine() {
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

// engineEnv returns the variables for an engine: the person's, by which it finds the login.
func engineEnv(env []string, more ...string) []string {
	if env == nil {
		env = os.Environ()
	}
	return append(process.Environ(env), more...)
}

// configFolder returns the folder of an assistant's own settings: the one named by a variable, else the usual
// one in the person's home, or "" if there is neither.
func configFolder(env []string, name, usual string) string {
	home := cmp.Or(lookupEnv(env, "HOME"), lookupEnv(env, "USERPROFILE"))
	folder := cmp.Or(lookupEnv(env, name), filepath.Join(home, usual))
	if !filepath.IsAbs(folder) {
		return ""
	}
	return folder
}

// parseConversation returns the name of an engine's conversation. It comes from a file writable by others, and
// must not become an option.
func parseConversation(engine, name string) (string, error) {
	id, err := uuid.Parse(name)
	if err != nil {
		return "", &Failure{Engine: engine, Why: fmt.Sprintf("%q is not the name of one of its sessions", name)}
	}
	return id.String(), nil
}

// lookupEnv returns a variable of an environment.
func lookupEnv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			return text
		}
	}
	return ""
}

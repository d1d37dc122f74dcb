package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// launcher starts runs as a person at a terminal does, each in a process that outlives this one. It implements
// [web.Runs].
type launcher struct {
	// program is the file of this program, found as it was at the begin.
	program string
	found   os.FileInfo
	// state is the person's state folder, which has the outputs.
	state string

	mu sync.Mutex
	// asked are the processes that were asked to end: a second signal would end them at once.
	asked map[process.Mark]bool
}

const (
	// beginWait bounds the time in which a run begins or is refused.
	beginWait = 25 * time.Second
	// beginPoll is the interval of the looks at its output.
	beginPoll = 20 * time.Millisecond
	// maxLogs bounds the kept outputs, maxLog the read bytes of one.
	maxLogs = 50
	maxLog  = 64 << 20
)

// newLauncher returns a launcher with a state folder, nil where no process can be left behind.
func newLauncher(state string) (web.Runs, error) {
	if state == "" || !process.CanDetach() {
		return nil, nil //nolint:nilnil // the pages say so
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	found, err := os.Stat(program)
	return &launcher{program: program, found: found, state: state, asked: map[process.Mark]bool{}}, err
}

// argumentsOf returns the arguments of the program for a wish. No text of it can become a flag.
func argumentsOf(folder string, w web.Wish) []string {
	out := []string{"--cwd=" + folder, "run", "--gates=stop", "--events=-"}
	for _, flag := range []struct{ name, value string }{
		{"resume", w.Resume}, {"workflow", w.Workflow}, {"engine", w.Engine}, {"model", w.Model}, {"budget", w.Budget},
	} {
		if flag.value != "" {
			out = append(out, "--"+flag.name+"="+flag.value)
		}
	}
	if w.Resume == "" {
		out = append(out, "--", w.Objective)
	}
	return out
}

// Start implements [web.Runs].
func (l *launcher) Start(ctx context.Context, folder string, w web.Wish) (task string, err error) {
	args := argumentsOf(folder, w)
	if strings.Contains(strings.Join(args, ""), "\x00") {
		return "", fault.New(fault.InvalidArgument, "a text has a NUL character, which no program can be given").WithHint("type it anew")
	}
	if now, err := os.Stat(l.program); err != nil || !os.SameFile(now, l.found) {
		return "", fault.New(fault.Conflict, "the program at %s was replaced since this dashboard was started", l.program).WithHint("end the dashboard and start it again")
	}
	log, err := l.createLog()
	if err != nil {
		return "", fault.From(err)
	}
	defer func() { _ = log.Close() }()                                         // the process has its own
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.program, args...) //nolint:gosec // this program, with a person's words
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, log, log
	process.Detach(cmd)
	if err := cmd.Start(); err != nil {
		_ = os.Remove(log.Name())
		return "", fault.New(fault.Storage, "the run cannot be started: %w", err).WithHint("start it in a terminal: bmad-mcp run")
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its output says how it ended
		close(ended)
	}()
	return awaitBegin(ctx, log.Name(), ended)
}

// createLog makes the file for the output of a run.
func (l *launcher) createLog() (*os.File, error) {
	dir, err := durable.OpenDir(l.state)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	const folder = "dashboard/runs"
	if _, err := dir.MkdirAll(folder); err != nil {
		return nil, err
	}
	_ = dir.RemoveOldest(folder, maxLogs-1) // too many do not matter
	file, err := dir.Create(folder + "/" + rand.Text() + ".log")
	if err != nil {
		return nil, err
	}
	log, ok := file.(*os.File) // else a part of this process would have to carry the output over
	if !ok {
		return nil, errors.Join(fs.ErrInvalid, file.Close())
	}
	return log, nil
}

// awaitBegin waits until a run has begun or has ended without, and returns its task or why it was refused. The output
// of a refused one is removed.
func awaitBegin(ctx context.Context, log string, ended <-chan struct{}) (task string, err error) {
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	look := time.NewTicker(beginPoll)
	defer look.Stop()
	for over := false; ; {
		output, err := durable.ReadPath(log, maxLog)
		if err != nil {
			return "", fault.From(err)
		}
		task, refusal := readOutput(output)
		switch {
		case task != "":
			return task, nil
		case over:
			_ = os.Remove(log) // it is shown now
			return "", refusal
		}
		select {
		case <-look.C:
		case <-ended:
			over = true
		case <-ctx.Done():
			return "", fault.New(fault.Conflict, "the run has not begun yet").WithHint("the list of runs shows it when it has; its output is in %s", log)
		}
	}
}

// readOutput returns the task of a run that has begun, by its output so far, and else the refusal for one that has
// ended: the other lines are for people.
func readOutput(output []byte) (task string, refusal *fault.Error) {
	var lines []string
	for line := range bytes.Lines(output) {
		var e headless.Event
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue // more comes
		}
		if line = bytes.TrimSpace(line); workflow.Unmarshal(line, &e) == nil {
			if e.Type == headless.RunStarted {
				return e.TaskName, nil
			}
			continue
		}
		if text := strings.TrimPrefix(string(line), "bmad-mcp: "); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return "", fault.New(fault.Storage, "the run has ended before it began, and has said nothing").WithHint("start it in a terminal: bmad-mcp run")
	}
	return "", fault.New(fault.NotAllowed, "%s", lines[0]).WithHint("%s", strings.Join(lines[1:], " "))
}

// Stop implements [web.Runs].
func (l *launcher) Stop(ctx context.Context, folder, sessionID string) error {
	at := headless.ProcessOf(ctx, run.Rights(folder), sessionID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked[at] && at.Runs() {
		return fault.New(fault.Conflict, "the run was asked to end already").WithHint("it ends after what it is writing now")
	}
	switch err := at.Interrupt(); {
	case errors.Is(err, process.ErrUnmarked):
		return fault.New(fault.Conflict, "no process of this run is seen from here: it has ended, or works in a container or for another account").
			WithHint("load the page again; if it still works, press Ctrl+C where it was started")
	case errors.Is(err, os.ErrPermission):
		return fault.New(fault.NotAllowed, "the run belongs to another account of this machine").WithHint("press Ctrl+C where it was started")
	case err != nil:
		return fault.New(fault.Storage, "the run cannot be asked to end: %w", err).WithHint("press Ctrl+C where it was started")
	}
	l.asked[at] = true
	return nil
}

package headless

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// stateVersion is the version of run.json.
const stateVersion = 1

// state is the memory of a run from step to step. It is replaced as a whole, so that an answer and the cost of
// it are kept together or not at all.
type state struct {
	Version   int    `json:"version"`
	SessionID string `json:"session_id"`
	TaskName  string `json:"task_name"`
	rights
	// Attempt is the latest work, Answer an engine's text to submit, and Submission the text submitted last.
	Attempt    *attempt    `json:"attempt,omitempty"`
	Answer     *answer     `json:"answer,omitempty"`
	Submission *submission `json:"submission,omitempty"`
	// Given has the stages whose document the person has named, if it was submitted.
	Given map[workflow.StageID]bool `json:"given,omitempty"`
	// Wrote has the files that engines have changed and that are not committed, Commit the latest commit of the run. Both are
	// only of a run with a branch of its own.
	Wrote  []string `json:"wrote,omitempty"`
	Commit string   `json:"commit,omitempty"`
	// Apart has the files that are not committed as git ignored them before a call: all while it is under way, and after it the
	// ones that git no longer ignores.
	Apart []string `json:"apart,omitempty"`
	// Repeated counts the calls whose end nobody has seen, so that they were made again.
	Repeated int `json:"repeated,omitempty"`
	// Worktree is the folder of the run's worktree.
	Worktree string `json:"worktree,omitempty"`
	// Before is the project's repository before the first change, After the one seen last.
	Before *Tree `json:"tree_before,omitempty"`
	After  *Tree `json:"tree_after,omitempty"`
	// Extra are the keys of newer programs.
	Extra workflow.Extra `json:",unknown"`
}

// point is a place in the history of a session.
type point struct {
	Stage    workflow.StageID `json:"stage"`
	Revision int              `json:"revision"`
}

type attempt struct {
	point
	// Files is the fingerprint of the project's files before the first attempt of the point.
	Files string `json:"files,omitempty"`
	// Before has the hashes of the files that were not committed then, for a run with a branch of its own.
	Before map[string]string `json:"before,omitempty"`
	// Call is the number of the call under way, 0 after it has ended, with the engine, the conversation that it
	// continues, and the files before it that other programs obey.
	Call    int            `json:"call,omitempty"`
	Engine  string         `json:"engine,omitempty"`
	Session string         `json:"engine_session,omitempty"`
	Obeyed  []obeyed.State `json:"obeyed,omitempty"`
}

type answer struct {
	point
	Engine string `json:"engine"`
	Text   string `json:"text"`
}

type submission struct {
	point
	SHA256 string `json:"sha256"`
}

// files are the files of one run.
type files struct {
	dir    *durable.Dir
	folder string
	unlock func() error
	// pending are events not written yet.
	pending []byte
}

func filesOf(dir *durable.Dir, sessionID string) *files {
	return &files{dir: dir, folder: project.RunFolder(sessionID)}
}

// Limits of the files, in bytes.
const (
	maxState   = 64 << 20
	maxPending = 64 << 10
	maxRaw     = 64 << 20
)

// lockWait is the time in which another run of the same session may end.
const lockWait = 300 * time.Millisecond

// openFiles locks the run of a session, and reads the state, nil if there is none.
func openFiles(ctx context.Context, dir *durable.Dir, s *workflow.Session) (*files, *state, error) {
	f := filesOf(dir, s.SessionID)
	made, err := dir.MkdirAll(f.folder)
	if err == nil && len(made) > 0 {
		err = dir.Ignore(path.Dir(path.Dir(f.folder)))
	}
	if err != nil {
		return nil, nil, fault.From(err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := dir.Lock(ctx, f.folder+"/lock")
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return nil, nil, fault.New(fault.Conflict, "another run works on %q: %s", s.TaskName, busy.Holder).
			WithHint("wait for it, or end that process; bmad-mcp run --resume %s then goes on", s.TaskName)
	}
	if err != nil {
		return nil, nil, fault.From(err)
	}
	f.unlock = lock.Unlock
	kept, err := f.readState()
	if err != nil {
		return nil, nil, errors.Join(err, f.unlock())
	}
	return f, kept, nil
}

// RunFile returns the file of a session's run, from the project's folder.
func RunFile(sessionID string) string { return filesOf(nil, sessionID).stateName() }

func (f *files) stateName() string { return f.folder + "/run.json" }

// readState reads the state, nil if there is none.
func (f *files) readState() (*state, error) {
	data, err := f.dir.ReadFile(f.stateName(), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.From(err)
	}
	s := &state{}
	if err := workflow.Unmarshal(data, s); err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read: %w", f.dir.Join(f.stateName()), err).
			WithHint("correct it, or move it away: the run then goes on by what this machine has recorded")
	}
	if s.Version > stateVersion {
		return nil, fault.New(fault.Storage, "%s has version %d, and this program reads %d", f.dir.Join(f.stateName()), s.Version, stateVersion).
			WithHint("use the newer bmad-mcp that has written it")
	}
	return s, nil
}

// saveState replaces the state.
func (f *files) saveState(s *state) error {
	data, err := workflow.MarshalIndent(s)
	if err != nil {
		return err
	}
	return diskError(f.dir.Replace(f.stateName(), data))
}

// EventsFile returns the file of the events of a session's run, from the project's folder.
func EventsFile(sessionID string) string { return filesOf(nil, sessionID).eventsName() }

func (f *files) eventsName() string { return f.folder + "/events.jsonl" }

// logEvent keeps an event. The begin of the run and the end of something are worth a write, and so is the use of a tool,
// which people may watch for long; other events go with it.
func (f *files) logEvent(e Event) error {
	line, err := workflow.Marshal(e)
	if err != nil {
		return err
	}
	f.pending = append(append(f.pending, line...), '\n')
	waits := e.Type == EngineEvent && e.Activity != hostcli.UsesTool
	if waits && len(f.pending) < maxPending {
		return nil
	}
	lines := f.pending
	f.pending = nil
	return diskError(f.dir.AppendLines(f.eventsName(), lines))
}

// readEvents returns the saved events.
func (f *files) readEvents() (events []Event, err error) {
	data, err := f.dir.ReadFile(f.eventsName(), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(data) { // a crash may have cut one
		var e Event
		if workflow.Unmarshal(line, &e) == nil && e.Seq > 0 {
			events = append(events, e)
		}
	}
	return events, diskError(err)
}

func (f *files) rawName(stage workflow.StageID, call int) string {
	return fmt.Sprintf("%s/engine-%s-%d.jsonl", f.folder, stage, call)
}

// readRaw returns the output of a call.
func (f *files) readRaw(stage workflow.StageID, call int) ([]byte, error) {
	return f.dir.ReadFile(f.rawName(stage, call), 2*maxRaw)
}

// createRaw returns the file for the output of a call, which ends at a limit.
func (f *files) createRaw(stage workflow.StageID, call int) (io.WriteCloser, error) {
	file, err := f.dir.Create(f.rawName(stage, call))
	if err != nil {
		return nil, fault.From(err)
	}
	return &bounded{file, maxRaw}, nil
}

type bounded struct {
	io.WriteCloser
	left int
}

// Write drops the bytes beyond the limit: the file shows how an engine works, and is not a part of
// the run.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if n > 0 {
		if _, err := b.WriteCloser.Write(p[:n]); err != nil {
			b.left = 0
		}
	}
	return len(p), nil
}

// diskError returns an error of the disk for people, nil if there is none.
func diskError(err error) error {
	if err == nil {
		return nil
	}
	return fault.From(err)
}

// Kept is the record of a run, for people to look at.
type Kept struct {
	state
	Cost price.Report
	// At is the time of the last save. Working is true while a process works on the run.
	At      time.Time
	Working bool
}

// Past returns the record of a session's run, nil if it had none. It changes nothing, and can be
// called while the run is at work.
func Past(dir *durable.Dir, sessionID string) (*Kept, error) {
	f := filesOf(dir, sessionID)
	s, err := f.readState()
	if s == nil {
		return nil, err
	}
	out := &Kept{state: *s, Cost: price.NewBudget(price.Default(), s.Flags.Budget, s.Spent...).Report()}
	if info, err := dir.Stat(f.stateName()); err == nil {
		out.At = info.ModTime()
	}
	out.Working = f.isAtWork()
	return out, nil
}

// isAtWork reports whether a process works on the run.
func (f *files) isAtWork() bool {
	lock := f.folder + "/lock"
	if !f.dir.Exists(lock) {
		return false
	}
	holder, err := f.dir.Holder(lock)
	return err == nil && holder != ""
}

// AtWork lists the sessions of a project on whose run a process works.
func AtWork(dir *durable.Dir) (ids []string, err error) {
	all, err := Ran(dir)
	for _, id := range all {
		if filesOf(dir, id).isAtWork() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// PastEvents returns the events of a session's run, none if it had none. It can be called while the run is at work.
func PastEvents(dir *durable.Dir, sessionID string) ([]Event, error) {
	return filesOf(dir, sessionID).readEvents()
}

// Folders lists the ids of the sessions of a project with a folder for runs, at the cost of one look.
func Folders(dir *durable.Dir) (ids []string, err error) {
	entries, err := dir.ReadDir(path.Dir(project.RunFolder("x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}

// Ran lists the ids of the sessions of a project with a run, the latest first.
func Ran(dir *durable.Dir) ([]string, error) {
	ids, err := Folders(dir)
	var out []string
	at := map[string]time.Time{}
	for _, id := range ids {
		if info, err := dir.Stat(RunFile(id)); err == nil {
			out = append(out, id)
			at[id] = info.ModTime()
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(at[b].Compare(at[a]), cmp.Compare(a, b)) })
	return out, err
}

// readLease returns the state in the record of a lease, nil if there is none. On a fresh folder it forgets the facts about the
// folder of the other worker; in a folder that was taken over, a commit that the store has not is the one that is there now.
func readLease(l Lease, folder string) (*state, error) {
	data := l.Kept()
	if len(data) == 0 {
		return nil, nil
	}
	s := &state{}
	if err := workflow.Unmarshal(data, s); err != nil {
		return nil, fault.New(fault.Storage, "the record of the run in the store cannot be read: %w", err).
			WithHint("bmad-mcp queue cancel takes the run from the queue; bmad-mcp run --resume goes on with it here")
	}
	if s.Version > stateVersion {
		return nil, fault.New(fault.Storage, "the record of the run in the store has version %d, and this program reads %d", s.Version, stateVersion).
			WithHint("use the newer bmad-mcp that has written it")
	}
	isUnkept := s.Commit != l.Head()
	if !l.IsFresh() {
		var err error
		if isUnkept { // the person may have made it smaller
			s.Commit, err = git.Head(folder)
		}
		return s, err
	}
	isElsewhere := isUnkept || len(s.Wrote) > 0
	if s.Answer != nil && isElsewhere { // it reports work that is not here
		s.Answer, s.Repeated = nil, s.Repeated+1
	}
	s.Before, s.After, s.Wrote, s.Apart, s.Worktree, s.Commit = nil, nil, nil, nil, "", l.Head()
	if a := s.Attempt; a != nil {
		a.Files, a.Before, a.Obeyed = "", nil, nil
	}
	return s, nil
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestTrouble checks the code, the sentence and the remedy of each trouble with a project's files.
func TestTrouble(t *testing.T) {
	t.Parallel()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	own := fault.New(fault.NotFound, "gone")
	path := func(err error) error { return &os.PathError{Op: "open", Path: "a", Err: err} }
	const disk = "storage: the project cannot be read or written: open a: "
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"none":          {nil, ""},
		"its own":       {own, "not_found: gone | "},
		"cancelled":     {fmt.Errorf("x: %w", context.Canceled), "x: context canceled"},
		"late":          {context.DeadlineExceeded, "context deadline exceeded"},
		"busy":          {&durable.BusyError{Name: "a.lock", Holder: "pid 1"}, "conflict: it is in use: lock a.lock is held by pid 1 | wait for the other call to end"},
		"unconfirmed":   {&durable.UnconfirmedError{Name: "a", Err: errors.New("io")}, "storage: the disk did not confirm a change that is already visible: a is written, but the disk did not confirm it: io | a power loss could undo it"},
		"full":          {path(syscall.ENOSPC), disk + "no space left on device | free some space on the file system of " + dir.Path()},
		"read-only":     {path(syscall.EROFS), disk + "read-only file system | the file system of " + dir.Path() + " is mounted read-only"},
		"forbidden":     {path(fs.ErrPermission), disk + "permission denied | make the project folder, its .bmad-task and its .claude folders writable for you"},
		"another":       {path(syscall.EIO), disk + "input/output error | check the disk and the permissions of the project folder"},
		"not a file":    {&durable.NotRegularError{Name: "a", Mode: fs.ModeNamedPipe}, "storage: a file of the project cannot be used: a is "},
		"a bug of ours": {errors.New("x"), "internal: "},
	} {
		got := store.Trouble(dir, tt.err)
		said := ""
		var f *fault.Error
		switch {
		case errors.As(got, &f):
			said = fmt.Sprintf("%s: %s | %s", f.Code, f.Message, f.Hint)
		case got != nil:
			said = got.Error()
		}
		if !strings.HasPrefix(said, tt.want) || (got == nil) != (tt.err == nil) {
			t.Errorf("%s:\n got %s\nwant %s", name, said, tt.want)
		}
	}
}

// TestFormats checks which formats are opened, and what a session of the first one is given.
func TestFormats(t *testing.T) {
	t.Parallel()
	const session = `{"session_id":"0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22","task_name":"clock","current_stage":"architect","current_state":"%[1]s","version":%[2]d,"updated_at":"2026-01-02T03:04:05Z",
"artifacts":[".claude\\specs\\clock\\01-product-requirements.md","other.md"],"stages":{"gone":null,"po":{"questions":[{"id":"q1"},{"id":"q2"}],"answers":{"q1":"yes"},"final_result_ref":{"file_path":".bmad-task\\temp\\a\\b.md"}%[3]s},
"architect":{"questions":[{"id":"q3"}]}}}`
	for name, tt := range map[string]struct {
		state   string
		version int
		more    string
		want    string // questions of both, the artifact of po, the path of its text, the first artifact
	}{
		"first":        {"generating", 0, "", `answered left_open left_open .claude/specs/clock/01-product-requirements.md 2026-01-02T03:04:05Z .bmad-task/temp/a/b.md .claude/specs/clock/01-product-requirements.md`},
		"first, asks":  {"clarifying", 0, "", `answered left_open  .claude/specs/clock/01-product-requirements.md 2026-01-02T03:04:05Z .bmad-task/temp/a/b.md .claude/specs/clock/01-product-requirements.md`},
		"first, saved": {"generating", 0, `,"artifact":{"path":".claude/specs/mine/a.md"}`, `answered left_open left_open .claude/specs/mine/a.md 0001-01-01T00:00:00Z .bmad-task/temp/a/b.md .claude/specs/clock/01-product-requirements.md`},
		"this one":     {"generating", workflow.FormatVersion, "", `storage: session file f has no valid "stages.file_path": ".bmad-task\\temp\\a\\b.md" (line 2, column 87)`},
		"the next":     {"generating", workflow.FormatVersion + 1, "", fmt.Sprintf("storage: session file f has format version %d (line 1, column 141); this bmad-mcp reads up to %d", workflow.FormatVersion+1, workflow.FormatVersion)},
	} {
		s, err := store.Decode(fmt.Appendf(nil, session, tt.state, tt.version, tt.more), "f")
		if err != nil {
			if got := string(fault.From(err).Code) + ": " + err.Error(); got != tt.want {
				t.Errorf("%s: got %s, want %s", name, got, tt.want)
			}
			continue
		}
		po, saved := s.Record(workflow.PO), "none"
		if po.Artifact != nil {
			saved = po.Artifact.Path + " " + po.Artifact.SavedAt.Format(time.RFC3339)
		}
		got := fmt.Sprint(po.Questions[0].Status, " ", po.Questions[1].Status, " ", s.Record(workflow.Architect).Questions[0].Status, " ", saved, " ", po.FinalResultRef.FilePath, " ", s.Artifacts[0])
		if got != tt.want || s.Version != workflow.FormatVersion || s.Stages["gone"] != nil {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestPages checks the pages of a list: which runs a query selects, how many it counts, and where it goes on.
func TestPages(t *testing.T) {
	t.Parallel()
	at := func(n int) workflow.Summary {
		s := workflow.Summary{SessionID: fmt.Sprintf("%08d-1111-4000-8000-000000000000", n), TaskName: fmt.Sprint("Task-", n), Objective: "Build", CurrentStage: workflow.PO, CurrentState: workflow.Generating, UpdatedAt: time.Unix(int64(n/2), 0)}
		if n == 3 {
			s.CurrentStage, s.CurrentState = workflow.QA, workflow.Completed
		}
		return s
	}
	all := store.NewListing([]workflow.Summary{at(0), at(1), at(2), at(3), at(4)}, nil)
	for name, tt := range map[string]struct {
		q    store.Query
		want string // names, total, active, next
	}{
		"all":          {store.Query{}, "Task-4 Task-2 Task-3 Task-0 Task-1 5 4 "},
		"as many":      {store.Query{Limit: 5}, "Task-4 Task-2 Task-3 Task-0 Task-1 5 4 "},
		"the first":    {store.Query{Limit: 2}, "Task-4 Task-2 5 4 " + store.CursorAt(at(2))},
		"the next":     {store.Query{Limit: 2, After: store.CursorAt(at(2))}, "Task-3 Task-0 5 4 " + store.CursorAt(at(0))},
		"the last":     {store.Query{Limit: 2, After: store.CursorAt(at(0))}, "Task-1 5 4 "},
		"active":       {store.Query{States: []workflow.State{workflow.Generating}, Limit: 3}, "Task-4 Task-2 Task-0 4 4 " + store.CursorAt(at(0))},
		"of a stage":   {store.Query{Stage: workflow.QA}, "Task-3 1 0 "},
		"by a name":    {store.Query{Text: "tASK-1"}, "Task-1 1 1 "},
		"by its words": {store.Query{Text: "BUILD", Limit: 1}, "Task-4 5 4 " + store.CursorAt(at(4))},
		"not a cursor": {store.Query{After: "x"}, ` 0 0  invalid_argument`},
		"not an id's":  {store.Query{After: "2026-01-02T03:04:05Z,x"}, ` 0 0  invalid_argument`},
	} {
		page, err := all.Page(tt.q)
		var names []string
		for _, s := range page.Sessions {
			names = append(names, s.TaskName)
		}
		got := fmt.Sprint(strings.Join(names, " "), " ", page.Total, " ", page.Active, " ", page.Next)
		if err != nil {
			got += " " + string(fault.From(err).Code)
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

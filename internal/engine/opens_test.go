package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// opens counts how often each file of a folder is opened for reading.
type opens struct {
	mu    sync.Mutex
	times map[string]int
	// looks counts descriptions and lists, decodes the runs that are decoded.
	looks, decodes int
}

// take returns the counts of opened files, and begins anew.
func (o *opens) take() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	times := o.times
	o.times, o.looks, o.decodes = map[string]int{}, 0, 0
	return times
}

// reads describes the counts.
func (o *opens) reads() string {
	files := 0
	for _, times := range o.times {
		files += times
	}
	return fmt.Sprintf("; %2d opens %2d looks %d decodes", files, o.looks, o.decodes)
}

func (o *opens) add(to *int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*to++
}

// in returns a folder in which is counted.
func (o *opens) in(d *durable.Dir) *durable.Dir {
	return durable.NewDir(d.Path(), countedFS{d.FS, o})
}

// backend returns a store that counts.
func (o *opens) backend(place store.Place) (store.Backend, error) {
	s := storetest.Files(place.Dir)
	s.Decode = func(data []byte, path string) (*workflow.Session, error) {
		o.add(&o.decodes)
		return store.Decode(data, path)
	}
	return s, nil
}

type countedFS struct {
	durable.FS
	to *opens
}

func (c countedFS) Tree() fs.FS { return countedTree{c.FS.Tree(), c.to} }

// countedTree counts the files that are opened, and those that are only described or listed.
type countedTree struct {
	fs.FS
	to *opens
}

func (c countedTree) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err == nil {
		c.to.mu.Lock()
		c.to.times[name]++
		c.to.mu.Unlock()
	}
	return f, err
}

func (c countedTree) Stat(name string) (fs.FileInfo, error) {
	c.to.add(&c.to.looks)
	return fs.Stat(c.FS, name)
}

func (c countedTree) Lstat(name string) (fs.FileInfo, error) {
	c.to.add(&c.to.looks)
	return fs.Lstat(c.FS, name)
}

func (c countedTree) ReadLink(name string) (string, error) { return fs.ReadLink(c.FS, name) }

func (c countedTree) ReadDir(name string) ([]fs.DirEntry, error) {
	c.to.add(&c.to.looks)
	return fs.ReadDir(c.FS, name)
}

// TestFilesAreReadOnce checks that the parts of a reply agree with each other, since a call reads a
// file once. The session is read once more under its lock; so is a draft that people may have
// edited while they were asked, and one that a submission is about to replace.
func TestFilesAreReadOnce(t *testing.T) {
	t.Parallel()
	count := &opens{times: map[string]int{}}
	dir := t.TempDir()
	b := &bench{t: t, dir: dir, clock: benchStart}
	b.restart()
	b.engine = engine.New(engine.Options{
		Names: names,
		Now:   b.engine.Clock,
		NewID: func() string { return "00000001-0000-4000-8000-000000000000" },
		Projects: project.New(project.Options{
			Backend: count.backend,
			OpenDir: func(name string) (*durable.Dir, error) {
				d, err := durable.OpenDir(name)
				if err != nil {
					return nil, err
				}
				return count.in(d), nil
			},
		}),
	})
	do := func(place string, draft int, req request.Request) {
		t.Helper()
		count.take()
		b.at(place, req)
		if b.session == "" {
			t.Fatal("no session")
		}
		s, _, err := b.engine.Session(context.Background(), project.Address{Cwd: dir, Session: b.session})
		if err != nil {
			t.Fatal(err)
		}
		got := count.take()
		stage := workflow.StageID(req.Stage)
		if stage == "" {
			stage = s.CurrentStage
		}
		work := artifact.WorkPath(s.TaskName, stage)
		for name, times := range got {
			most := 1
			switch {
			case name == work:
				most = draft
			case strings.HasPrefix(filepath.Base(name), "session-"):
				most = 3 // once before the lock, once under it, once by this test
			case !strings.HasPrefix(name, artifact.WorkFolder) && !strings.HasPrefix(name, artifact.Folder) && !strings.HasPrefix(name, ".bmad-task/temp"):
				continue // lists of sessions and names, which are not facts of this one
			}
			if times > most {
				t.Errorf("%s at %s: %s was opened %d times, want at most %d", req.Action, place, name, times, most)
			}
		}
		if got[work] != draft {
			t.Errorf("%s at %s: the draft was opened %d times, want %d: %v", req.Action, place, got[work], draft, got)
		}
	}
	status := request.Request{Action: workflow.ActionStatus}
	at := func(stage workflow.StageID, req request.Request) request.Request {
		req.Stage = string(stage)
		return req
	}
	do("po/generating", 0, start("Build a clock"))
	do("po/refining", 0, submit(workflow.PO, "# P\nQuality Score: 50"))
	do("po/refining", 1, status)
	do("po/awaiting_confirmation", 1, submit(workflow.PO, "# P, better\nQuality Score: 95"))
	do("po/awaiting_confirmation", 1, status)
	do("architect/generating", 2, at(workflow.PO, confirm(true)))
	do("architect/generating", 0, status)
	do("architect/refining", 0, submit(workflow.Architect, "# A\nQuality Score: 50"))
	b.write(".bmad-task/work/build-a-clock/architect.md", "# A, by hand\nQuality Score: 60")
	// Once as the text that is handed in, once for edits, under the lock.
	do("architect/refining", 2, request.Request{Action: workflow.ActionSubmit, Stage: "architect"})
	do("architect/awaiting_confirmation", 1, submit(workflow.Architect, "# A\nQuality Score: 95"))
	do("architect/refining", 1, at(workflow.Architect, confirm(false)))
	do("architect/awaiting_confirmation", 1, submit(workflow.Architect, "# A2\nQuality Score: 95"))
	do("sm/generating", 2, at(workflow.Architect, confirm(true)))
	do("sm/awaiting_approval", 0, submit(workflow.SM, "## Sprint 1: one"))
	do("sm/awaiting_approval", 1, status)
	do("dev/generating", 2, at(workflow.SM, approve(true, "")))
	do("dev/generating", 0, request.Request{Action: workflow.ActionResume})
}

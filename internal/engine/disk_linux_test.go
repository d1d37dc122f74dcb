package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// mount puts a small file system of its own under the bench's project, or skips the
// test if the machine does not allow that.
func (b *bench) mount(options string) {
	b.t.Helper()
	if err := syscall.Mount("tmpfs", b.dir, "tmpfs", 0, options); err != nil {
		b.t.Skipf("no file system can be mounted here (%v); run as root, or with unshare -rm", err)
	}
	b.t.Cleanup(func() {
		if err := syscall.Unmount(b.dir, syscall.MNT_DETACH); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *bench) remount(flags uintptr) {
	b.t.Helper()
	if err := syscall.Mount("tmpfs", b.dir, "tmpfs", syscall.MS_REMOUNT|flags, ""); err != nil {
		b.t.Fatal(err)
	}
}

// diskRun returns a run whose documents are large enough to fill a small disk.
func diskRun() []crashStep {
	long := strings.Repeat("A line of the document that takes some space.\n", 200)
	return []crashStep{
		{"po/clarifying", submit(workflow.PO, "# P\n"+long+"\n## Questions\n- Who uses it?\n\nQuality Score: 70/100")},
		{"po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}},
		{"po/awaiting_confirmation", submit(workflow.PO, "# P2\n"+long+"\nQuality Score: 95/100")},
		{"architect/generating", confirm(true)},
		{"architect/awaiting_confirmation", submit(workflow.Architect, "# A\n"+long+"\nQuality Score: 95/100")},
		{"sm/generating", confirm(true)},
		{"sm/awaiting_approval", submit(workflow.SM, "# S\n"+long+"\n## Sprint 1: one")},
		{"dev/generating", approve(true, "")},
		{"review/generating", submit(workflow.Dev, "# D\n"+long)},
		{"qa/generating", submit(workflow.Review, "# R\n"+long+passes(""))},
		{"qa/completed", submit(workflow.QA, "# Q\n"+long+passes(""))},
	}
}

// TestDiskTrouble has each action meet a real disk that is full, has no room for
// another file, or is read-only: it fails with the cause and what to do, changes
// nothing, and goes through when the trouble is over.
func TestDiskTrouble(t *testing.T) {
	tests := []struct {
		name, options, cause, hint string
		begin, end                 func(b *bench)
	}{
		{"full", "size=2m", "no space left", "free some space", fill, func(b *bench) {
			if err := os.Remove(filepath.Join(b.dir, "filler")); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"full of files", "size=4m,nr_inodes=200", "no space left", "free some space", fillWithFiles, func(b *bench) {
			if err := os.RemoveAll(filepath.Join(b.dir, "files")); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"read-only", "size=4m", "read-only", "mounted read-only",
			func(b *bench) { b.remount(syscall.MS_RDONLY) }, func(b *bench) { b.remount(0) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.mount(tt.options)
			b.do(start("build a thing"))
			refused := func(req request.Request) {
				t.Helper()
				before := b.files()
				_, err := b.try(req)
				if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), tt.cause) || !strings.Contains(fault.From(err).Hint, tt.hint) {
					t.Errorf("%s: %v (%s)", req.Action, err, fault.From(err).Hint)
				}
				if after := b.files(); after != before {
					t.Errorf("%s failed, and the disk changed", req.Action)
				}
				b.sound()
			}
			for _, step := range diskRun() {
				tt.begin(b)
				refused(step.req)
				if got := b.do(request.Request{Action: workflow.ActionStatus}); got.State == "" {
					t.Error("status does not work while the disk is in trouble")
				}
				tt.end(b)
				b.at(step.place, step.req)
				b.sound()
			}
			checkStored(t, b)
			session := b.session
			tt.begin(b)
			refused(start("another thing"))
			tt.end(b)
			if another := b.do(start("another thing")); another.TaskName != "another-thing" {
				t.Errorf("the start that failed kept its name: %s", another.TaskName)
			}
			b.session = session
		})
	}
}

// fill leaves no block free.
func fill(b *bench) {
	b.t.Helper()
	f, err := os.Create(filepath.Join(b.dir, "filler"))
	if err != nil {
		b.t.Fatal(err)
	}
	block := bytes.Repeat([]byte("x"), 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if cause := errors.Join(f.Close()); !errors.Is(err, syscall.ENOSPC) || cause != nil {
		b.t.Fatal(err, cause)
	}
}

// fillWithFiles leaves no file free.
func fillWithFiles(b *bench) {
	b.t.Helper()
	folder := filepath.Join(b.dir, "files")
	err := os.MkdirAll(folder, 0o750)
	for n := 0; err == nil; n++ {
		err = os.WriteFile(filepath.Join(folder, fmt.Sprint(n)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		b.t.Fatal(err)
	}
}

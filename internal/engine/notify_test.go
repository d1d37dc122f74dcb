package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestNotices takes runs to their end: the person is told of each wait that the assistant's work begins, once and with facts
// alone, and of nothing that they do themselves.
func TestNotices(t *testing.T) {
	for _, c := range []struct {
		name, own, project string
		environ            []string
		notifies           bool
		want               string
	}{
		{name: "to a place", own: "notify: beep\n", want: "po questions, po decision, architect decision, sm decision, review failed_work, qa ended"},
		{name: "with pauses", own: "notify: beep\n", environ: []string{"BMAD_PAUSE=stages"},
			want: "po questions, po decision, architect decision, sm decision, review decision, review failed_work, review decision, qa decision, qa ended"},
		{name: "nowhere"},
		{name: "off", own: "notify: off\n"},
		{name: "to a place of the project", project: "notify: [beep, x]\n"},
		{name: "to a place of a variable", environ: []string{"BMAD_NOTIFY=beep"}},
		{name: "by the caller", own: "notify: beep\n", notifies: true},
	} {
		b := newBench(t)
		b.environ = c.environ
		b.restart()
		if c.own != "" {
			b.personal(c.own)
		}
		if c.project != "" {
			b.settings(c.project)
		}
		req, step := start("build a secret thing"), ""
		var got []string
		for range 60 {
			req.Notifies = c.notifies
			before := len(b.told)
			b.do(req)
			if len(b.told) > before+1 {
				t.Errorf("%s: %s tells %d times", c.name, step, len(b.told)-before)
			}
			s := b.stored()
			for _, h := range b.told[before:] {
				got = append(got, h.Stage+" "+string(h.Event))
				n := h.Notice
				n.Event, n.Stage = "", ""
				want := notify.Notice{ID: n.ID, Run: s.TaskName, Project: filepath.Base(b.dir), At: n.At}
				if n != want || h.Folder != b.dir || n.At.IsZero() {
					t.Errorf("%s: %+v, want %+v", c.name, h, want)
				}
			}
			if !s.CurrentState.Active() {
				break
			}
			req, step = onward(s), s.Place()
		}
		if list := strings.Join(got, ", "); list != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, list, c.want)
		}
		ids := map[string]bool{}
		for _, h := range b.told {
			ids[h.ID] = true
		}
		if len(ids) != len(b.told) {
			t.Errorf("%s: %d ids of %d notices", c.name, len(ids), len(b.told))
		}
	}
}

// TestNoNotice: what changes nothing, and what the person does, tells nobody.
func TestNoNotice(t *testing.T) {
	b := newBench(t)
	b.personal("notify: beep\n")
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	told := fmt.Sprint(b.told)
	b.refused(submit(workflow.PO, `{"document":"# X","quality_score":95}`), fault.GatePending, "not possible")
	b.do(request.Request{Action: workflow.ActionStatus})
	b.do(request.Request{Action: workflow.ActionResume})
	b.do(confirm(true))
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "po"})
	b.do(request.Request{Action: workflow.ActionCancel})
	if now := fmt.Sprint(b.told); now != told {
		t.Errorf("told %s, and before %s", now, told)
	}
}

// TestNoNoticeByTheProject: settings of the person inside a project, which can write them, name nobody to tell.
func TestNoNoticeByTheProject(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(filepath.Join(b.dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.own, b.workflow = filepath.Join(b.dir, "home"), ""
	b.restart()
	b.personal("notify: beep\n")
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	if len(b.told) > 0 {
		t.Errorf("told %+v", b.told)
	}
}

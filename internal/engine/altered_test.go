package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	approvedDocument = ".claude/specs/build-a-relay/01-product-requirements.md"
	editedAfter      = approvedDocument + " was edited after it was approved"
)

// record returns the path of the record of the approved submission.
func (d *desk) record() string { return d.stored().Record(workflow.PO).FinalResultRef.FilePath }

// alterations are ways in which an approved text does not stay as it was.
func alterations() map[string]struct {
	do   func(d *desk)
	says string
} {
	return map[string]struct {
		do   func(d *desk)
		says string
	}{
		"a word":           {func(d *desk) { d.write(approvedDocument, d.read(approvedDocument)+"And one more thing.\n") }, editedAfter},
		"gone":             {func(d *desk) { remove(d.bench, approvedDocument) }, approvedDocument + " is gone since it was approved"},
		"all of them gone": {func(d *desk) { remove(d.bench, ".claude") }, approvedDocument + " is gone since it was approved"},
		"a folder": {func(d *desk) {
			remove(d.bench, approvedDocument)
			d.write(approvedDocument+"/x", "")
		}, approvedDocument + " cannot be read since it was approved"},
		"a line end within a line": {func(d *desk) { d.write(approvedDocument, strings.Replace(d.read(approvedDocument), " ", "\r", 1)) }, editedAfter},
		"its record":               {func(d *desk) { d.write(d.record(), "# P\n") }, " was edited after it was approved"},
		"its record gone":          {func(d *desk) { remove(d.bench, d.record()) }, " is gone since it was approved"},
	}
}

// restore does as adopt --restore.
func (d *desk) restore() (*reply.Reply, error) {
	out, err := d.engine.Adopt(ctx, request.Request{Address: project.Address{Cwd: d.dir, Session: d.session}, Decision: request.Decision{Restore: true}})
	return out.Reply, err
}

// TestApprovedTextsThatWereAltered checks that an approved text which is not as it was is reported, and stops a strict
// run until it is restored.
func TestApprovedTextsThatWereAltered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, row := range alterations() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			d.back(t, approved)
			whole, record := d.read(approvedDocument), d.read(d.record())
			row.do(d)
			_, v := d.inspect()
			said := workflow.AlterationsText(v.Altered)
			if v.Status != workflow.ChainHolds || len(v.Altered) != 1 || v.Altered[0].Stage != workflow.PO || !strings.Contains(said.String(), row.says) {
				t.Errorf("it is %+v, want %q", v, row.says)
			}
			if chinese := said.In("zh"); strings.Contains(chinese, "approved") {
				t.Errorf("in Chinese: %s", chinese)
			}
			if listed, found := d.reported(); len(listed) != 1 || len(found) != 1 {
				t.Errorf("listed %q, found %q", listed, found)
			}

			// Under a strict policy nothing goes on.
			d.under(workflow.GateStrict)
			d.unmoved("a refused action", func() {
				if hint := d.refused(nextDraft, fault.Conflict, row.says); !strings.Contains(hint, "--restore") {
					t.Errorf("strict: hint %q", hint)
				}
				if r := d.do(status("")); len(r.PendingUserActions) != 1 || r.PendingUserActions[0] != "adopt" || r.NextCall != nil || r.Integrity != "" {
					t.Errorf("strict: pending %v, next call %v, integrity %q", r.PendingUserActions, r.NextCall, r.Integrity)
				}
			})

			// Restored, it goes on, and the edited text is kept.
			edited, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(approvedDocument)))
			if name == "a folder" {
				if _, err := d.restore(); err == nil {
					t.Error("a folder was written over")
				}
				remove(d.bench, approvedDocument)
			}
			if _, err := d.restore(); err != nil || d.read(approvedDocument) != whole || d.read(d.record()) != record {
				t.Errorf("not restored: %v", err)
			}
			kept, _ := filepath.Glob(filepath.Join(d.dir, filepath.FromSlash(filepath.Dir(approvedDocument)), "*.edited-*"))
			if err == nil && string(edited) != whole && len(kept) != 1 {
				t.Errorf("the edited text is not kept: %v", kept)
			}
			if _, err := d.restore(); !fault.Is(err, fault.NotAllowed) || !strings.Contains(err.Error(), "there is nothing to restore") {
				t.Error(err)
			}
			d.checkUntouched("")
			d.do(nextDraft)
		})
	}
}

// TestAlteredTextAtTheNextGate checks that each reply tells it, once, as does the question.
func TestAlteredTextAtTheNextGate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.back(t, approved)
	d.write(approvedDocument, "# Something else\n")
	for _, req := range []request.Request{status(""), {Action: workflow.ActionResume}, nextDraft, status("")} {
		if r := d.do(req); strings.Count(r.UserMessage, "Not as you approved it:** "+editedAfter) != 1 {
			t.Errorf("%s: %s", req.Action, r.UserMessage)
		}
	}
	for _, view := range []string{engine.ViewSessions, engine.ViewHistory} {
		res, _, err := d.engine.Resource(ctx, project.Address{Cwd: d.dir, Session: d.session}, view)
		if err != nil || !strings.Contains(res.Text, `"altered"`) {
			t.Errorf("%s: %v\n%s", view, err, res.Text)
		}
	}
	// A run that has ended is free to change, and tells so only if it is looked at.
	d.do(request.Request{Action: workflow.ActionCancel})
	if _, v := d.inspect(); len(v.Altered) != 1 {
		t.Errorf("%+v", v)
	}
	if _, found := d.reported(); len(found) != 0 {
		t.Errorf("found %q", found)
	}
	// A text that is lost cannot be put back.
	d.back(t, approved)
	d.write(approvedDocument, "# Something else\n")
	d.write(d.record(), "# P\n")
	remove(d.bench, ".bmad-task/work")
	if _, err := d.restore(); err == nil || !strings.Contains(err.Error(), "is nowhere in the project any more") {
		t.Error(err)
	}
}

// TestForgedAdoption checks that an entry which nobody sealed accepts nothing.
func TestForgedAdoption(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.back(t, approved)
	d.write(approvedDocument, "# Something else\n")
	s := d.edited()
	e := entry("adopted", "architect/generating", "architect/generating", grant("architect"))
	e["adoption"] = object{"problem": "", "from": 0, "revision": 0, "past": "", "texts": []any{object{"stage": "po", "path": approvedDocument, "sha256": workflow.Hash([]byte("# Something else\n"))}}}
	s["history"] = append(history(s), e)
	d.save(s)
	if _, v := d.inspect(); !strings.Contains(workflow.AlterationsText(v.Altered).String(), editedAfter) {
		t.Errorf("%+v", v)
	}
}

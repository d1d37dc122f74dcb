package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	approvedDocument = ".claude/specs/build-a-relay/01-product-requirements.md"
	editedAfter      = approvedDocument + " was edited after it was approved"
)

// record returns the record of the approved submission, relative to the project.
func (d *desk) record() string {
	return at(d.session(), "stages", "po", "final_result_ref")["file_path"].(string)
}

// text returns a file of the project.
func (d *desk) text(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.project, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// alterations are ways in which an approved text does not stay as it was.
func alterations() map[string]struct {
	do   func(d *desk)
	says string
} {
	return map[string]struct {
		do   func(d *desk)
		says string
	}{
		"a word":           {func(d *desk) { d.write(approvedDocument, d.text(approvedDocument)+"And one more thing.\n") }, editedAfter},
		"gone":             {func(d *desk) { d.remove(filepath.Join(d.project, approvedDocument)) }, approvedDocument + " is gone since it was approved"},
		"all of them gone": {func(d *desk) { d.remove(filepath.Join(d.project, ".claude")) }, approvedDocument + " is gone since it was approved"},
		"a folder": {func(d *desk) {
			d.remove(filepath.Join(d.project, approvedDocument))
			d.write(approvedDocument+"/x", "")
		}, approvedDocument + " cannot be read since it was approved"},
		"a line end within a line": {func(d *desk) { d.write(approvedDocument, strings.Replace(d.text(approvedDocument), " ", "\r", 1)) }, editedAfter},
		"its record":               {func(d *desk) { d.write(d.record(), "# P\n") }, " was edited after it was approved"},
		"its record gone":          {func(d *desk) { d.remove(filepath.Join(d.project, d.record())) }, " is gone since it was approved"},
	}
}

// TestApprovedTextsThatWereAltered shows by every face, and stops a strict run until they are
// restored.
func TestApprovedTextsThatWereAltered(t *testing.T) {
	d := newDesk(t)
	for name, row := range alterations() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			d.t = t
			d.back(approved)
			whole, record := d.text(approvedDocument), d.text(d.record())
			row.do(d)
			for _, face := range []struct {
				code int
				args []string
				want string
			}{
				{1, []string{"log", d.task, "--verify"}, row.says},
				{1, []string{"log", d.task, "--verify", "--json"}, `"altered":[{"stage":"po"`},
				{0, []string{"log", d.task}, row.says},
				{0, []string{"log", d.task, "--json"}, `"altered":[{"stage":"po"`},
				{0, []string{"show", d.task}, row.says},
				{0, []string{"show", d.task, "--json"}, `"altered":[{"stage":"po"`},
				{0, []string{"report", d.task}, "**Not as approved**"},
			} {
				if out := d.run(face.code, face.args...); !strings.Contains(out, face.want) || strings.Contains(out, "hanged by other hands") {
					t.Errorf("%v: %s", face.args, out)
				}
			}
			if _, out := d.call("doctor"); !strings.Contains(out, "not as approved: ") || !strings.Contains(out, "bmad-mcp adopt "+d.task+" --restore") {
				t.Errorf("doctor: %s", out)
			}
			t.Setenv("BMAD_LANGUAGE", "zh")
			if out := d.run(1, "log", d.task, "--verify"); !strings.Contains(out, "与批准时不同：") || strings.Contains(out, "approved") {
				t.Errorf("in Chinese: %s", out)
			}
			t.Setenv("BMAD_LANGUAGE", "en")

			// Under a strict policy nothing goes on.
			t.Setenv("BMAD_GATE", "strict")
			before := d.files()
			if strings.Contains(row.says, approvedDocument+" is gone") { // the next call writes it again, from its text
				d.run(0, "task", "status", d.task)
				if d.text(approvedDocument) != whole {
					t.Error("not written again")
				}
				d.checkUntouched("")
				return
			}
			if out := d.run(4, "task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json"); !strings.Contains(out, row.says) || !strings.Contains(out, "--restore") {
				t.Errorf("strict: %s", out)
			}
			status := d.run(0, "task", "status", d.task, "--json")
			if !strings.Contains(status, `"pending_user_actions":["adopt"]`) || strings.Contains(status, `"next_call"`) || strings.Contains(status, `"integrity"`) {
				t.Errorf("strict: status says %s", status)
			}
			if !sameFiles(before, d.files()) {
				t.Error("a refused action changed files")
			}

			// Restored, it goes on, and the edited text is kept.
			edited, err := os.ReadFile(filepath.Join(d.project, approvedDocument))
			if name == "a folder" {
				d.run(1, "adopt", d.task, "--restore")
				d.remove(filepath.Join(d.project, approvedDocument))
			}
			d.run(0, "adopt", d.task, "--restore")
			if d.text(approvedDocument) != whole || d.text(d.record()) != record {
				t.Error("not restored")
			}
			kept, _ := filepath.Glob(filepath.Join(d.project, filepath.Dir(approvedDocument), "*.edited-*"))
			if err == nil && string(edited) != whole && len(kept) != 1 {
				t.Errorf("the edited text is not kept: %v", kept)
			}
			if out := d.run(5, "adopt", d.task, "--restore"); !strings.Contains(out, "there is nothing to restore") {
				t.Error(out)
			}
			d.checkUntouched("")
			d.submitArchitecture()
		})
	}
}

// TestAlteredTextAtTheNextGate: the next to decide is told, by the message and by the question.
func TestAlteredTextAtTheNextGate(t *testing.T) {
	d := newDesk(t)
	d.back(approved)
	d.write(approvedDocument, "# Something else\n")
	for _, args := range [][]string{
		{"task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json"},
		{"task", "status", d.task},
	} {
		if out := d.run(0, args...); !strings.Contains(out, "Not as you approved it: "+editedAfter) {
			t.Errorf("%v: %s", args, out)
		}
	}
	// A run that has ended is free to change, and tells so only if it is looked at.
	d.run(0, "task", "cancel", d.task)
	if out := d.run(0, "log", d.task, "--verify"); !strings.Contains(out, editedAfter) {
		t.Error(out)
	}
	if _, out := d.call("doctor"); strings.Contains(out, "not as approved") {
		t.Error(out)
	}
	// A text that is lost cannot be put back.
	d.back(approved)
	d.write(approvedDocument, "# Something else\n")
	d.write(d.record(), "# P\n")
	d.remove(filepath.Join(d.project, ".bmad-task", "work"))
	if out := d.run(3, "adopt", d.task, "--restore"); !strings.Contains(out, "is nowhere in the project any more") {
		t.Error(out)
	}
}

// TestForgedAdoption: an entry that nobody sealed accepts nothing.
func TestForgedAdoption(t *testing.T) {
	d := newDesk(t)
	d.back(approved)
	d.write(approvedDocument, "# Something else\n")
	s := d.session()
	e := entry("adopted", "architect/generating", "architect/generating", grant("architect"))
	e["adoption"] = object{"problem": "", "from": 0, "revision": 0, "past": "", "texts": []any{object{"stage": "po", "path": approvedDocument, "sha256": workflow.Hash([]byte("# Something else\n"))}}}
	s["history"] = append(history(s), e)
	d.store(s)
	if out := d.run(1, "log", d.task, "--verify"); !strings.Contains(out, editedAfter) {
		t.Error(out)
	}
}

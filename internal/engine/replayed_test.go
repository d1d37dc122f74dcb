package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// copyTo copies the project to another folder, as far as a name is wanted, and goes there. The
// names are relative, with slashes.
func (d *desk) copyTo(folder string, wanted func(name string) bool) {
	d.t.Helper()
	from, files := d.dir, d.bothTrees()
	d.dir = folder
	for name, text := range files {
		if rel, err := filepath.Rel(from, name); err == nil && filepath.IsLocal(rel) && wanted(filepath.ToSlash(rel)) {
			d.write(filepath.ToSlash(rel), text)
		}
	}
}

// sessionAndTexts are the files that an approval needs to look complete.
func sessionAndTexts(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, "session-") || strings.HasPrefix(name, ".bmad-task/temp/") || strings.HasPrefix(name, ".claude/")
}

func withID(name string) bool { return name == idFile || sessionAndTexts(name) }

const idFile = ".bmad-task/project"

// copyToOther copies the run into a project that has one of its own, and goes there. It returns
// the folder that it comes from.
func (d *desk) copyToOther() (from string) {
	d.t.Helper()
	from, mine := d.dir, d.session
	d.dir += "-copy"
	d.write("README.md", "another project\n")
	d.do(start("Build something else"))
	d.do(request.Request{Action: workflow.ActionCancel})
	other := d.dir
	d.dir, d.session = from, mine
	d.copyTo(other, sessionAndTexts)
	return from
}

// removeNames makes the run one that was made where no project could have an id: its history names none, and the
// folder has no id. If record is true, the record of this machine fits.
func (d *desk) removeNames(record bool) {
	d.t.Helper()
	state := trust.UserState(d.state)
	signer, err := state.ReadSigner()
	if err != nil {
		d.t.Fatal(err)
	}
	var s workflow.Session
	data, err := os.ReadFile(d.file())
	if err == nil {
		err = workflow.Unmarshal(data, &s)
	}
	if err != nil || s.Project() == "" {
		d.t.Fatal(err, s.Project())
	}
	entries := s.History
	s.History = nil
	sign := s.Signing(signer, workflow.Verification{})
	for _, e := range entries {
		e.Project = ""
		s.Append(e)
	}
	s.Revision--
	if err := sign(""); err != nil {
		d.t.Fatal(err)
	}
	s.Revision++
	if data, err = workflow.MarshalIndent(&s); err == nil {
		err = os.WriteFile(d.file(), data, 0o600)
	}
	d.remove(filepath.Join(d.state, "checkpoints"))
	d.remove(filepath.Join(d.dir, filepath.FromSlash(idFile)))
	if c, ok := s.Checkpoint(workflow.Verification{}); err == nil && record && ok {
		err = state.Record(d.t.Context(), signer, d.dir, s.SessionID, c)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestApprovalsOfAnotherProject replays a run in folders that it was not made in.
func TestApprovalsOfAnotherProject(t *testing.T) {
	t.Parallel()
	const isCopy, otherID, noID = "it is a copy of the run in ", "it belongs to another project (local:", "this folder has no readable id in .bmad-task/project"
	d := newDesk(t)
	forget := func(d *desk) { d.remove(filepath.Join(d.state, "checkpoints")) }
	for _, row := range []struct {
		name string
		do   func(d *desk)
		says string
	}{
		{"the file in another project", func(d *desk) { d.copyToOther() }, isCopy},
		{"the file in another project, and gone from its own", func(d *desk) { d.remove(d.copyToOther()) }, otherID},
		{"the file in a folder that is not a project", func(d *desk) { d.copyTo(d.dir+"-copy", sessionAndTexts) }, isCopy},
		{"the file in a folder that is not a project, and its own is gone", func(d *desk) {
			here := d.dir
			d.copyTo(here+"-copy", sessionAndTexts)
			d.remove(here)
		}, noID},
		{"the file with the id", func(d *desk) { d.copyTo(d.dir+"-copy", withID) }, isCopy},
		{"the whole folder", func(d *desk) { d.copyTo(d.dir+"-copy", everything) }, isCopy},
		{"the file in another project, after the machine has forgotten it", func(d *desk) {
			d.copyToOther()
			forget(d)
		}, otherID},
		{"an older file with the id, in place of the folder", func(d *desk) {
			here := d.dir
			d.copyTo(here+"-copy", withID)
			d.remove(here)
			d.put(map[string]string{d.file(): d.steps[waits][filepath.Join(here, ".bmad-task", filepath.Base(d.file()))]}, everything)
		}, older},
		{"two copies of a folder that is gone, the second", func(d *desk) {
			here := d.dir
			d.copyTo(here+"-away", everything)
			d.dir = here
			d.copyTo(here+"-copy", everything)
			d.remove(here)
			d.dir = here + "-away"
			d.do(nextDraft)
			d.dir = here + "-copy"
		}, isCopy},
		{"the folder back, after its copy was taken to be it", func(d *desk) {
			here := d.dir
			d.copyTo(here+"-copy", everything)
			d.rename(here, here+"-away")
			d.do(nextDraft)
			d.rename(here+"-away", here)
			d.dir = here
		}, isCopy},
	} {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.back(t, approved)
			row.do(d)
			d.checkDisplaced(row.says)
		})
	}
}

// checkDisplaced checks that a run is said not to count here, and that a strict gate does not go on with it.
func (d *desk) checkDisplaced(says string) {
	d.t.Helper()
	s, v := d.inspect()
	if !v.Changed() || !strings.Contains(v.Problem, says) || says != older && !v.Displaced {
		d.t.Errorf("it is %+v, want %q", v, says)
	}
	for _, step := range s.Steps(v) {
		if step.Grant != nil && !step.Unvouched && says != older {
			d.t.Errorf("it vouches for %+v", step)
		}
	}
	if text := v.In("zh").Problem; len(langtest.English(text)) > 0 || strings.Contains(text, "it is") || strings.Contains(text, "history") {
		d.t.Errorf("in Chinese: %s", text)
	}
	if listed, found := d.reported(); !strings.Contains(strings.Join(listed, "\n"), says) || !strings.Contains(strings.Join(found, "\n"), says) {
		d.t.Errorf("listed %q, found %q", listed, found)
	}
	if r := d.do(status("")); r.Integrity != "changed" {
		d.t.Errorf("status says %q\n%s", r.Integrity, r.UserMessage)
	}
	cancel := request.Request{Action: workflow.ActionCancel}
	d.checkStopped(cancel, says)
	d.under(workflow.GateAuto)
	d.do(cancel)
	if _, v := d.inspect(); !v.Changed() || !strings.Contains(v.Problem, says) {
		d.t.Errorf("after a step: %+v", v)
	}
}

// TestMovedProjectIsToldOnce checks that a folder which was moved or renamed goes on as it was.
func TestMovedProjectIsToldOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.back(t, approved)
	here := d.dir
	d.rename(here, here+"-moved")
	d.dir = here + "-moved"
	if _, v := d.inspect(); v.MovedFrom != here {
		t.Errorf("%+v", v)
	}
	d.checkUntouched("")
	d.under(workflow.GateStrict)
	if r := d.do(nextDraft); !strings.Contains(r.UserMessage, "Moved:** this run was in `"+here) {
		t.Error(r.UserMessage)
	}
	d.checkUntouched("")
	if _, v := d.inspect(); v.MovedFrom != "" {
		t.Errorf("said twice: %+v", v)
	}
	if r := d.do(status("")); strings.Contains(r.UserMessage, "Moved:") {
		t.Errorf("said twice: %s", r.UserMessage)
	}
	d.recordedName() // one: that of the folder it was in is gone
}

// TestRunWithoutAProject: a run that names no project counts if this machine recorded it, and its next step names the
// project.
func TestRunWithoutAProject(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, row := range []struct {
		name   string
		record bool
		do     func(d *desk)
		says   string // that the run does not count here
	}{
		{"recorded", true, func(*desk) {}, ""},
		{"not recorded", false, func(*desk) {}, "it names no project, and this machine has no record of it"},
		{"moved", true, func(d *desk) { d.rename(d.dir, d.dir+"-moved"); d.dir += "-moved" }, ""},
		{"copied", true, func(d *desk) { d.copyTo(d.dir+"-copy", everything) }, "it is a copy of the run in "},
	} {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.back(t, approved)
			d.removeNames(row.record)
			row.do(d)
			if row.says != "" {
				d.checkDisplaced(row.says)
				return
			}
			d.checkUntouched("")
			d.do(nextDraft)
			d.checkUntouched("")
			if id, named := at(d.edited(), "history", -1)["project"].(string); !named || !strings.HasPrefix(id, "local:") {
				t.Errorf("the next step names the project %q", id)
			}
			d.copyTo(d.dir+"-away", sessionAndTexts)
			d.checkDisplaced("it is a copy of the run in ")
		})
	}
}

// TestProjectFile: whatever happens to the file with the id, a run stays in its folder.
func TestProjectFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	name := filepath.Join(d.dir, filepath.FromSlash(idFile))
	whole, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(whole), "local:") {
		t.Fatalf("%q, %v", whole, err)
	}
	for what, put := range map[string]func() error{
		"deleted":   func() error { return nil },
		"empty":     func() error { return os.WriteFile(name, nil, 0o600) },
		"oversized": func() error { return os.WriteFile(name, []byte(strings.Repeat("x", 1<<20)), 0o600) },
		"edited":    func() error { return os.WriteFile(name, []byte("local:other\n"), 0o600) },
		"a folder":  func() error { return os.MkdirAll(filepath.Join(name, "x"), 0o750) },
		"a link":    func() error { return os.Symlink("../README.md", name) },
	} {
		t.Run(strings.ReplaceAll(what, " ", "_"), func(t *testing.T) {
			d.back(t, approved)
			d.remove(name)
			if err := put(); err != nil {
				t.Skip(err)
			}
			d.checkUntouched("")
			d.do(nextDraft)
			d.checkUntouched("")
			now, err := os.ReadFile(name)
			switch what {
			case "a folder":
			case "edited":
				if string(now) != "local:other\n" {
					t.Errorf("%q, %v", now, err)
				}
			default:
				if string(now) != string(whole) {
					t.Errorf("%q, %v", now, err)
				}
			}
		})
	}
}

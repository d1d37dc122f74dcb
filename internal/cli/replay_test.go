package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// copyTo copies the project to another folder, as far as a name is wanted, and goes there. The
// names are relative, with slashes.
func (d *desk) copyTo(folder string, wanted func(name string) bool) {
	d.t.Helper()
	from := d.project
	files := d.files()
	d.project = folder
	for name, text := range files {
		if rel, err := filepath.Rel(from, name); err == nil && filepath.IsLocal(rel) && wanted(filepath.ToSlash(rel)) {
			d.write(filepath.ToSlash(rel), text)
		}
	}
}

func everything(string) bool { return true }

// sessionAndTexts are the files that an approval needs to look complete.
func sessionAndTexts(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, "session-") || strings.HasPrefix(name, ".bmad-task/temp/") || strings.HasPrefix(name, ".claude/") || strings.HasPrefix(name, "drafts/")
}

func withID(name string) bool { return name == idFile || sessionAndTexts(name) }

const idFile = ".bmad-task/project"

// copyToOther copies the run into a project that has one of its own, and goes there. It returns
// the folder that it comes from.
func (d *desk) copyToOther() (from string) {
	d.t.Helper()
	from = d.project
	d.project += "-copy"
	d.write("README.md", "another project\n")
	d.run(0, "task", "start", "Build something else")
	d.run(0, "task", "cancel")
	other := d.project
	d.project = from
	d.copyTo(other, sessionAndTexts)
	return from
}

// removeNames makes the session one of an older program: its history names no project, and the folder
// has no id. If record is true, the record of this machine fits.
func (d *desk) removeNames(record bool) {
	d.t.Helper()
	state := trust.UserState(filepath.Join(d.state, "bmad-mcp"))
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
	s.History, s.Seals = nil, nil
	for _, e := range entries {
		e.Prev, e.Project = "", ""
		s.Append(e)
	}
	s.Revision--
	s.Seal(signer, workflow.Verification{})("")
	s.Revision++
	if data, err = workflow.MarshalIndent(&s); err == nil {
		err = os.WriteFile(d.file(), data, 0o600)
	}
	d.remove(filepath.Join(d.state, "bmad-mcp", "checkpoints"))
	d.remove(filepath.Join(d.project, filepath.FromSlash(idFile)))
	if c, ok := s.Checkpoint(signer, ""); err == nil && record && ok {
		err = state.Record(d.t.Context(), signer, d.project, s.SessionID, c)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestApprovalsOfAnotherProject replays a run in folders that it was not made in.
func TestApprovalsOfAnotherProject(t *testing.T) {
	const isCopy, otherID, noID = "it is a copy of the session in ", "it belongs to another project (local:", "this folder has no readable id in .bmad-task/project"
	d := newDesk(t)
	task, project := d.task, d.project
	forget := func(d *desk) { d.remove(filepath.Join(d.state, "bmad-mcp", "checkpoints")) }
	for _, row := range []struct {
		name string
		do   func(d *desk)
		says string
	}{
		{"the file in another project", func(d *desk) { d.copyToOther() }, isCopy},
		{"the file in another project, and gone from its own", func(d *desk) { d.remove(d.copyToOther()) }, otherID},
		{"the file in a folder that is not a project", func(d *desk) { d.copyTo(d.project+"-copy", sessionAndTexts) }, isCopy},
		{"the file in a folder that is not a project, and its own is gone", func(d *desk) {
			here := d.project
			d.copyTo(here+"-copy", sessionAndTexts)
			d.remove(here)
		}, noID},
		{"the file with the id", func(d *desk) { d.copyTo(d.project+"-copy", withID) }, isCopy},
		{"the whole folder", func(d *desk) { d.copyTo(d.project+"-copy", everything) }, isCopy},
		{"the file in another project, after the machine has forgotten it", func(d *desk) {
			d.copyToOther()
			forget(d)
		}, otherID},
		{"an older file with the id, in place of the folder", func(d *desk) {
			here := d.project
			d.copyTo(here+"-copy", withID)
			d.remove(here)
			d.put(map[string]string{d.file(): d.steps[waits][filepath.Join(here, ".bmad-task", filepath.Base(d.file()))]}, everything)
		}, older},
		{"two copies of a folder that is gone, the second", func(d *desk) {
			here := d.project
			d.copyTo(here+"-away", everything)
			d.project = here
			d.copyTo(here+"-copy", everything)
			d.remove(here)
			d.project = here + "-away"
			d.submitArchitecture()
			d.project = here + "-copy"
		}, isCopy},
		{"the folder back, after its copy was taken to be it", func(d *desk) {
			here := d.project
			d.copyTo(here+"-copy", everything)
			d.rename(here, here+"-away")
			d.submitArchitecture()
			d.rename(here+"-away", here)
			d.project = here
		}, isCopy},
	} {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			d.t, d.task, d.project = t, task, project
			d.back(approved)
			row.do(d)
			d.checkDisplaced(row.says)
		})
	}
}

// checkDisplaced checks that every face says of a run that it does not count here, and that a strict
// gate does not go on with it.
func (d *desk) checkDisplaced(says string) {
	d.t.Helper()
	task := d.task
	for _, face := range []struct {
		code int
		args []string
		want string
	}{
		{1, []string{"log", task, "--verify"}, says},
		{0, []string{"log", task}, "Changed by other hands: "},
		{0, []string{"show", task}, says},
		{0, []string{"sessions"}, says},
		{1, []string{"doctor"}, says},
		{0, []string{"report", task}, "**it does not hold**"},
		{0, []string{"task", "status", task, "--json"}, `"integrity":"changed"`},
	} {
		out := d.run(face.code, face.args...)
		if !strings.Contains(out, face.want) || bareGrant.MatchString(out) && says != older {
			d.t.Errorf("%v: %s", face.args, out)
		}
	}
	d.t.Setenv("BMAD_LANGUAGE", "zh")
	if out := d.run(1, "log", task, "--verify"); !strings.Contains(out, "。") || strings.Contains(out, "it is") || strings.Contains(out, "history") {
		d.t.Errorf("in Chinese: %s", out)
	}
	d.t.Setenv("BMAD_LANGUAGE", "en")
	d.t.Setenv("BMAD_GATE", "strict")
	before := d.files()
	if out := d.run(4, "task", "cancel", task); !strings.Contains(out, says) || !strings.Contains(out, "bmad-mcp adopt "+task) {
		d.t.Errorf("strict: %s", out)
	}
	if !sameFiles(before, d.files()) {
		d.t.Error("a refused action changed files")
	}
	d.t.Setenv("BMAD_GATE", "auto")
	d.run(0, "task", "cancel", task)
	if out := d.run(1, "log", task, "--verify"); !strings.Contains(out, "does not hold") || !strings.Contains(out, says) {
		d.t.Errorf("after a step: %s", out)
	}
}

// TestMovedProjectIsToldOnce: a folder that was moved or renamed goes on as it was.
func TestMovedProjectIsToldOnce(t *testing.T) {
	d := newDesk(t)
	d.back(approved)
	here := d.project
	d.rename(here, here+"-moved")
	d.project = here + "-moved"
	d.checkUntouched("")
	for _, args := range [][]string{{"show", d.task}, {"log", d.task, "--verify"}} {
		if out := d.run(0, args...); !strings.Contains(out, "Moved here from "+here+", which no longer has it") {
			t.Errorf("%v: %s", args, out)
		}
	}
	t.Setenv("BMAD_GATE", "strict")
	if out := d.run(0, "task", "submit", d.task, "--stage", "architect", "--claude-result-path", "drafts/arch.json"); !strings.Contains(out, "Moved: this run was in `"+here) {
		t.Error(out)
	}
	d.checkUntouched("")
	for _, args := range [][]string{{"show", d.task}, {"log", d.task, "--verify"}, {"task", "status", d.task}} {
		if out := d.run(0, args...); strings.Contains(out, "Moved here") || strings.Contains(out, "Moved: ") {
			t.Errorf("said twice, by %v: %s", args, out)
		}
	}
	d.recordedName() // one: that of the folder it was in is gone
}

// TestSealOfAnOlderProgram: a session that an older program sealed, which named no project, stays
// valid if this machine recorded it, and its next step names the project.
func TestSealOfAnOlderProgram(t *testing.T) {
	const unvouched = "entries 1 to 7"
	d := newDesk(t)
	for _, row := range []struct {
		name   string
		record bool
		do     func(d *desk)
		says   string // that the run does not count here
		partly string // the entries that are not vouched for
	}{
		{"recorded", true, func(*desk) {}, "", ""},
		{"not recorded", false, func(*desk) {}, "", unvouched},
		{"moved", true, func(d *desk) { d.rename(d.project, d.project+"-moved"); d.project += "-moved" }, "", ""},
		{"copied", true, func(d *desk) { d.copyTo(d.project+"-copy", everything) }, "it is a copy of the session in ", ""},
	} {
		t.Run(strings.ReplaceAll(row.name, " ", "_"), func(t *testing.T) {
			project := d.project
			defer func() { d.project = project }()
			d.t = t
			d.back(approved)
			d.removeNames(row.record)
			row.do(d)
			if row.says != "" {
				d.checkDisplaced(row.says)
				return
			}
			d.checkUntouched(row.partly)
			d.submitArchitecture()
			d.checkUntouched(row.partly)
			if id, named := at(d.session(), "history", -1)["project"].(string); !named || !strings.HasPrefix(id, "local:") {
				t.Errorf("the next step names the project %q", id)
			}
			d.copyTo(d.project+"-away", sessionAndTexts)
			d.checkDisplaced("it is a copy of the session in ")
		})
	}
}

// TestProjectFile: whatever happens to the file with the id, a run stays in its folder.
func TestProjectFile(t *testing.T) {
	d := newDesk(t)
	name := filepath.Join(d.project, filepath.FromSlash(idFile))
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
			d.t = t
			d.back(approved)
			d.remove(name)
			if err := put(); err != nil {
				t.Skip(err)
			}
			d.checkUntouched("")
			d.submitArchitecture()
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

package permission_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

var ctx, noon = context.Background(), time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.UTC)

// bench is a project with settings of its own, and a person who has a state folder.
type bench struct {
	t     *testing.T
	p     *project.Project
	state trust.UserState
	*permission.Person
	s *standing.Standing
}

func open(t *testing.T, stage workflow.StageID, state workflow.State) *bench {
	t.Helper()
	finder := project.New(project.Options{Backend: storetest.At, Settings: config.Source{}})
	p, err := finder.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, p: p, state: trust.UserState(t.TempDir())}
	t.Cleanup(b.p.Close)
	b.Person = &permission.Person{Consent: b.state, Names: standing.Names{Program: "program"}, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
	w := workflowtest.Six()
	session := w.NewSession("11111111-2222-4333-8444-555555555555", "Build a clock", p.Dir.Path(), "test", noon)
	session.TaskName, session.CurrentStage, session.CurrentState = "clock", stage, state
	st, _ := w.Stage(stage)
	b.s = &standing.Standing{Session: session, Workflow: w, Settings: w, Stage: st, Language: "en"}
	return b
}

// guard returns the guard of a new call, which reads the folder anew.
func (b *bench) guard() *permission.Guard {
	b.t.Helper()
	p, err := project.New(project.Options{Backend: storetest.At, Settings: config.Source{}}).Open(b.p.Dir.Path())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(p.Close)
	p.Config, p.Backend = b.p.Config, b.p.Backend
	return b.In(p)
}

func (b *bench) write(name, body string) {
	b.t.Helper()
	_, err := b.p.Dir.MkdirAll(path.Dir(name))
	if err = errors.Join(err, b.p.Dir.Replace(name, []byte(body))); err != nil {
		b.t.Fatal(err)
	}
}

// command sets the verify command of a stage.
func (b *bench) command(stage workflow.StageID, command string, by workflow.Setter) {
	b.p.Config.Verify[stage], b.p.Config.VerifyBy[stage] = command, by
	if delete(b.p.Config.PersonVerify, stage); by == workflow.SetByPerson {
		b.p.Config.PersonVerify[stage] = command
	}
}

// allow has the person allow what is listed under a text.
func (b *bench) allow(text string) {
	b.t.Helper()
	wants, err := b.guard().Wants()
	i := slices.IndexFunc(wants, func(w permission.Want) bool { return w.Text == text })
	if err != nil || i < 0 {
		b.t.Fatalf("%q is not listed: %v (%v)", text, wants, err)
	}
	if err := b.Allow(ctx, wants[i]); err != nil {
		b.t.Fatal(err)
	}
}

// listed returns the wants in their order: kind, text, use, whether allowed, scripts and note.
func (b *bench) listed() string {
	wants, err := b.guard().Wants()
	if err != nil {
		return told(err)
	}
	var out []string
	for _, w := range wants {
		line := fmt.Sprintf("%s %s (%s) %v", w.Kind, w.Text, w.Use, w.Allowed)
		for _, s := range w.Scripts {
			line += " +" + s.Text
		}
		if w.Note != "" {
			line += " [" + w.Note + "]"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// told returns an error as "code: message | hint"; "" for none.
func told(err error) string {
	var f *fault.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return fmt.Sprintf("%s: %s | %s", f.Code, f.Message, f.Hint)
	}
	return err.Error()
}

// brought returns a workflow that somebody has added, with its text.
func brought(name string, by workflow.Setter, text string) config.Workflow {
	return config.Workflow{Name: name, By: by, Path: name + ".yaml", Text: text, Definition: workflowtest.Six()}
}

// TestWorkflows checks that a workflow of the project is followed once it is allowed as it is, and one of the person
// at once.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.PO, workflow.Generating)
	b.p.Config.Own = []config.Workflow{
		brought("theirs", workflow.SetByProject, "a"), brought("mine", workflow.SetByPerson, "b"), {Name: "broken", By: workflow.SetByPerson, Path: "x.yaml"},
		brought("built", "", ""),
	}
	refused := `not_allowed: the workflow "theirs" comes from the project (theirs.yaml), and the person has not allowed it as it is: it could leave gates out | ` +
		"ask the human to read it and to type `program allow` in a terminal, in the project; or use one of: bmad, quick, plan, fix, mine, built"
	chosen := func(name string) string {
		w, err := b.guard().Chosen(name)
		if err == nil && w == nil {
			return "none"
		}
		return told(err)
	}
	b.p.Config.Workflow = "mine"
	for name, want := range map[string]string{"": "", "mine": "", "built": "", "theirs": refused, "none": `invalid_argument: there is no workflow "none" | `, "broken": `invalid_argument: the workflow "broken" in x.yaml cannot be used: `} {
		if got := chosen(name); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%q:\n got %s\nwant %s", name, got, want)
		}
	}
	b.allow("theirs.yaml")
	if got := chosen("theirs"); got != "" {
		t.Errorf("allowed: %s", got)
	}
	b.p.Config.Own[0].Text = "changed"
	if got := chosen("theirs"); got != refused {
		t.Errorf("changed since: %s", got)
	}
	b.Consent = nil
	if g := b.guard(); g.MayFollow(b.p.Config.Own[0]) || !g.MayFollow(b.p.Config.Own[1]) || g.MayFollow(b.p.Config.Own[2]) {
		t.Error("without a state folder the person's own counts, and no other")
	}
	if err := b.Allow(ctx, permission.Want{}); told(err) != "storage: there is no state folder to keep it in | set HOME, or XDG_STATE_HOME to an absolute path, where the program is started" {
		t.Errorf("without a state folder: %s", told(err))
	}
}

// TestEvidence checks which command runs for a stage, and what its evidence says of the configuration.
func TestEvidence(t *testing.T) {
	t.Parallel()
	other, none := "false", ""
	keep := func(b *bench, c workflow.VerifyCommand) {
		b.s.Session.VerifyCommands = map[workflow.StageID]workflow.VerifyCommand{workflow.Dev: c}
	}
	const notYet = "you have not allowed it in this project yet; in a terminal: program allow"
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		change func(b *bench)
		want   string
	}{
		"none":            {workflow.Dev, nil, "none"},
		"no such stage":   {workflow.PO, func(b *bench) { b.command(workflow.PO, "true", workflow.SetByPerson) }, "none"},
		"not allowed":     {workflow.Dev, func(b *bench) { b.command(workflow.Dev, "true", workflow.SetByProject) }, "true by project: not run: " + notYet},
		"no state folder": {workflow.Dev, func(b *bench) { b.command(workflow.Dev, "true", workflow.SetByPerson); b.Consent = nil }, "true by person: not run: " + notYet},
		"allowed, passes": {workflow.Dev, func(b *bench) { b.command(workflow.Dev, "true", workflow.SetByProject); b.allow("true") }, "true by project: exit 0"},
		"allowed, fails":  {workflow.Dev, func(b *bench) { b.command(workflow.Dev, "exit 3", workflow.SetByProject); b.allow("exit 3") }, "exit 3 by project: exit 3"},
		"of the review":   {workflow.Review, func(b *bench) { b.command(workflow.Dev, "exit 3", workflow.SetByProject); b.allow("exit 3") }, "exit 3 by project: exit 3"},
		"handed in before": {workflow.Review, func(b *bench) {
			b.command(workflow.Dev, "true", workflow.SetByProject)
			b.s.Session.Record(workflow.Dev).Evidence = &workflow.Evidence{Command: "true"}
		}, "none"},
		"not run before": {workflow.Review, func(b *bench) {
			b.command(workflow.Dev, "true", workflow.SetByProject)
			b.s.Session.Record(workflow.Dev).Evidence = &workflow.Evidence{Command: "true", NotRun: "x"}
		}, "true by project: not run: " + notYet},
		"changed since": {workflow.Review, func(b *bench) {
			b.command(workflow.Dev, "false", workflow.SetByProject)
			keep(b, workflow.VerifyCommand{Command: "true", SetBy: workflow.SetByProject})
			b.s.Session.Record(workflow.Dev).Evidence = &workflow.Evidence{Command: "true", SetBy: workflow.SetByProject, Notes: []string{"old"}}
		}, "true by project: exit 0 changed: the configuration names `false` instead"},
		"taken out, accepted": {workflow.Dev, func(b *bench) {
			keep(b, workflow.VerifyCommand{Command: "true", SetBy: workflow.SetByProject, Instead: &none, Accepted: true})
		}, "true by project: not run: " + notYet + " notes: [the configuration no longer names one, which you have accepted]"},
		"instead": {workflow.Dev, func(b *bench) {
			b.command(workflow.Dev, "false", workflow.SetByProject)
			keep(b, workflow.VerifyCommand{Command: "true", SetBy: workflow.SetByProject, Instead: &other})
		}, "true by project: not run: " + notYet + " changed: the configuration names `false` instead"},
		"allowed elsewhere": {workflow.Dev, func(b *bench) {
			b.command(workflow.Dev, "true", workflow.SetByProject)
			_ = b.state.Allow(ctx, trust.Allowance{Project: t.TempDir(), Kind: trust.KindVerify, Text: "true"})
		}, "true by project: not run: " + notYet + " (you have in another one; each is asked about by itself, a copy or worktree too)"},
		"of another project here": {workflow.Dev, func(b *bench) {
			b.command(workflow.Dev, "true", workflow.SetByProject)
			b.allow("true")
			_ = os.RemoveAll(b.p.Dir.Join(".bmad-task"))
			b.write(".bmad-task/project", strings.Repeat("0", 32)+"\n")
		}, "true by project: not run: " + notYet + " (what you allowed at this path was for another project, or its run state was cleared since)"},
		"its file has changed": {workflow.Dev, func(b *bench) {
			b.write("t.sh", "exit 0")
			b.command(workflow.Dev, "bash t.sh", workflow.SetByProject)
			b.allow("bash t.sh")
			b.write("t.sh", "exit 0 # x")
		}, "bash t.sh by project: exit 0 notes: [t.sh has changed since you allowed it on 2026-01-02 (to see and settle it: program allow)]"},
	} {
		b := open(t, tt.stage, workflow.Refining)
		if tt.change != nil {
			tt.change(b)
		}
		got, e := "none", b.guard().Evidence(ctx, nil, b.s)
		if e != nil {
			got = fmt.Sprintf("%s by %s: exit %d", e.Command, e.SetBy, e.ExitCode)
			if e.NotRun != "" {
				got = fmt.Sprintf("%s by %s: not run: %s", e.Command, e.SetBy, e.NotRun)
			}
			if e.Notes != nil {
				got += fmt.Sprintf(" notes: %v", e.Notes)
			}
			if e.Changed != "" || e.ChangedTo != nil {
				got += " changed: " + e.Changed
			}
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestRuns checks which of the person's commands the server runs for a report.
func TestRuns(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.QA, workflow.Generating)
	b.p.Config.Checks = []string{"true", "exit 4"}
	b.allow("true")
	for name, tt := range map[string]struct {
		verified *workflow.Evidence
		checks   []workflow.Check
		want     string
	}{
		"none is named":      {nil, []workflow.Check{{Command: "make"}}, ""},
		"one is":             {nil, []workflow.Check{{Command: " exit 4\n"}}, "exit 4 4"},
		"both are":           {nil, []workflow.Check{{Command: "exit 4"}, {Command: "true"}}, "true 0, exit 4 4"},
		"verified":           {&workflow.Evidence{Command: "true", ExitCode: 9}, []workflow.Check{{Command: "true"}}, "true 9"},
		"verified, not run":  {&workflow.Evidence{Command: "true", NotRun: "x"}, []workflow.Check{{Command: "true"}}, "true 0, true 0"},
		"verified, changed":  {&workflow.Evidence{Command: "make", Changed: "x"}, nil, ""},
		"verified, no check": {&workflow.Evidence{Command: "make", ExitCode: 9}, nil, "make 9"},
	} {
		var got []string
		for _, e := range b.guard().Runs(ctx, nil, b.s, tt.verified, tt.checks) {
			got = append(got, fmt.Sprint(e.Command, " ", e.ExitCode))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestOpposes checks which evidence speaks against a verdict.
func TestOpposes(t *testing.T) {
	t.Parallel()
	failed := &workflow.Evidence{Command: "make", ExitCode: 2}
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		now     *workflow.Evidence
		earlier *workflow.Evidence // of the build
		verdict workflow.Verdict
		want    string
	}{
		"none":              {workflow.QA, nil, nil, workflow.Pass, ""},
		"passed":            {workflow.QA, &workflow.Evidence{Command: "make"}, nil, workflow.Pass, ""},
		"failed":            {workflow.QA, failed, nil, workflow.Pass, "the verify command says no: `make` failed with exit code 2"},
		"failed, a risk":    {workflow.QA, failed, nil, workflow.PassWithRisk, "the verify command says no: `make` failed with exit code 2"},
		"failed, a failure": {workflow.QA, failed, nil, workflow.Fail, ""},
		"failed, blocked":   {workflow.QA, failed, nil, workflow.Blocked, ""},
		"not run":           {workflow.QA, &workflow.Evidence{Command: "make", NotRun: "x"}, nil, workflow.Pass, "nothing shows it: the verify command `make` was not run: x"},
		"changed":           {workflow.QA, &workflow.Evidence{Command: "make", Changed: "it is gone"}, nil, workflow.Pass, "the verify command was changed during the run: it is gone; `make` was checked with"},
		"of the build":      {workflow.Review, nil, failed, workflow.Pass, "the verify command says no: `make` failed with exit code 2"},
		"of another build":  {workflow.QA, nil, failed, workflow.Pass, ""},
	} {
		b := open(t, tt.stage, workflow.Generating)
		b.s.Session.Record(workflow.Dev).Evidence = tt.earlier
		if got := strings.Join(lang.English.SayAll(permission.Opposes(b.s, tt.now, tt.verdict)), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestKeptCommands checks the commands that a run keeps, how its history says in the run's language that they have
// changed, and which a decision accepts.
func TestKeptCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		language lang.Language
		change   func(b *bench)
		want     string
	}{
		"as it began":     {lang.English, func(*bench) {}, ""},
		"another command": {lang.English, func(b *bench) { b.command(workflow.Dev, "make", workflow.SetByPerson) }, "verify of dev: `true` (your own file) → `make` (your own file)"},
		"of both stages": {lang.English, func(b *bench) {
			b.command(workflow.Dev, "make", workflow.SetByPerson)
			b.command(workflow.QA, "make", workflow.SetByPerson)
		}, "verify of dev: `true` (your own file) → `make` (your own file); verify of qa: none → `make` (your own file)"},
		"of both alike": {lang.English, func(b *bench) {
			delete(b.s.Session.History[0].VerifyCommands, workflow.Dev)
			b.command(workflow.QA, "true", workflow.SetByPerson)
		}, "verify of dev, qa: none → `true` (your own file); verify: the session file was edited, and the commands of its history count"},
		"the file edited": {lang.English, func(b *bench) { b.s.Session.VerifyCommands = nil }, "verify: the session file was edited, and the commands of its history count"},
		"in Chinese":      {lang.Language("zh"), func(b *bench) { b.command(workflow.Dev, "make", workflow.SetByPerson) }, "dev 的验证：`true`（你自己的文件） → `make`（你自己的文件）"},
		"edited, Chinese": {lang.Language("zh"), func(b *bench) { b.s.Session.VerifyCommands = nil }, "验证：会话文件被改过，以其历史记录中的命令为准"},
	} {
		b := open(t, workflow.PO, workflow.Generating)
		b.command(workflow.Dev, "true", workflow.SetByPerson)
		b.guard().KeepVerify(b.s.Session)
		if kept := b.s.Session.History[0].VerifyCommands; len(kept) != 1 || kept[workflow.Dev].Command != "true" || b.s.Session.VerifyCommands[workflow.Dev].Command != "true" {
			t.Fatalf("%s: a new run keeps %v", name, kept)
		}
		b.s.Language = tt.language
		tt.change(b)
		b.guard().NoteVerify(b.s, workflow.Transition{At: noon, By: "me"})
		last := b.s.Session.Last()
		noted := len(b.s.Session.History) == 2 && last.Event == workflow.EventPolicyChanged && last.By == "me" && workflow.SameVerifyCommands(last.VerifyCommands, b.s.Session.VerifyCommands)
		if last.Policy != tt.want || noted != (tt.want != "") {
			t.Errorf("%s:\n got %s\nwant %s (%+v)", name, last.Policy, tt.want, last)
		}
	}
	b := open(t, workflow.PO, workflow.Generating)
	if b.guard().KeepVerify(b.s.Session); b.s.Session.VerifyCommands != nil || b.s.Session.History[0].VerifyCommands != nil {
		t.Error("a run without commands keeps some")
	}
	to, other := "false", "make"
	for name, tt := range map[string]struct {
		seen *workflow.Evidence
		kept workflow.VerifyCommand
		want bool
	}{
		"seen":             {&workflow.Evidence{Command: "true", ChangedTo: &to}, workflow.VerifyCommand{Command: "true", Instead: &to}, true},
		"nothing was":      {nil, workflow.VerifyCommand{Command: "true", Instead: &to}, false},
		"no difference":    {&workflow.Evidence{Command: "true"}, workflow.VerifyCommand{Command: "true", Instead: &to}, false},
		"of another":       {&workflow.Evidence{Command: "make", ChangedTo: &to}, workflow.VerifyCommand{Command: "true", Instead: &to}, false},
		"another since":    {&workflow.Evidence{Command: "true", ChangedTo: &to}, workflow.VerifyCommand{Command: "true", Instead: &other}, false},
		"none instead":     {&workflow.Evidence{Command: "true", ChangedTo: &to}, workflow.VerifyCommand{Command: "true"}, false},
		"accepted already": {&workflow.Evidence{Command: "true", ChangedTo: &to}, workflow.VerifyCommand{Command: "true", Instead: &to, Accepted: true}, false},
	} {
		b := open(t, workflow.QA, workflow.AwaitingApproval)
		b.s.Session.Record(workflow.QA).Evidence = tt.seen
		b.s.Session.VerifyCommands = map[workflow.StageID]workflow.VerifyCommand{workflow.QA: tt.kept}
		got := permission.AcceptVerify(b.s)
		if (got != nil) != tt.want || tt.want && (!got[workflow.QA].Accepted || !b.s.Session.VerifyCommands[workflow.QA].Accepted) {
			t.Errorf("%s: accepted %v, want %v", name, got, tt.want)
		}
	}
}

// TestRubric checks that a rubric of the project is trusted once it is allowed with its content.
func TestRubric(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.PO, workflow.Generating)
	read := func() string {
		rules, trusted, err := b.guard().Rubric(b.s.Workflow, b.s.Stage)
		return fmt.Sprint(rules != nil, trusted, " ", told(err))
	}
	const rubric = ".claude/bmad-rubrics/po.yaml"
	text, err := os.ReadFile("../../../workflow/audit/rubrics/po.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"none", func() {}, "false false "},
		{"brought", func() { b.write(rubric, string(text)) }, "true false "},
		{"allowed", func() { b.allow(b.p.Dir.Join(rubric)) }, "true true "},
		{"changed", func() { b.write(rubric, string(text)+"\n") }, "true false "},
		{"broken", func() { b.write(rubric, "x: [") }, "false false invalid_argument: "},
	} {
		tt.do()
		if got := read(); got != tt.want && (tt.name != "broken" || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

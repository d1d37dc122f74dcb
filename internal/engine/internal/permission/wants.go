package permission

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

// Want is a thing in a project without effect until the person has allowed it.
type Want struct {
	trust.Allowance
	// Use is the purpose.
	Use     string
	Allowed bool
	// SetBy is the origin of a command.
	SetBy workflow.Setter
	// Note is the reason to ask once more.
	Note string
	// Scripts are the present files named in the command; they are allowed with it.
	Scripts []trust.Allowance
}

// Wants lists the things in the project subject to the person's permission: the verify commands, the commands for
// checks, the ones kept by runs and the person's own; the changed files of commands; the kit's script for finished
// work; the rubrics; and the repositories in the settings.
func (g *Guard) Wants() ([]Want, error) {
	w, c := wanted{Guard: g}, g.project.Config
	for _, stage := range c.Verified() {
		if command := c.Verify[stage]; command != "" {
			w.addCommand(command, c.VerifyBy[stage], string(stage))
		}
	}
	for _, command := range c.Checks {
		w.addCommand(command, workflow.SetByPerson, w.language().Say("reports that name it"))
	}
	w.addRuns()
	w.addScripts()
	w.addContract()
	if err := w.addBrought(); err != nil {
		return nil, err
	}
	w.addMembers()
	for _, source := range c.OwnSources {
		w.add(g.newAllowance(trust.KindSource, source, ""), w.language().Say("agents and workflows"))
	}
	return w.list, nil
}

// maxSigned bounds the runs read for their signers; the ones changed last are read.
const maxSigned = 50

// addMembers adds the keys with which others have signed entries of the project's runs.
func (w *wanted) addMembers() {
	own := signature.Key("")
	if w.Consent != nil {
		if signer, err := w.Consent.ReadSigner(); err == nil && signer != nil { // without one, no key is one's own
			own = signer.Public()
		}
	}
	all, err := w.project.Sessions(context.Background())
	if err != nil {
		return // doctor reports it
	}
	page, _ := all.Page(store.Query{Limit: maxSigned}) // of the first page there is no cursor to be wrong
	store.SortByAge(page.Sessions)
	for _, summary := range page.Sessions {
		s, err := w.project.Backend.Get(context.Background(), summary.SessionID)
		if err != nil {
			continue
		}
		for _, m := range s.Signers() {
			if m.Key != own && m.Subject != "" {
				want := w.add(MemberOf(w.project.AllowedAs(), m), "")
				want.Note = w.language().Say("their steps of runs count for you then; compare the key with what `bmad-mcp signer` shows them")
				if m.Name != "" { // their own choice, but it says whom to ask
					want.Note = m.Name + ": " + want.Note
				}
			}
		}
	}
}

// MemberOf returns the permission by which the steps of a member count in a project.
func MemberOf(project string, m workflow.Member) trust.Allowance {
	text := m.Subject + " " + m.Key.Fingerprint()
	if m.Subject == m.Key.Fingerprint() { // in a store of a team whose members share a role
		text = m.Subject
	}
	return trust.Allowance{Project: project, Kind: trust.KindMember, Text: text, SHA256: workflow.Hash([]byte(m.Subject + " " + string(m.Key)))}
}

// addBrought adds the project's own workflows and rubrics.
func (w *wanted) addBrought() error {
	seen := map[string]bool{}
	for _, own := range w.project.Config.Workflows() {
		if own.Definition == nil {
			continue
		}
		if d := own.Definition; own.By == workflow.SetByProject {
			gates := make([]string, len(d.Stages))
			for i, st := range d.Stages {
				gates[i] = string(st.ID) + " (" + string(d.Current(&workflow.Session{CurrentStage: st.ID}).Gate) + ")"
			}
			w.add(w.workflowAllowance(own), d.Description).Note = w.language().Say("its stages: %s", strings.Join(gates, ", "))
		}
		for _, st := range own.Definition.Stages {
			if seen[audit.FileName(st)] {
				continue
			}
			seen[audit.FileName(st)] = true
			own, err := w.project.Rubric(st)
			if err != nil {
				return err
			}
			if own != nil {
				w.add(w.rubricAllowance(own), string(st.ID))
			}
		}
	}
	return nil
}

// Allow records the person's permission for w, with the files as they were shown.
func (p *Person) Allow(ctx context.Context, w Want) error {
	if p.Consent == nil {
		return fault.New(fault.Storage, "there is no state folder to keep it in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	w.At, w.Files = p.storedNow(), w.Kind == trust.KindVerify || w.Kind == trust.KindOwnVerify
	for _, f := range w.Scripts { // first: a command without recorded files would have all of them reported
		f.At = w.At
		if err := p.Consent.Allow(ctx, f); err != nil {
			return err
		}
	}
	return p.Consent.Allow(ctx, w.Allowance)
}

type wanted struct {
	*Guard
	list []Want
}

func (w *wanted) language() lang.Language { return w.project.Language("") }

// add adds something once, with every use.
func (w *wanted) add(a trust.Allowance, use string) *Want {
	a.At = w.storedNow()
	for i := range w.list {
		if have := &w.list[i]; have.Kind == a.Kind && have.Text == a.Text {
			if use != "" {
				have.Use += ", " + use
			}
			return have
		}
	}
	w.list = append(w.list, Want{Allowance: a, Use: use, Allowed: w.hasAllowed(a)})
	return &w.list[len(w.list)-1]
}

func (w *wanted) addCommand(command string, by workflow.Setter, use string) *Want {
	a := w.newAllowance(trust.KindVerify, process.Canonical(command), "")
	if by == workflow.SetByPerson {
		a.Kind = trust.KindOwnVerify
	}
	want := w.add(a, use)
	want.SetBy, want.Allowed = by, want.Note == "" && w.permits().Command(command, by) != nil
	want.Scripts = slices.DeleteFunc(trust.Scripts(w.project.Dir, command), trust.Allowance.Missing)
	for i := range want.Scripts {
		want.Scripts[i].At = a.At
	}
	return want
}

// maxRuns bounds the active runs read; the ones changed last are read.
const maxRuns = 20

// addRuns adds the kept commands of runs if the settings have others, and marks the commands a run would adopt:
// the person is to allow these again.
func (w *wanted) addRuns() {
	q := store.Active()
	q.Limit = maxRuns
	all, err := w.project.Sessions(context.Background())
	if err != nil {
		return // doctor reports it
	}
	page, _ := all.Page(q) // of the first page there is no cursor to be wrong
	store.SortByAge(page.Sessions)
	for _, summary := range page.Sessions {
		s, err := w.project.Backend.Get(context.Background(), summary.SessionID)
		if err != nil {
			continue
		}
		for _, stage := range verifiableStages(s.Definition()) {
			w.addRun(s, stage, w.planVerify(stage, s.KeptVerify()[stage], w.storedNow()).Keep)
		}
	}
}

// addRun adds the commands of one run.
func (w *wanted) addRun(s *workflow.Session, stage workflow.StageID, kept workflow.VerifyCommand) {
	use := w.language().Say("%s of the run %s", stage, s.TaskName)
	if kept.SetBy == workflow.SetAtGate { // no settings name it
		w.addCommand(kept.Command, kept.SetBy, use)
		use = ""
	}
	if kept.Instead == nil || kept.Accepted {
		return
	}
	by := w.project.Config.VerifyBy[stage]
	if next := *kept.Instead; next != "" && w.permits().Command(next, by) != nil {
		want := w.addCommand(next, by, "")
		want.Allowed = false
		want.Note = w.language().Say("you allowed it before the run %s began, which is checked with %s; allow it again to have that run follow", s.TaskName, words.Command(kept))
	}
	if w.permits().Command(kept.Command, kept.SetBy) == nil {
		w.addCommand(kept.Command, kept.SetBy, use)
	}
}

// addScripts adds the files of allowed commands that were changed since.
func (w *wanted) addScripts() {
	for _, want := range slices.Clone(w.list) {
		if !want.Allowed {
			continue
		}
		by := w.permits().Command(want.Text, want.SetBy)
		for _, c := range w.permits().Changed(trust.Scripts(w.project.Dir, want.Text), want.Text, *by) {
			script := w.add(c.Allowance, want.Text)
			script.Allowed, script.Note = false, c.Sentence.In(w.language())
		}
	}
}

// addContract adds the script of a kit if the settings name no verify command instead.
func (w *wanted) addContract() {
	if w.Configured().Command != "" {
		return
	}
	if s, err := w.Script(); err == nil && s != nil { // the call itself reports the problem
		w.add(s.Allowance, w.language().Say("finished work")).Note = w.Guard.describeChange(s).In(w.language())
	}
}

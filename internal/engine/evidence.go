package engine

import (
	"context"
	"fmt"
	"time"

	"bmad-mcp/internal/trust"
	"bmad-mcp/internal/verify"
	"bmad-mcp/internal/workflow"
)

// verify runs the stage's verify command, if there is one and the person has allowed it
// here, before any lock is taken. nil: none is configured.
func (r run) verify(ctx context.Context, st workflow.Stage) *workflow.Evidence {
	command := r.project.cfg.Verify[st.ID]
	if command == "" {
		return nil
	}
	// A repository, or an assistant that writes its files, must not get a command run.
	if r.trust == nil || !r.trust.Allowed(trust.Allowance{Project: r.project.dir.Path(), Kind: trust.KindVerify, Text: command}) {
		return &workflow.Evidence{Command: command, At: r.Now(), NotRun: "you have not allowed it in this project yet; in a terminal: bmad-mcp allow"}
	}
	defer r.telling(ctx, "running `"+clip(command, 120)+"`", r.project.cfg.VerifyTimeout)()
	e := verify.Run(ctx, r.project.dir.Path(), command, r.now, verify.Limits{Timeout: r.project.cfg.VerifyTimeout, Tail: r.project.cfg.VerifyOutput})
	e.At = e.At.UTC().Truncate(time.Millisecond)
	return &e
}

// opposes says how what the server saw contradicts a pass of the current stage: at qa
// its own command, at review the one that was run when the work was handed in.
func opposes(s *workflow.Session, st workflow.Stage, now *workflow.Evidence, verdict workflow.Verdict) []string {
	if !verdict.Passes() {
		return nil
	}
	if st.ID == workflow.Review {
		now = evidenceFor(s)
	}
	if !now.Failed() {
		return nil
	}
	return []string{"the verify command says no: " + evidenceText(now)}
}

// evidenceFor returns what the server saw of the work that the current stage judges.
func evidenceFor(s *workflow.Session) *workflow.Evidence {
	if s.CurrentStage == workflow.Review {
		return s.Record(workflow.Dev).Evidence
	}
	return s.Current().Evidence
}

// evidenceText says in one line what came of a command.
func evidenceText(e *workflow.Evidence) string {
	command := "`" + clip(e.Command, 120) + "`"
	switch {
	case e.NotRun != "":
		return command + " was not run: " + e.NotRun
	case e.TimedOut:
		return fmt.Sprintf("%s was ended after %s", command, time.Duration(e.TookMS)*time.Millisecond)
	case e.ExitCode != 0:
		return fmt.Sprintf("%s failed with exit code %d", command, e.ExitCode)
	}
	return command + " passed"
}

// Want is something of a project that counts only once the person has allowed it.
type Want struct {
	trust.Allowance
	// Use says what it is for.
	Use     string
	Allowed bool
}

// Wants lists what a project would have the person allow: its verify commands, the rubrics
// that it brings, and the repositories that it names.
func (e *Engine) Wants(req Request) (cwd string, wants []Want, err error) {
	p, err := e.home(req)
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	add := func(a trust.Allowance, use string) {
		a.Project = p.dir.Path()
		for i := range wants {
			if wants[i].Kind == a.Kind && wants[i].Text == a.Text {
				wants[i].Use += ", " + use
				return
			}
		}
		wants = append(wants, Want{Allowance: a, Use: use, Allowed: e.trust != nil && e.trust.Allowed(a)})
	}
	for _, st := range p.cfg.Workflow.Stages {
		if command := p.cfg.Verify[st.ID]; command != "" {
			add(trust.Allowance{Kind: trust.KindVerify, Text: command}, string(st.ID))
		}
	}
	for _, st := range p.cfg.Workflow.Stages {
		data, brought, err := p.ownRubric(st.ID)
		if err != nil {
			return "", nil, err
		}
		if brought {
			add(p.rubricAllowance(st.ID, data), string(st.ID))
		}
	}
	for _, source := range p.cfg.OwnSources {
		add(trust.Allowance{Kind: trust.KindSource, Text: source}, "agents and workflows")
	}
	return p.dir.Path(), wants, nil
}

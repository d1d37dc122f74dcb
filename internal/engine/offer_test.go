package engine_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// taker is a person who takes the offer of a question by a channel, and does something before.
type taker struct {
	by     workflow.Channel
	before func()
	label  string
}

func (p *taker) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	if p.before != nil {
		p.before()
	}
	for _, c := range q.Choices {
		if c.Offer != nil {
			p.label = c.Label
			return gate.Response{Channel: p.by, Decision: c.Decision, Offer: c.Offer}, nil
		}
	}
	return gate.Response{Channel: p.by, Decision: workflow.DecisionApprove}, nil
}

func takes(p *taker) request.Request {
	return request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: p}}
}

const npmPackage = `{"scripts": {"test": "echo tested"}}`

// TestOffer checks that a person who takes the offer with the plan has allowed the command for this run, and the
// record of it.
func TestOffer(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("SKIPPED: needs make")
	}
	t.Parallel()
	b := newBench(t)
	b.write("Makefile", "test:\n\t@echo tested\n")
	b.to(workflow.SM, workflow.AwaitingApproval)
	p := &taker{by: workflow.ChannelElicited}
	r := b.at("dev/generating", takes(p))
	if want := "Approve, and let the server run `make test` at Dev and QA"; p.label != want || !strings.Contains(r.UserMessage, "The server runs `make test` at Dev and QA.") {
		t.Errorf("the choice is %q, want %q; the reply says:\n%s", p.label, want, r.UserMessage)
	}
	s := b.stored()
	entry := s.Last()
	for _, stage := range []workflow.StageID{workflow.Dev, workflow.QA} {
		if got := entry.VerifyCommands[stage]; got.Command != "make test" || got.SetBy != workflow.SetAtGate || s.VerifyCommands[stage].Command != got.Command {
			t.Errorf("%s: recorded %+v", stage, got)
		}
	}
	if len(entry.VerifyCommands) != 2 || entry.Event != workflow.EventApproved || entry.Grant.Offer == nil || entry.Grant.Offer.Command != "make test" || entry.Signature == "" {
		t.Errorf("the entry %+v, its grant %+v", entry, entry.Grant)
	}
	allowed, err := trust.UserState(b.state).Allowances()
	if err != nil || len(allowed) != 2 || allowed[0].Text != "Makefile" || allowed[1].Text != "make test" || allowed[1].Kind != trust.KindVerify || !allowed[1].Files {
		t.Errorf("allowed %+v, %v", allowed, err)
	}
	b.do(submit(workflow.Dev, "# D"))
	if e := b.stored().Record(workflow.Dev).Evidence; e == nil || e.NotRun != "" || e.ExitCode != 0 || !strings.HasSuffix(e.Tail, "tested") || len(e.Notes) > 0 || e.Changed != "" {
		t.Errorf("the run of the command: %+v", e)
	}
	b.write("Makefile", "test:\n\t@echo otherwise\n")
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "dev"})
	b.do(submit(workflow.Dev, "# D"))
	if e := b.stored().Record(workflow.Dev).Evidence; e == nil || !strings.Contains(strings.Join(e.Notes, ""), "Makefile has changed since you allowed it") {
		t.Errorf("after a change: %+v", e)
	}
	_, wants, err := b.engine.Wants(project.Address{Cwd: b.dir})
	if err != nil || len(wants) != 2 || wants[0].Text != "make test" || wants[1].Text != "Makefile" || wants[1].Allowed {
		t.Errorf("the change can be settled: %+v, %v", wants, err)
	}
}

// TestNoOffer checks where no command is offered: plain yes and no are the choices.
func TestNoOffer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before func(b *bench)
		stage  workflow.StageID
		state  workflow.State
		want   bool
	}{
		"tests":                    {func(b *bench) { b.write("package.json", npmPackage) }, workflow.SM, workflow.AwaitingApproval, true},
		"no tests":                 {func(*bench) {}, workflow.SM, workflow.AwaitingApproval, false},
		"another gate":             {func(b *bench) { b.write("package.json", npmPackage) }, workflow.Architect, workflow.AwaitingConfirmation, false},
		"failed work":              {func(b *bench) { b.write("package.json", npmPackage) }, workflow.Review, workflow.AwaitingApproval, false},
		"a command of the project": {func(b *bench) { b.write("package.json", npmPackage); b.settings("verify: make\n") }, workflow.SM, workflow.AwaitingApproval, false},
		"the person's own": {func(b *bench) {
			b.write("package.json", npmPackage)
			put(b.t, filepath.Join(b.own, "bmad-mcp", "config.yaml"), "verify: make\n")
		}, workflow.SM, workflow.AwaitingApproval, false},
		"the person wants none": {func(b *bench) {
			b.write("package.json", npmPackage)
			put(b.t, filepath.Join(b.own, "bmad-mcp", "config.yaml"), "verify: \"\"\n")
		}, workflow.SM, workflow.AwaitingApproval, false},
		"allowed already": {func(b *bench) {
			b.write("package.json", npmPackage)
			if err := trust.UserState(b.state).Allow(ctx, trust.Allowance{Project: b.dir, Kind: trust.KindVerify, Text: "npm test"}); err != nil {
				b.t.Fatal(err)
			}
		}, workflow.SM, workflow.AwaitingApproval, false},
		"others have to say yes": {func(b *bench) { b.write("package.json", npmPackage); b.settings("quorum: 2\n") }, workflow.SM, workflow.AwaitingApproval, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.acting = workflow.Person{Subject: "ann"}
			b.do(start("build a thing"))
			if tt.stage == workflow.SM { // the rules of people would stop the way there
				b.onTo(tt.stage, workflow.Generating)
			}
			tt.before(b)
			b.onTo(tt.stage, tt.state)
			q, err := b.engine.Gate(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}})
			if err != nil {
				t.Fatal(err)
			}
			got := false
			for _, c := range q.Choices {
				got = got || c.Offer != nil
			}
			if got != tt.want {
				t.Errorf("offered: %v, want %v: %+v", got, tt.want, q.Choices)
			}
		})
	}
}

// TestOfferIsTaken checks that only a person's own act takes an offer, and only the one that was shown.
func TestOfferIsTaken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		by     workflow.Channel
		change map[string]string // files written while the question is open
		taken  bool
	}{
		"in a form":             {workflow.ChannelElicited, nil, true},
		"on a page":             {workflow.ChannelBrowser, nil, true},
		"with a passkey":        {workflow.ChannelPasskey, nil, true},
		"at a terminal":         {workflow.ChannelTerminal, nil, true},
		"relayed":               {workflow.ChannelRelayed, nil, false},
		"by a script":           {workflow.ChannelScript, nil, false},
		"by a typed command":    {workflow.ChannelTyped, nil, false},
		"the script changed":    {workflow.ChannelElicited, map[string]string{"package.json": `{"scripts": {"test": "rm -rf ."}}`}, false},
		"the script is gone":    {workflow.ChannelTerminal, map[string]string{"package.json": `{}`}, false},
		"another command fits":  {workflow.ChannelBrowser, map[string]string{"go.mod": "module x\n"}, false},
		"something else is new": {workflow.ChannelElicited, map[string]string{"package.json": `{"version": "2", "scripts": {"test": "echo tested"}}`, "a.js": "1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("package.json", npmPackage)
			b.to(workflow.SM, workflow.AwaitingApproval)
			before := b.stored().Revision
			p := &taker{by: tt.by, before: func() {
				for name, text := range tt.change {
					b.write(name, text)
				}
			}}
			if !tt.taken {
				b.refused(takes(p), fault.Conflict, "what `npm test` runs")
			} else {
				b.at("dev/generating", takes(p))
			}
			s := b.stored()
			allowed, err := trust.UserState(b.state).Allowances()
			if err != nil || (len(allowed) > 0) != tt.taken || (s.Revision > before) != tt.taken || (len(s.VerifyCommands) > 0) != tt.taken {
				t.Errorf("taken: %v, want %v: revision %d, allowed %+v, %v", len(s.VerifyCommands) > 0, tt.taken, s.Revision, allowed, err)
			}
		})
	}
	b := newBench(t) // the assistant's own words in a call
	b.write("package.json", npmPackage)
	b.to(workflow.SM, workflow.AwaitingApproval)
	b.at("dev/generating", approve(true, "and let the server run npm test"))
	if s := b.stored(); s.VerifyCommands != nil || s.Last().Grant.Offer != nil {
		t.Errorf("relayed: %+v", s.VerifyCommands)
	}
}

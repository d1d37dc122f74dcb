// Package prooftest has runs with signed decisions of people, for tests of the statements about them.
package prooftest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// Noon is when the runs begin.
var Noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// KeyOf returns the signer of a machine: the same for the same name.
func KeyOf(t testing.TB, machine string) signature.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(machine))
	signer, err := signature.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// Play is a run by people, and the files left by it.
type Play struct {
	t  testing.TB
	S  *workflow.Session
	At time.Time
	// Files are the artifacts, by their paths.
	Files map[string][]byte
	// Writer hands the documents in; People decide, each on the machine of their name.
	Writer string
	People []string
	// Channel is the channel of the decisions.
	Channel workflow.Channel
}

// NewPlay returns a run at the start.
func NewPlay(t testing.TB, task string, people ...string) *Play {
	return NewPlayBy(workflowtest.Six(), t, task, people...)
}

// NewPlayBy returns a run by a workflow at the start.
func NewPlayBy(w *workflow.Definition, t testing.TB, task string, people ...string) *Play {
	p := &Play{t: t, At: Noon, Files: map[string][]byte{}, Writer: "dan", People: people, Channel: workflow.ChannelElicited}
	p.S = w.NewSession("session-"+task, "Do it", "/project", "claude-code 2.1", p.At)
	p.S.TaskName = task
	return p
}

// Fire takes the next step, as of an entry.
func (p *Play) Fire(e workflow.Event, n workflow.Transition, to workflow.StageID) {
	p.t.Helper()
	p.At = p.At.Add(time.Minute)
	n.Event, n.At = e, p.At
	if err := p.S.Definition().Fire(p.t.Context(), p.S, n, to); err != nil {
		p.t.Fatal(err)
	}
	p.S.Revision++
}

// Submit hands a document in.
func (p *Play) Submit(e workflow.Event, text string) *workflow.Record {
	p.t.Helper()
	rec := p.S.Current()
	rec.Iteration++
	rec.FinalResultRef = &workflow.ContentRef{FilePath: "x", SHA256: workflow.Hash([]byte(text))}
	rec.ClaimedScore = new(95.0)
	rec.Audit = &workflow.Audit{Score: 97, Findings: []workflow.AuditFinding{{ID: "X", Severity: "minor", Points: 3}}}
	p.Fire(e, workflow.Transition{Action: workflow.ActionSubmit, Person: workflow.Person{Subject: p.Writer}}, "")
	return rec
}

// Grant returns a signed decision of somebody about the current document.
func (p *Play) Grant(who string, d workflow.Decision, sha256 string) *workflow.Grant {
	p.t.Helper()
	account, _, _ := strings.Cut(who, "@") // ann@laptop decides as ann, with another key
	g := &workflow.Grant{
		Channel: p.Channel, Assurance: p.Channel.Assurance(), Decision: d, Person: workflow.Person{Subject: account, Name: account + " <" + account + "@example.org>"},
		At: p.At, Stage: p.S.CurrentStage, Revision: p.S.Revision, SHA256: sha256, Policy: workflow.GateAuto, Feedback: "words of the person",
	}
	var err error
	if g.Signature, err = KeyOf(p.t, who).Sign(g.Statement(p.S.SessionID, p.S.TaskName)); err != nil {
		p.t.Fatal(err)
	}
	return g
}

// Save keeps a text as the artifact of the current stage.
func (p *Play) Save(text string) {
	st, _ := p.S.Definition().Stage(p.S.CurrentStage)
	f, err := artifact.Saved(p.S.TaskName, st.Artifact)
	if err != nil {
		p.t.Fatal(err)
	}
	a, text := artifact.New(f, text, p.At)
	p.S.SetArtifact(p.S.Definition(), st.ID, a)
	p.Files[a.Path] = []byte(text)
}

// Decide lets everybody say yes, and goes on.
func (p *Play) Decide(e workflow.Event, d workflow.Decision, text, saved string) {
	p.t.Helper()
	sum := workflow.Hash([]byte(text))
	for i, who := range p.People {
		g := p.Grant(who, d, sum)
		if i < len(p.People)-1 {
			p.At = p.At.Add(time.Second)
			p.S.Note(workflow.Transition{At: p.At, Event: workflow.EventGranted, Action: workflow.ActionConfirm, Grant: g, Person: g.Person})
			p.S.Revision++
			continue
		}
		p.Save(saved)
		p.Fire(e, workflow.Transition{Action: workflow.ActionConfirm, Grant: g, Person: g.Person}, "")
	}
}

// Documents walks to the development.
func (p *Play) Documents() *Play {
	p.t.Helper()
	for p.S.CurrentStage != workflow.Dev {
		p.Document(fmt.Sprintf("# %s of %s\n\nNo end of line here", p.S.CurrentStage, p.S.TaskName))
	}
	return p
}

// Document hands a document in, and lets it pass.
func (p *Play) Document(text string) {
	p.t.Helper()
	if p.S.CurrentStage == workflow.SM {
		p.Submit(workflow.EventPlanned, text)
		p.Decide(workflow.EventApproved, workflow.DecisionApprove, text, text)
		return
	}
	p.Submit(workflow.EventScoredReady, text)
	p.Decide(workflow.EventConfirmed, workflow.DecisionApprove, text, text)
}

// Scope has the scope of a development approved.
func (p *Play) Scope() *Play {
	p.t.Helper()
	rec := p.Submit(workflow.EventScoped, "scope")
	g := p.Grant(p.People[0], workflow.DecisionApprove, rec.FinalResultRef.SHA256)
	rec.ApprovedScope = new(*rec.FinalResultRef)
	p.Fire(workflow.EventScopeApproved, workflow.Transition{Action: workflow.ActionApprove, Grant: g, Person: g.Person}, "")
	return p
}

// Deliver hands the development in.
func (p *Play) Deliver() *Play {
	p.t.Helper()
	p.Submit(workflow.EventDelivered, "done")
	return p
}

// Review passes the review, with a report.
func (p *Play) Review() *Play {
	p.t.Helper()
	rec := p.S.Current()
	rec.Verdict = workflow.Pass
	p.Save("# Review\n")
	p.Submit(workflow.EventDelivered, "review")
	return p
}

// Test passes the test, with these rows.
func (p *Play) Test(rows ...workflow.Criterion) *Play {
	p.t.Helper()
	rec := p.S.Current()
	rec.Verdict, rec.Criteria = workflow.Pass, rows
	rec.Checks = []workflow.Check{{ID: "C1", Command: "make test", Exit: 0, Server: true}}
	p.Save("# Test\n")
	p.Submit(workflow.EventFinished, "test")
	return p
}

// Finish walks to the end.
func (p *Play) Finish() *Play {
	p.t.Helper()
	return p.Documents().Deliver().Review().Test(workflow.Criterion{ID: "AC-1", Result: workflow.ResultPass, Proved: true})
}

// Reopen goes back to a stage.
func (p *Play) Reopen(to workflow.StageID) *Play {
	p.t.Helper()
	g := p.Grant(p.People[0], workflow.DecisionReopen, "")
	p.Fire(workflow.EventReopened, workflow.Transition{Action: workflow.ActionReopen, Grant: g, Person: g.Person}, to)
	return p
}

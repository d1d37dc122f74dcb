package proof

import (
	"net/url"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// MaxStatement bounds a written statement, in bytes.
const MaxStatement = 20_000

// maxOpen bounds the open findings named in a statement.
const maxOpen = 40

// maxChanged bounds the changed files named in a statement.
const maxChanged = 40

// Signer returns the signature of a message, as [signature.Verify] takes it.
type Signer func(message []byte) (string, error)

// Facts are what a session does not know.
type Facts struct {
	Program string
	// Root is the first commit of the repository, Remote the address of the remote.
	Root, Remote string
	// Writer is the person whose program writes.
	Writer workflow.Person
	// Head names the newest entry of the history: the signature, or the hash.
	Head string
	Work Work
	// Altered are the approved texts that were changed since, by the verification of the session.
	Altered []workflow.Alteration
	CostUSD *float64
	// Words is true if the words of people are written with their decisions.
	Words bool
}

// File is a file to write, by the path from the project.
type File struct {
	Path string
	Body []byte
}

// Saved is a file to write beside the artifacts of a task.
type Saved struct {
	artifact.File
	Body []byte
}

// Path returns the path of a file beside the artifacts of a task.
func Path(task, file string) string { return artifact.TaskFolder(task) + "/" + file }

// Write returns run.json and the signature of it for a session.
func Write(s *workflow.Session, f Facts, sign Signer) ([]Saved, error) {
	statement, err := artifact.Saved(s.TaskName, StatementFile)
	if err != nil {
		return nil, err
	}
	signed, err := artifact.Saved(s.TaskName, SignatureFile)
	if err != nil {
		return nil, err
	}
	text, err := newStatement(s, f).encodeFitting()
	if err != nil {
		return nil, err
	}
	made, err := sign(text)
	if err != nil {
		return nil, err
	}
	return []Saved{{statement, text}, {signed, []byte(signature.Armor(made))}}, nil
}

// newStatement states a session.
func newStatement(s *workflow.Session, f Facts) *Statement {
	w := s.Definition()
	p := Predicate{
		Task: s.TaskName, Session: s.SessionID, Program: f.Program, Repository: Repository{f.Root, withoutPassword(f.Remote)},
		Written:  Written{s.UpdatedAt.UTC(), f.Writer.Subject, f.Writer.Name},
		Workflow: Workflow{w.Name, w.Hash}, State: s.Place(), Finished: s.CurrentState == workflow.Completed,
		Stages: []Stage{}, Decisions: decisionsOf(s, f.Words), Invalid: invalidOf(s, f.Altered), CostUSD: f.CostUSD, Chain: Chain{f.Head, len(s.History)},
	}
	if work := f.Work; work.ApprovedCommit != "" || work.TestedCommit != "" {
		if more := len(work.Changed) - maxChanged; more > 0 {
			work.Changed, work.More = work.Changed[:maxChanged:maxChanged], more
		}
		p.Work = &work
	}
	out := &Statement{Type: statementType, Subject: []Subject{}, PredicateType: predicateType}
	for _, st := range w.Stages {
		rec := s.Record(st.ID)
		p.Stages = append(p.Stages, stageOf(s, st, rec))
		isInvalid := slices.ContainsFunc(p.Invalid, func(i Invalid) bool { return i.Stage == st.ID })
		if a := rec.Artifact; a != nil && !isInvalid {
			out.Subject = append(out.Subject, Subject{a.Path, Digest{a.SHA256}})
		}
	}
	out.Predicate = p
	return out
}

// withoutPassword returns the address of a remote without the name and the password in it.
func withoutPassword(remote string) string {
	u, err := url.Parse(remote)
	if err != nil || u.User == nil {
		return remote
	}
	u.User = nil
	return u.String()
}

func stageOf(s *workflow.Session, st workflow.Stage, rec *workflow.Record) Stage {
	out := Stage{
		ID: st.ID, Kind: st.Kind, Gate: st.Gate, Scoped: s.Definition().StartsByBuilding(st), Status: rec.Status, Rounds: rec.Iteration,
		Claimed: rec.ClaimedScore, Estimated: rec.EstimatedScore, Policy: s.Policy[st.ID], Writers: writersOf(s, st.ID),
	}
	if rec.Policy != nil {
		out.Policy = *rec.Policy
	}
	out.Policy.Extra = nil
	if a := rec.Audit; a != nil {
		out.Audit = &Audit{Score: a.Score}
		for _, f := range a.Findings {
			switch f.Severity {
			case "critical":
				out.Audit.Critical++
			case "major":
				out.Audit.Major++
			case workflow.SeverityQuestion:
			default:
				out.Audit.Minor++
			}
		}
	}
	if rec.FinalResultRef != nil {
		out.Submitted = rec.FinalResultRef.SHA256
	}
	if rec.ApprovedScope != nil {
		out.Scope = rec.ApprovedScope.SHA256
	}
	if rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	if st.Kind == workflow.KindVerdict && rec.Iteration > 0 {
		out.Report = reportOf(rec)
	}
	if e := rec.Evidence; e != nil {
		out.Verify = &Verify{e.ExitCode, e.TimedOut, e.NotRun != ""}
	}
	return out
}

// reportOf states the last judged report of a stage.
func reportOf(rec *workflow.Record) *Report {
	n := verdict.CountRows(rec.Criteria)
	out := &Report{
		Verdict: rec.Verdict, Objections: len(rec.Objections),
		Rows: Totals{n.Passed, n.Proved, n.Failed, n.NotTested, n.OutOfScope},
	}
	by := func(server bool) string {
		if server {
			return byServer
		}
		return byClaim
	}
	for _, c := range rec.Criteria {
		row := Row{ID: c.ID, Result: c.Result}
		if c.Result == workflow.ResultPass {
			row.By = by(c.Proved)
		}
		out.Criteria = append(out.Criteria, row)
	}
	for _, c := range rec.Checks {
		out.Checks = append(out.Checks, Ran{c.ID, c.Exit, by(c.Server)})
	}
	for _, f := range workflow.OpenFindings(rec.Findings) {
		out.Open = append(out.Open, Open{f.ID, f.Severity})
	}
	severities := []string{"critical", "major", "minor"}
	slices.SortStableFunc(out.Open, func(a, b Open) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	if more := len(out.Open) - maxOpen; more > 0 {
		out.Open, out.MoreOpen = out.Open[:maxOpen:maxOpen], more
	}
	return out
}

// maxWords bounds the words of a person with a decision, in columns.
const maxWords = 500

// decisionsOf returns the decisions of a session, the oldest first, with the words of people if they are asked for. Answers
// decide about no document.
func decisionsOf(s *workflow.Session, words bool) []Decision {
	out := []Decision{}
	for _, e := range s.History {
		g := e.Grant
		if g == nil || g.Decision == workflow.DecisionAnswer {
			continue
		}
		d := Decision{
			Stage: g.Stage, Decision: g.Decision, Subject: g.Subject, Name: g.Name, Channel: g.Channel, Assurance: g.Assurance,
			At: g.At.UTC(), Revision: g.Revision, SHA256: g.SHA256, Policy: g.Policy, Signature: g.Signature,
		}
		if e.Event == workflow.EventReopened {
			d.To = e.ToStage()
		}
		if words {
			d.Words = visible.Shorten(visible.Line(g.Feedback), maxWords, "…")
		}
		out = append(out, d)
	}
	return out
}

// writersOf returns the accounts answering for the document of a stage: the one with which the stage was left, or
// the newest one of the current stage; none if nothing was handed in.
func writersOf(s *workflow.Session, id workflow.StageID) []string {
	history := s.History
	if id != s.CurrentStage {
		left := 0
		for i, e := range history {
			if e.FromStage() == id && e.ToStage() != id {
				left = i + 1
			}
		}
		history = history[:left]
	}
	if s.Record(id).Iteration == 0 {
		return nil
	}
	var names []string
	for _, w := range workflow.WritersAt(history, id, s.Last().Person) {
		names = append(names, w.Subject)
	}
	return names
}

// invalidOf returns the artifacts whose approval does not count: their stage, or one before it, was reopened, or
// their text was edited since.
func invalidOf(s *workflow.Session, altered []workflow.Alteration) (out []Invalid) {
	w := s.Definition()
	for _, st := range w.Stages {
		rec := s.Record(st.ID)
		a := rec.Artifact
		if a == nil {
			continue
		}
		if rec.Status == workflow.Done && !a.Stale {
			continue
		}
		one := Invalid{Stage: st.ID, Path: a.Path, Reason: becauseReopened}
		for _, e := range slices.Backward(s.History) {
			back := e.Event == workflow.EventReopened || e.Event == workflow.EventSentBack
			if !back || w.Index(e.ToStage()) > w.Index(st.ID) {
				continue
			}
			at := e.At.UTC()
			one.At, one.Subject = &at, e.Subject
			if e.Event == workflow.EventSentBack {
				one.Reason = becauseSentBack
			}
			break
		}
		out = append(out, one)
	}
	for _, a := range altered {
		one := Invalid{Stage: a.Stage, Path: a.Path, Reason: becauseEdited}
		if a.Missing {
			one.Reason = becauseGone
		}
		if !a.Record {
			out = append(out, one)
		}
	}
	return append(out, adoptedOf(s)...)
}

// adoptedOf returns the artifacts that a person has adopted as they are after an edit: nobody has approved the
// text.
func adoptedOf(s *workflow.Session) (out []Invalid) {
	for i, e := range s.History {
		if e.Adoption == nil {
			continue
		}
		for _, t := range e.Adoption.Texts {
			worked := slices.ContainsFunc(s.History[i+1:], func(later workflow.Transition) bool {
				return later.From != later.To && later.FromStage() == t.Stage
			})
			listed := slices.ContainsFunc(out, func(o Invalid) bool { return o.Stage == t.Stage })
			if !t.Record && !worked && !listed {
				at := e.At.UTC()
				out = append(out, Invalid{Stage: t.Stage, Path: t.Path, Reason: becauseEdited, At: &at, Subject: e.Subject})
			}
		}
	}
	return out
}

// encodeFitting returns the text of a statement within MaxStatement: it leaves out first the words of the oldest
// decisions, then the decisions without an open gate, then the lists of rows, whose totals stay, then the names of
// changed files.
func (s *Statement) encodeFitting() ([]byte, error) {
	p := &s.Predicate
	for {
		text, err := s.encode()
		if err != nil || len(text) <= MaxStatement {
			return text, err
		}
		if at := slices.IndexFunc(p.Decisions, func(d Decision) bool { return d.Words != "" }); at >= 0 {
			p.Decisions[at].Words = ""
			continue
		}
		if at := slices.IndexFunc(p.Decisions, p.isPast); at >= 0 {
			p.Decisions = slices.Delete(p.Decisions, at, at+1)
			p.Omitted++
			continue
		}
		if !p.dropLongest() {
			return text, nil // what remains is what a check needs
		}
	}
}

// isPast reports whether a statement can do without a decision: no open gate rests on it, and it reopens nothing.
func (p *Predicate) isPast(d Decision) bool {
	if d.Decision == workflow.DecisionReopen {
		return false
	}
	return !d.opensGate() || !slices.ContainsFunc(p.Stages, func(st Stage) bool {
		return st.ID == d.Stage && (d.SHA256 == st.Submitted || d.SHA256 == st.Scope)
	})
}

// dropLongest leaves the longest list out of the statement; false if there is none.
func (p *Predicate) dropLongest() bool {
	var longest *Report
	size := func(r *Report) int { return len(r.Criteria) + len(r.Checks) }
	for _, st := range p.Stages {
		r := st.Report
		if r == nil || size(r) == 0 {
			continue
		}
		if longest == nil || size(r) > size(longest) {
			longest = r
		}
	}
	switch {
	case longest != nil:
		longest.Criteria, longest.Checks = nil, nil
	case p.Work != nil && len(p.Work.Changed) > 0:
		p.Work.More, p.Work.Changed = p.Work.More+len(p.Work.Changed), nil
	default:
		return false
	}
	return true
}

package proof

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// judgeWorkflow judges whether the stated workflow has the gates of the base branch's workflow of the same name.
func (j *judge) judgeWorkflow() {
	p := &j.st.Predicate
	for i, st := range p.Stages {
		sharesArtifact := st.Artifact != "" && slices.ContainsFunc(p.Stages[:i], func(s Stage) bool { return s.Artifact == st.Artifact })
		if p.stageIndex(st.ID) != i || sharesArtifact {
			j.addFinding("statement", j.Path, lang.T("it has the stage %s, or its document, more than once", st.ID), rewrite)
			return
		}
	}
	known := j.Base.Workflow(p.Workflow.Name)
	if known == nil {
		j.addFinding("workflow", j.Path, lang.T("%s has no workflow %q, so the gates of the run are unknown", j.Base.Name, p.Workflow.Name),
			lang.T("add it there, as .claude/bmad-workflows/NAME.yaml"))
		return
	}
	for _, st := range known.Stages {
		i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.ID == st.ID })
		if i < 0 || p.Stages[i].Gate != st.Gate || p.Stages[i].Scoped != known.StartsByBuilding(st) {
			j.addFinding("workflow", j.Path, lang.T("the workflow %s on %s has a stage %s with a gate of kind %s, and this run does not", known.Name, j.Base.Name, st.ID, st.Gate),
				lang.T("use that workflow, or add this one to %s under another name", j.Base.Name))
		}
	}
}

// judgeDecisions judges the signatures of all decisions, and keeps the keys of the valid ones.
func (j *judge) judgeDecisions() {
	p := &j.st.Predicate
	j.keys = make([]signature.Key, len(p.Decisions))
	for i, d := range p.Decisions {
		if d.Signature == "" && p.stageIndex(d.Stage) >= 0 { // the gate misses it, if it needs it
			continue
		}
		key, err := signature.Verify(d.toGrant().Statement(p.Session, p.Task), d.Signature)
		if err != nil || p.stageIndex(d.Stage) < 0 {
			j.addFinding("decision", j.Path, lang.T("the decision %s of %q about %s at %s was changed since it was signed, or belongs to another run",
				d.Decision, d.Subject, d.Stage, d.At.Format(time.RFC3339)), rewrite)
			continue
		}
		j.keys[i] = key
	}
}

// doubtDecision returns why a decision, signed by a key, does not count for a stage, and what to do; empty if it does.
func (j *judge) doubtDecision(st *Stage, d Decision, key signature.Key) (why, do lang.Text) {
	p, rules := &j.st.Predicate, j.Base.Rules(st.ID)
	anew := lang.T("reopen the stage to have it approved again: bmad-mcp reopen %s", j.Task)
	switch {
	case key == "" && d.Signature == "":
		return lang.T("it has no signature; an older version of the program recorded it"), anew
	case key == "":
		return lang.T("it was changed since it was signed, or belongs to another run"), anew
	}
	if why := j.doubtKey(key, d.Subject, d.At); !why.Empty() {
		return why, j.askToList(key, d.Subject)
	}
	if why := j.doubtChannel(d, rules); !why.Empty() {
		return why, anew
	}
	reopened := slices.ContainsFunc(p.Decisions, func(r Decision) bool {
		return r.Decision == workflow.DecisionReopen && r.Revision >= d.Revision && p.stageIndex(r.To) <= p.stageIndex(st.ID)
	})
	switch {
	case reopened:
		return lang.T("the stage was reopened since"), anew
	case rules.Approvers != nil && !slices.Contains(rules.Approvers, d.Subject):
		return lang.T("they are not an approver"), lang.T("have one of these people decide: %s", strings.Join(rules.Approvers, ", "))
	case rules.Watched() && (len(st.Writers) == 0 || slices.Contains(st.Writers, "")):
		return lang.T("the author of the document is unknown, and four eyes need another person"), anew
	case rules.Watched() && slices.Contains(st.Writers, d.Subject):
		return lang.T("they wrote the document themselves, and four eyes need another person"), anew
	}
	return lang.Text{}, lang.Text{}
}

// doubtChannel returns why the channel of a decision does not count; empty if it does.
func (j *judge) doubtChannel(d Decision, rules Rules) lang.Text {
	least := rules.Assurance
	if rules.Gate == workflow.GateStrict && rank(least) < rank(workflow.AssuranceMedium) {
		least = workflow.AssuranceMedium
	}
	switch {
	case d.Assurance != d.Channel.Assurance() || rank(d.Assurance) < rank(least):
		return lang.T("it came by the channel %s, which counts as %s, and %s requires %s at least", d.Channel, d.Channel.Assurance(), j.Base.Name, least)
	case rules.Gate == workflow.GateStrict && !d.Channel.Strict():
		return lang.T("its channel %s does not count under strict, which %s requires", d.Channel, j.Base.Name)
	}
	return lang.Text{}
}

// rank orders the assurances; an unknown one is the lowest.
func rank(a workflow.Assurance) int {
	return slices.Index([]workflow.Assurance{workflow.AssuranceLow, workflow.AssuranceMedium, workflow.AssuranceHigh}, a)
}

// stageIndex returns the place of a stage in the workflow, or -1.
func (p *Predicate) stageIndex(id workflow.StageID) int {
	return slices.IndexFunc(p.Stages, func(st Stage) bool { return st.ID == id })
}

// judgeStage judges whether a finished stage was let pass as its gate wants.
func (j *judge) judgeStage(st *Stage) {
	p := &j.st.Predicate
	if slices.ContainsFunc(p.Invalid, func(i Invalid) bool { return i.Stage == st.ID }) {
		return
	}
	hasScope := st.Status == workflow.Done || st.Scope != ""
	if st.Scoped && hasScope {
		j.judgeGate(st, lang.T("the scope of %s", st.ID), func(d Decision) bool { return d.SHA256 == st.Scope && st.Scope != "" })
	}
	listed := slices.ContainsFunc(j.st.Subject, func(s Subject) bool { return s.Name == st.Artifact })
	if st.Status != workflow.Done {
		if p.Finished || listed {
			j.addFinding("statement", j.Path, lang.T("it lists approvals, but the stage %s is not done", st.ID), rewrite)
		}
		return
	}
	if st.Artifact != "" && !listed {
		j.addFinding("statement", j.Path, lang.T("it names %s as approved but lists no hash for it", st.Artifact), rewrite)
	}
	j.judgeDocument(st)
}

// judgeDocument judges whether the document of a finished stage was let pass.
func (j *judge) judgeDocument(st *Stage) {
	text, whole := j.texts[st.Artifact]
	isAbout := func(d Decision) bool { return d.SHA256 != "" && d.SHA256 == st.Submitted }
	if st.Gate != workflow.GateVerdict && whole { // the artifact of a verdict is another form of the report
		plain, noted := possibleHashes(submittedPart(text, false, j.hasAppendix(st))), possibleHashes(submittedPart(text, true, j.hasAppendix(st)))
		isAbout = func(d Decision) bool {
			return plain[d.SHA256] || d.Decision == workflow.DecisionOverride && noted[d.SHA256]
		}
	}
	switch st.Gate {
	case workflow.GateScore, workflow.GateApproval:
		if whole || st.Artifact == "" { // else another finding has the reason
			j.judgeGate(st, lang.T("the document of %s", st.ID), isAbout)
		}
	case workflow.GateVerdict:
		if !j.judgeReport(st) {
			j.judgeGate(st, lang.T("the work that failed %s", st.ID), func(d Decision) bool { return d.Decision == workflow.DecisionOverride && isAbout(d) })
		}
	case workflow.GateNone:
	default:
		j.addFinding("statement", j.Path, lang.T("it states a gate of an unknown kind, %q", st.Gate), rewrite)
	}
}

// hasAppendix reports whether, by the base branch's workflow, the artifact of a stage ends with the document of
// another one.
func (j *judge) hasAppendix(st *Stage) bool {
	known := j.Base.Workflow(j.st.Predicate.Workflow.Name)
	if known == nil {
		return false
	}
	of, _ := known.Stage(st.ID)
	return of.Appends != ""
}

// submittedPart returns the submitted part of an artifact: without the line above it about a risk accepted by a
// person, and without an appended document.
func submittedPart(text []byte, noted, appends bool) []byte {
	text = withUnixLines(text)
	if note, rest, ok := bytes.Cut(text, []byte("\n\n")); noted && ok && bytes.HasPrefix(note, []byte("> ")) && bytes.IndexByte(note, '\n') < 0 {
		text = rest
	}
	if own, _, ok := bytes.Cut(text, []byte("\n\n---\n\n<!-- the ")); appends && ok {
		text = append(bytes.Clone(own), '\n')
	}
	return text
}

// possibleHashes returns the possible hashes of a text in decisions: with and without the end of the last line,
// with the line ends of Unix and of Windows.
func possibleHashes(text []byte) map[string]bool {
	out := map[string]bool{}
	for _, form := range [][]byte{text, bytes.TrimSuffix(text, []byte("\n"))} {
		if len(form) > 0 {
			out[workflow.Hash(form)] = true
			out[workflow.Hash(bytes.ReplaceAll(form, []byte("\n"), []byte("\r\n")))] = true
		}
	}
	return out
}

// judgeGate judges whether enough people have let a document pass.
func (j *judge) judgeGate(st *Stage, what lang.Text, isAbout func(Decision) bool) {
	p := &j.st.Predicate
	people, keys := map[string]bool{}, map[signature.Key]bool{}
	var why, do lang.Text
	for i, d := range p.Decisions {
		if d.Stage != st.ID || !d.opensGate() || !isAbout(d) {
			continue
		}
		reason, remedy := j.doubtDecision(st, d, j.keys[i])
		if !reason.Empty() {
			why, do = lang.T("the decision of %q does not count: %s", d.Subject, reason), remedy
			continue
		}
		people[d.Subject], keys[j.keys[i]] = true, true
		if !slices.Contains(j.People, d.Subject) {
			j.People = append(j.People, d.Subject)
		}
		if j.keys[i].Touched() {
			j.Touched++
		}
		if d.Decision == workflow.DecisionOverride {
			j.Risks = append(j.Risks, riskOf(st, d))
		}
	}
	want, have := max(j.Base.Rules(st.ID).Quorum, 1), min(len(people), len(keys))
	name := cmp.Or(st.Artifact, j.Path)
	switch {
	case have >= want:
		return
	case !why.Empty() && want == 1:
		j.addFinding("gate", name, lang.T("nobody has approved %s: %s", what, why), do)
	case !why.Empty():
		j.addFinding("gate", name, lang.T("%d of %d required people have approved %s; %s", have, want, what, why), do)
	case want == 1:
		j.addFinding("gate", name, lang.T("nobody has approved %s: no decision matches this text", what),
			lang.T("reopen the stage to have it approved: bmad-mcp reopen %s", j.Task))
	default:
		j.addFinding("gate", name, lang.T("%d of %d required people have approved %s", have, want, what),
			lang.T("reopen the stage to have it approved: bmad-mcp reopen %s", j.Task))
	}
}

func riskOf(st *Stage, d Decision) Risk {
	out := Risk{Stage: st.ID, Subject: d.Subject, At: d.At.Format(time.RFC3339)}
	if r := st.Report; r != nil {
		out.Verdict, out.Failed, out.NotTested = r.Verdict, r.Rows.Failed, r.Rows.NotTested
		for _, f := range r.Open {
			out.Open = append(out.Open, f.ID)
		}
	}
	return out
}

// judgeReport judges whether the rows of a report come to what it states, and reports whether it lets the work pass.
func (j *judge) judgeReport(st *Stage) (passes bool) {
	r := st.Report
	if r == nil {
		j.addFinding("verdict", j.Path, lang.T("it has no report of %s", st.ID), rewrite)
		return true
	}
	counted := Totals{}
	for _, row := range r.Criteria {
		switch row.Result {
		case workflow.ResultPass:
			if counted.Passed++; row.By == byServer {
				counted.ByServer++
			}
		case workflow.ResultFail:
			counted.Failed++
		case workflow.ResultOutOfScope:
			counted.OutOfScope++
		default:
			counted.NotTested++
		}
	}
	if len(r.Criteria) > 0 && counted != r.Rows {
		j.addFinding("verdict", j.Path, lang.T("the totals of %s do not match its rows", st.ID), rewrite)
	}
	open := func(severity string) bool {
		return slices.ContainsFunc(r.Open, func(f Open) bool { return f.Severity == severity })
	}
	failed := slices.ContainsFunc(r.Checks, func(c Ran) bool { return c.Exit != 0 })
	passes = r.Verdict.Passes() && r.Objections == 0
	hasGaps := r.Rows.NotTested > 0 || open("major")
	deniesPass := r.Verdict == workflow.Pass && hasGaps
	worse := r.Rows.Failed > 0 || open("critical") || failed || deniesPass
	if passes && worse {
		j.addFinding("verdict", j.Path, lang.T("%s states %s, but its rows, checks and open findings lead to a worse verdict", st.ID, r.Verdict),
			lang.T("reopen the stage: bmad-mcp reopen %s", j.Task))
	}
	if n := r.Rows.Passed - r.Rows.ByServer; n > 0 {
		j.addNote("claimed", cmp.Or(st.Artifact, j.Path), lang.T("%d of the %d passed rows of %s were not run: the server ran no command for them", n, r.Rows.Passed, st.ID),
			lang.T("name the commands under checks in your settings, so the server can run them"))
	}
	return passes
}

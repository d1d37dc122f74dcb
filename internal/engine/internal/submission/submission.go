// Package submission reads the texts that a call hands in for a stage, and enters them in the
// record of the stage.
//
// A [Submission] is read and assessed before any lock is taken. The caller adds the
// server's own findings; then, under the lock, Keep stores the texts and Enter fills in
// the record.
package submission

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Submission is the texts for a stage, read.
type Submission struct {
	Assessment intake.Assessment
	// Report is that of a verdict stage, Judgement its verdict and reasons.
	Report    verdict.Report
	Judgement verdict.Judgement
	// The server's own findings.
	Scope    []int
	Audit    *workflow.Audit
	Evidence *workflow.Evidence
	// WorkTree is the fingerprint now, SameTree the one that an unchanged project would have.
	WorkTree, SameTree string
	// Edits is the folder of edits of the working copy that the submission does not take.
	Edits string

	drafts []draft
	// taken is the place of the draft that the stage goes on with, why the reason.
	taken int
	why   lang.Text
}

// draft is the text that one engine hands in.
type draft struct {
	engine workflow.Engine
	text   string
	read   intake.Assessment
	report verdict.Report
	audit  workflow.Audit
}

// Read reads and assesses the texts of a call.
func Read(ctx context.Context, q *request.Request, p *project.Project, s *standing.Standing) (*Submission, error) {
	if len(q.Results) == 0 && !p.Dir.Exists(s.Draft.Work) {
		return nil, fault.New(fault.InvalidArgument, "submit names no document, and the working copy %s does not exist", s.Draft.Work).
			WithHint("write the document there and submit again, or pass claude_result or codex_result, or the path of a file in the project as claude_result_path or codex_result_path")
	}
	sub := &Submission{}
	for _, engine := range workflow.Engines() {
		for _, result := range q.Submitted(s) {
			if result.Engine != engine {
				continue
			}
			if err := sub.add(ctx, p, s.Stage, result); err != nil {
				return nil, err
			}
		}
	}
	sub.choose(s)
	return sub, nil
}

// choose takes one of the drafts, and adds the gaps and questions of the other.
func (sub *Submission) choose(s *standing.Standing) {
	sub.taken, sub.why = 0, lang.T("it is the only one")
	sub.Assessment, sub.Report = sub.drafts[0].read, sub.drafts[0].report
	if len(sub.drafts) < 2 {
		return
	}
	first, second := sub.drafts[0], sub.drafts[1]
	two := false
	if s.Stage.Gate == workflow.GateVerdict {
		sub.Report, two = verdict.Merge(first.report, second.report, first.engine, second.engine, workflow.OpenFindings(s.Session.Current().Findings))
		sub.why = lang.T("both verdicts are equal and it is the first")
		if first.report.Verdict() != second.report.Verdict() {
			sub.why = lang.T("its verdict is the worse one")
		}
		sub.Assessment = report(sub.Report)
	} else {
		two, sub.why = intake.Choose(s.Policy.Scoring, intake.Draft{Assessment: first.read,
			Audited: first.audit.Score}, intake.Draft{Assessment: second.read, Audited: second.audit.Score})
		sub.Assessment = intake.Merge(first.read, second.read)
		if two {
			sub.Assessment = intake.Merge(second.read, first.read)
		}
	}
	if two {
		sub.taken = 1
	}
}

// report returns the assessment of a verdict stage's report.
func report(r verdict.Report) intake.Assessment {
	return intake.Assessment{Document: r.Body, Resolved: r.Resolved}
}

func (sub *Submission) add(ctx context.Context, p *project.Project, st workflow.Stage, result request.Result) error {
	engine := result.Engine
	text, err := load(p, result)
	if err != nil {
		return err
	}
	if st.Gate == workflow.GateVerdict {
		r := verdict.Read(intake.Plain(text), st.Keys)
		if r.Blank() {
			return fault.New(fault.InvalidArgument, "%s_result is the form as it was laid out, with nothing filled in", engine).
				WithHint("fill in the block of JSON as the role_prompt shows it, and submit again")
		}
		sub.drafts = append(sub.drafts, draft{engine: engine, text: text, read: report(r), report: r})
		return ctx.Err()
	}
	a := intake.Read(st, text)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !a.Defect.Empty():
		return fault.New(fault.InvalidArgument, "the JSON in %s_result %s", engine, a.Defect).
			WithHint("write the document as Markdown into the file that next_call names, end it with one valid ```json block as the role_prompt shows it, and submit again")
	case a.Document == "":
		return fault.New(fault.InvalidArgument, "%s_result holds no document", engine).
			WithHint("submit the document for stage %q in the form its role_prompt gives", st.ID)
	}
	sub.drafts = append(sub.drafts, draft{engine: engine, text: text, read: a})
	return nil
}

func load(p *project.Project, result request.Result) (string, error) {
	name := string(result.Engine) + "_result"
	text := result.Text
	if result.Path != "" {
		if result.Text != "" {
			return "", fault.New(fault.InvalidArgument, "%s_result and %s_result_path are both given", result.Engine, result.Engine).
				WithHint("pass the text or the path, not both")
		}
		name += "_path"
		var err error
		if text, err = p.ReadDocument(name, result.Path); err != nil {
			return "", err
		}
	}
	return text, check(p, name, text)
}

// check returns an error if a text cannot be a document. name is its name in errors.
func check(p *project.Project, name, text string) error {
	if len(text) > project.MaxDocument {
		return project.TooLarge(name, int64(len(text)))
	}
	if err := request.CheckText(name, text, len(text)); err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return fault.New(fault.InvalidArgument, "%s is empty", name).
			WithHint("submit the document itself; nothing was changed")
	}
	return nil
}

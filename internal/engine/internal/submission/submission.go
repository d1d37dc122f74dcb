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
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
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
	// Report is a verdict stage's, Judgement its verdict and reasons.
	Report    verdict.Report
	Judgement verdict.Judgement
	// Lines are as in [verdict.Contract].
	Lines map[string]int
	// The server's own findings.
	Scope    []int
	Audit    *workflow.Audit
	Evidence *workflow.Evidence
	// Unlisted is true if the document should name criteria, and names none.
	Unlisted bool
	// WorkTree is the fingerprint now, SameTree the one of an unchanged project.
	WorkTree, SameTree string
	// Untouched is the reason why a pass waits because nothing may have been built.
	Untouched workflow.Untouched
	// Absent are the files that the report of a build names and that do not exist.
	Absent []string
	// Edits is the folder with edits of the working copy not in the submission.
	Edits string

	drafts []draft
	// taken is the index of the chosen draft, why the reason.
	taken int
	why   lang.Text
}

// draft is the text of one engine.
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
			if err := sub.addDraft(ctx, p, s.Stage, result); err != nil {
				return nil, err
			}
		}
	}
	sub.chooseDraft(s)
	return sub, nil
}

// chooseDraft takes one of the drafts, and adds the gaps and questions of the other.
func (sub *Submission) chooseDraft(s *standing.Standing) {
	sub.taken, sub.why = 0, lang.T("it is the only one")
	sub.Assessment, sub.Report = sub.drafts[0].read, sub.drafts[0].report
	if len(sub.drafts) < 2 {
		return
	}
	first, second := sub.drafts[0], sub.drafts[1]
	takesSecond := false
	if s.Stage.Gate == workflow.GateVerdict {
		sub.Report, takesSecond = verdict.Merge(first.report, second.report, first.engine, second.engine, workflow.OpenFindings(s.Session.Current().Findings))
		sub.why = lang.T("both verdicts are equal and it is the first")
		if first.report.Verdict() != second.report.Verdict() {
			sub.why = lang.T("its verdict is the worse one")
		}
		sub.Assessment = assessReport(sub.Report)
	} else {
		takesSecond, sub.why = intake.Choose(s.Policy.Scoring, intake.Draft{Assessment: first.read,
			Audited: first.audit.Score}, intake.Draft{Assessment: second.read, Audited: second.audit.Score})
		sub.Assessment = intake.Merge(first.read, second.read)
		if takesSecond {
			sub.Assessment = intake.Merge(second.read, first.read)
		}
	}
	if takesSecond {
		sub.taken = 1
	}
}

// assessReport returns the assessment of a verdict stage's report.
func assessReport(r verdict.Report) intake.Assessment {
	return intake.Assessment{Document: r.Body, Resolved: r.Resolved}
}

func (sub *Submission) addDraft(ctx context.Context, p *project.Project, st workflow.Stage, result request.Result) error {
	engine := result.Engine
	text, err := loadText(p, result)
	if err != nil {
		return err
	}
	if st.Gate == workflow.GateVerdict {
		r := verdict.Read(intake.PlainReport(st, text), intake.Keys(st))
		if err := refusePointer(engine, r.Body); err != nil {
			return err
		}
		if r.Blank() {
			return fault.New(fault.InvalidArgument, "%s_result is the form as it was laid out, with nothing filled in", engine).
				WithHint("fill in the block of JSON as the role_prompt shows it, and submit again")
		}
		sub.drafts = append(sub.drafts, draft{engine: engine, text: text, read: assessReport(r), report: r})
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
	if err := refusePointer(engine, a.Document); err != nil {
		return err
	}
	sub.drafts = append(sub.drafts, draft{engine: engine, text: text, read: a})
	return nil
}

// refusePointer refuses a text that only names a file.
func refusePointer(engine workflow.Engine, document string) error {
	if file := intake.FileIn(document); file != "" {
		return fault.New(fault.InvalidArgument, "%s_result names the file %s and is not the document itself", engine, visible.Fit(file, 200)).
			WithHint("pass the file as %s_result_path, or submit its text; nothing was changed", engine)
	}
	return nil
}

func loadText(p *project.Project, result request.Result) (string, error) {
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
	return text, checkText(name, text)
}

// checkText refuses a text unfit as a document. name is the name of the text in errors.
func checkText(name, text string) error {
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

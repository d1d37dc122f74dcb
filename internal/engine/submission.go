package engine

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// submission is what was handed in for a stage, read.
type submission struct {
	texts      map[workflow.Engine]string
	assessment score.Assessment
	// What the server found out by itself; see examine.
	scope    []int
	audit    *workflow.Audit
	evidence *workflow.Evidence
	// workTree is the fingerprint now, sameTree what it would be had nothing changed.
	workTree, sameTree string
	// edits is where edits of the working copy are kept that the submission does not take.
	edits string
}

// readSubmission loads and assesses the results of a call, before any lock is taken.
func (r *run) readSubmission(ctx context.Context, s *standing.Standing, st workflow.Stage) (*submission, error) {
	results := r.req.results(s)
	if len(r.req.Results) == 0 && !r.project.Dir.Exists(s.Draft.Work) {
		return nil, words.NoWorkingCopy(s.Draft.Work)
	}
	sub := &submission{texts: map[workflow.Engine]string{}}
	first := true
	for _, engine := range workflow.Engines() {
		for _, result := range results {
			if result.Engine != engine {
				continue
			}
			text, err := load(r.project, result)
			if err != nil {
				return nil, err
			}
			if _, twice := sub.texts[engine]; twice {
				return nil, fault.New(fault.InvalidArgument, "%s_result and %s_result_path are both given", engine, engine).
					WithHint("pass the text or the path, not both")
			}
			sub.texts[engine] = text
			a, err := score.ReadContext(ctx, st, text)
			if err != nil {
				return nil, err
			}
			if !a.Defect.Empty() {
				return nil, fault.New(fault.InvalidArgument, "the JSON in %s_result %s", engine, a.Defect).
					WithHint("write the document as Markdown into the file that next_call names, end it with one valid ```json block as the role_prompt shows it, and submit again")
			}
			if a.Document == "" {
				return nil, fault.New(fault.InvalidArgument, "%s_result holds no document", engine).
					WithHint("submit the document for stage %q in the form its role_prompt gives", st.ID)
			}
			if first {
				sub.assessment, first = a, false
			} else {
				sub.assessment = score.Merge(sub.assessment, a)
			}
		}
	}
	if st.Gate == workflow.GateVerdict && sub.assessment.Verdict == "" {
		problem := lang.T("the submission states no verdict")
		if stated := sub.assessment.StatedVerdict; stated != "" {
			problem = lang.T("the verdict %q is not one of pass, pass_with_risk, fail", words.Clip(stated, 80))
		}
		return nil, fault.New(fault.InvalidArgument, "%s", problem).
			WithHint(`add "verdict": "pass", "pass_with_risk" or "fail" to the JSON, or a line "Status: …" to the Markdown`)
	}
	return sub, nil
}

// load returns the text of one result.
func load(p *project.Project, result Result) (string, error) {
	name := string(result.Engine) + "_result"
	text := result.Text
	if result.Path != "" {
		if result.Text != "" {
			return "", fault.New(fault.InvalidArgument, "%s and %s_path are both given", name, name).
				WithHint("pass the text or the path, not both")
		}
		name += "_path"
		var err error
		if text, err = p.ReadDocument(name, result.Path); err != nil {
			return "", err
		}
	}
	if int64(len(text)) > p.Config.MaxSubmission {
		return "", p.TooLarge(name, int64(len(text)))
	}
	if err := checkText(name, text, len(text)); err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" {
		return "", fault.New(fault.InvalidArgument, "%s is empty", name).
			WithHint("submit the document itself; nothing was changed")
	}
	return text, nil
}

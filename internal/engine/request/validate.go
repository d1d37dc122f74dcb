package request

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Validate checks the arguments independent of a session; see also [Request.Complete].
func (q *Request) Validate() error {
	if !slices.Contains(workflow.Actions(), q.Action) {
		return UnknownAction(string(q.Action))
	}
	if q.By == "" {
		q.By = "unknown"
	}
	if q.Via == "" && q.Ask == nil {
		q.Via = workflow.ChannelRelayed
	}
	if err := q.checkTexts(); err != nil {
		return err
	}
	if len(q.Comments) > 0 && !q.Decides() && q.Action != workflow.ActionAnswer {
		return words.CommentsNotTaken(string(q.Action))
	}
	if q.Wait < 0 || q.Wait > standing.MaxWait {
		return fault.New(fault.InvalidArgument, "wait %d is not between 0 and %d seconds", q.Wait, standing.MaxWait).
			WithHint("pass at most %d, and call again while nothing has changed", standing.MaxWait)
	}
	if q.Action == workflow.ActionStart && strings.TrimSpace(q.Objective) == "" {
		return fault.New(fault.InvalidArgument, "start needs an objective").
			WithHint("say in one or two sentences what is to be built")
	}
	return nil
}

// Complete refuses a call without an argument needed by the action. It comes after the session has admitted the
// action: in another state the argument would not help.
func (q *Request) Complete() error {
	switch q.Action {
	case workflow.ActionSubmit, workflow.ActionReopen:
		if q.Stage == "" {
			e := fault.New(fault.InvalidArgument, "%s needs a stage", q.Action)
			if q.Action == workflow.ActionReopen {
				return e.WithHint("pass as stage the earlier one to go back to")
			}
			return e.WithHint("pass the stage that the last reply names")
		}
	case workflow.ActionAnswer:
		if len(q.Answers) == 0 && q.Ask == nil {
			return fault.New(fault.InvalidArgument, "answer needs answers").
				WithHint(`pass answers as an object of question id and text, such as {"q1": "…"}`)
		}
	case workflow.ActionConfirm:
		// A "no, because …" without the no must not open the gate.
		hasWords := visible.Trim(q.Feedback) != "" || len(q.Comments) > 0
		if q.Yes == nil && hasWords {
			return fault.New(fault.InvalidArgument, "confirm with feedback needs confirmed: true or false").
				WithHint("true saves the document and goes on; false asks for another round with the feedback")
		}
	case workflow.ActionApprove:
		if q.Yes == nil && q.Ask == nil {
			return words.ApproveNeeds()
		}
	}
	if q.Blind {
		return fault.New(fault.InvalidArgument, "revision is missing").
			WithHint("pass the revision of the reply that the human has seen, as next_call has it: over this connection nothing else says which draft is meant")
	}
	return nil
}

// checkTexts checks all texts of the call except for answers and results.
func (q *Request) checkTexts() error {
	for _, r := range q.Results {
		if err := CheckText(string(r.Engine)+"_result_path", r.Path, 4096); err != nil {
			return err
		}
	}
	for _, t := range []struct {
		name, text string
		limit      int
	}{{"objective", q.Objective, MaxObjective}, {"feedback", q.Feedback, MaxFeedback},
		{"session_id", q.Session, 200}, {"cwd", q.Cwd, 4096}, {"view", q.View, 200}, {"stage", q.Stage, 200},
		{"workflow", q.Workflow, 200}, {"task_name", q.TaskName, 200}} {
		if err := CheckText(t.name, t.text, t.limit); err != nil {
			return err
		}
	}
	return nil
}

// CheckStage rejects a stage unknown to the workflow.
func CheckStage(w *workflow.Definition, name string) error {
	if name == "" || w.Index(workflow.StageID(name)) >= 0 {
		return nil
	}
	return fault.New(fault.InvalidArgument, "unknown stage %q", name).
		WithHint("use one of: %s", strings.Join(w.IDs(), ", ")).Suggest(name, w.IDs())
}

// CheckText refuses a text over limit bytes, of invalid UTF-8, or with a NUL character.
func CheckText(name any, text string, limit int) error {
	if len(text) > limit {
		return fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", name, len(text), limit).
			WithHint("shorten it, or put the details into a file of the project and name the file")
	}
	if !utf8.ValidString(text) {
		return fault.New(fault.InvalidArgument, "%s is not valid UTF-8", name).WithHint("send the text as UTF-8")
	}
	if strings.ContainsRune(text, 0) {
		return fault.New(fault.InvalidArgument, "%s contains a NUL character", name).WithHint("remove it")
	}
	return nil
}

// UnknownAction returns the error for an unknown action.
func UnknownAction(name string) error {
	actions := workflow.Names(workflow.Actions())
	return fault.New(fault.InvalidArgument, "unknown action %q", name).
		WithHint("use one of: %s", strings.Join(actions, ", ")).Suggest(name, actions)
}

// Filled returns the answers with content, without the "…" of next_call.
func Filled(answers map[string]string) map[string]string {
	out := map[string]string{}
	for id, text := range answers {
		if text = visible.Trim(text); text != "" && text != "…" {
			out[id] = text
		}
	}
	return out
}

// CheckAnswers refuses answers to closed questions, and answers without any text, unless the other questions are
// skipped.
func CheckAnswers(s *workflow.Session, answers map[string]string, skipRest bool) error {
	var open []string
	for _, q := range s.Current().OpenQuestions() {
		open = append(open, q.ID)
	}
	for id, text := range answers {
		if !slices.Contains(open, id) {
			return fault.New(fault.InvalidArgument, "question %q is not open", id).
				WithHint("the open questions are: %s", strings.Join(open, ", "))
		}
		if err := CheckText(lang.T("the answer to %s", id), text, MaxAnswer); err != nil {
			return err
		}
	}
	if len(Filled(answers)) == 0 && !skipRest {
		return fault.New(fault.InvalidArgument, "all answers are empty").
			WithHint("pass the human's words for at least one of: %s", strings.Join(open, ", "))
	}
	return nil
}

// skipWords are the answers by which a person skips a question.
var skipWords = []string{"skip", "skip it", "skip this", "skipped", "跳过", "略过", "跳过此问题", "跳过这个问题"}

// Skips reports whether the person declines to answer with this answer. If the question offers the same word, it
// is an answer.
func Skips(q workflow.Question, answer string) bool {
	word := strings.ToLower(strings.Trim(answer, " \t\r\n.!。！\"'“”「」"))
	offered := slices.ContainsFunc(q.Options, func(option string) bool { return strings.EqualFold(strings.TrimSpace(option), word) })
	return slices.Contains(skipWords, word) && !offered
}

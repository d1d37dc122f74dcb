package learn

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Ask returns the question for the briefing of the current stage.
func Ask(s *standing.Standing) lesson.Question {
	texts := []string{s.Session.Objective}
	switch {
	case s.Stage.Kind == workflow.KindBuild && s.Session.Current().Iteration > 0:
		for _, judge := range s.Workflow.JudgesOf(s.Stage.ID) {
			for _, f := range workflow.OpenFindings(s.Session.Record(judge.ID).Findings) {
				texts = append(texts, f.Problem)
			}
		}
		texts = append(texts, s.Session.Current().Feedback)
	case s.Stage.Kind == workflow.KindBuild:
		for _, sprint := range s.Session.Sprints {
			if sprint.Status == workflow.SprintPending {
				texts = append(texts, sprint.Title)
			}
		}
	}
	return lesson.Question{Text: strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n"), Types: typesFor(s.Workflow, s.Stage), Session: s.Session.SessionID}
}

// typesFor returns the relevant types of notes for a stage, for example failures if it judges the work.
func typesFor(w *workflow.Definition, st workflow.Stage) []string {
	switch st.Kind {
	case workflow.KindPlan:
		return []string{lesson.Stories, lesson.Failures}
	case workflow.KindBuild:
		return []string{lesson.AgentLearnings, lesson.Failures, lesson.Decisions}
	case workflow.KindVerdict:
		return []string{lesson.Failures, lesson.AgentLearnings}
	}
	if st.ID == w.First().ID {
		return []string{lesson.SharedContext, lesson.Stories, lesson.Decisions}
	}
	return []string{lesson.Decisions, lesson.Failures}
}

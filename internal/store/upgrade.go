package store

import (
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// awaitingSave is a state of the Node server before 0.1.0, which asked twice: first to save a document, then, in
// awaiting_approval, to go on.
const awaitingSave workflow.State = "awaiting_save_confirmation"

// upgradeNodeState gives a session of format 0 the state in which the same decision is awaited now.
func upgradeNodeState(s *workflow.Session) {
	st, _ := s.Definition().Stage(s.CurrentStage)
	switch {
	case s.CurrentState == awaitingSave && st.Gate != workflow.GateScore:
		s.CurrentState = workflow.AwaitingApproval
	case s.CurrentState == awaitingSave, s.CurrentState == workflow.AwaitingApproval && st.Gate == workflow.GateScore:
		s.CurrentState = workflow.AwaitingConfirmation
	}
}

// upgradeNodeSession converts the facts that a session of format 0, written by the Node server, states in another
// form: the stage of a saved artifact follows only from the file name. The document of the current stage is
// left to the engine, which can store it.
func upgradeNodeSession(s *workflow.Session) {
	for i, name := range s.Artifacts {
		s.Artifacts[i] = withSlashes(name)
	}
	for _, rec := range s.Stages {
		for _, ref := range rec.Refs() {
			ref.FilePath = withSlashes(ref.FilePath)
		}
	}
	for _, st := range s.Definition().Stages {
		closeQuestions(s.Record(st.ID), s.CurrentStage == st.ID && s.CurrentState == workflow.Clarifying)
		for _, saved := range s.Artifacts {
			if rec := s.Record(st.ID); rec.Artifact == nil && st.Artifact != "" && path.Base(saved) == st.Artifact && isFile(artifact.Folder, saved) {
				rec.Artifact = &workflow.Artifact{Path: saved, SavedAt: s.UpdatedAt}
			}
		}
	}
}

// closeQuestions closes the questions nobody waits for: the Node server waits for answers only in its
// clarifying state.
func closeQuestions(rec *workflow.Record, waiting bool) {
	if waiting {
		return
	}
	for i := range rec.Questions {
		rec.Questions[i].Status = workflow.QuestionLeftOpen
		if rec.Answers[rec.Questions[i].ID] != "" {
			rec.Questions[i].Status = workflow.QuestionAnswered
		}
	}
}

// withSlashes returns a path in the form of references; the Node server wrote the system's separators.
func withSlashes(name string) string { return strings.ReplaceAll(name, `\`, "/") }

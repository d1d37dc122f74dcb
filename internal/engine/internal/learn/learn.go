// Package learn decides which notes a run takes from the project memory, and which lessons it leaves there.
// It reads nothing and knows no files.
package learn

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Bounds of the lessons of one change.
const (
	maxFindings  = 5
	maxDecisions = 10
	// maxLesson bounds the text of a lesson, in bytes.
	maxLesson = 1000
)

// Of returns the lessons of the latest entries of the session's history. document reads the document of a stage as
// confirmed by the person.
func Of(s *standing.Standing, entries []workflow.Transition, document func(workflow.Stage) string) []lesson.Lesson {
	var out []lesson.Lesson
	for _, entry := range entries {
		st, known := s.Workflow.Stage(entry.FromStage())
		if !known {
			continue
		}
		switch entry.Event {
		case workflow.EventFailed, workflow.EventSentBack, workflow.EventExhausted, workflow.EventChangesRequested:
			out = append(out, failureLessons(s, st, entry)...)
		case workflow.EventConfirmed:
			if isArchitecture(st) {
				out = append(out, decisionLessons(s, st, document(st))...)
			}
		case workflow.EventFinished:
			out = append(out, runStory(s, st))
		}
		if entry.Action == workflow.ActionSubmit && st.Gate == workflow.GateVerdict {
			out = append(out, outcomeLessons(s, st)...)
		}
	}
	return out
}

// failureLessons returns the open findings of a report as lessons, or the reason for another round if there are none.
func failureLessons(s *standing.Standing, st workflow.Stage, entry workflow.Transition) []lesson.Lesson {
	rec := s.Session.Record(st.ID)
	var out []lesson.Lesson
	agent := string(st.ID)
	// A returned report, or one to be written again, is the fault of the author.
	own := entry.Event == workflow.EventExhausted || entry.Event == workflow.EventChangesRequested
	if st.SendsBackTo != "" && !own {
		agent = string(st.SendsBackTo)
	}
	var open []workflow.Finding
	if st.Gate != workflow.GateVerdict || !own {
		open = workflow.OpenFindings(rec.Findings)
	}
	for _, f := range open[:min(len(open), maxFindings)] {
		text := f.Problem
		if f.File != "" {
			text = s.Say("%s (%s)", text, f.File)
		}
		if f.Fix != "" {
			text = s.Say("%s; fix: %s", trimStop(text), f.Fix)
		}
		out = append(out, lesson.Lesson{Session: s.Session.SessionID, Finding: findingKey(st, f.ID), Type: lesson.Failures, Agent: agent, Text: clip(text),
			Tags: []string{categoryTag(s, st, rec, f, entry), severityTag(f.Severity), string(st.ID)}})
	}
	if len(out) > 0 {
		return out
	}
	text := strings.TrimSpace(entry.Feedback)
	if text == "" && entry.Event == workflow.EventExhausted {
		reasons := append(slices.Clone(rec.Returned), rec.Gaps...)
		text = strings.Join(reasons[:min(len(reasons), 3)], "; ")
	}
	if text == "" {
		return nil
	}
	return []lesson.Lesson{{Session: s.Session.SessionID, Finding: findingKey(st, "round-"+workflow.Hash([]byte(text))[:12]), Type: lesson.Failures, Agent: agent, Text: clip(text),
		Tags: []string{categoryTag(s, st, rec, workflow.Finding{}, entry), severityTag(""), string(st.ID)}}}
}

// outcomeLessons returns the outcomes of closed findings.
func outcomeLessons(s *standing.Standing, st workflow.Stage) []lesson.Lesson {
	var out []lesson.Lesson
	for _, f := range s.Session.Record(st.ID).Findings {
		if f.Open() {
			continue
		}
		tag := lesson.Resolved
		if f.Status == lesson.Withdrawn {
			tag = lesson.Withdrawn
		}
		out = append(out, lesson.Lesson{Session: s.Session.SessionID, Finding: findingKey(st, f.ID), Type: lesson.Failures, Tags: []string{tag}})
	}
	return out
}

// findingKey tells the findings of a session apart.
func findingKey(st workflow.Stage, id string) string { return string(st.ID) + "/" + id }

// severityTag returns the tag for the severity of a failure.
func severityTag(of string) string {
	switch strings.ToLower(of) {
	case "critical", "blocker":
		return "critical"
	case "major":
		return "major"
	}
	return "minor"
}

// categoryTag returns the first matching category of a failure.
func categoryTag(s *standing.Standing, st workflow.Stage, rec *workflow.Record, f workflow.Finding, entry workflow.Transition) string {
	evidence := rec.Evidence
	if st.SendsBackTo != "" && evidence == nil {
		evidence = s.Session.Record(st.SendsBackTo).Evidence
	}
	switch {
	case evidence.Failed():
		return lesson.CCFail
	case rec.Doubted():
		return lesson.Hallucination
	case isArchitecture(st), againstArchitecture(s, f):
		return lesson.ArchMistake
	case f.ID == "" && skipsSections(rec.Audit):
		return lesson.ProcessSkip
	case repeatsAnswer(s.Session, entry.Feedback):
		return lesson.ContextLoss
	}
	return lesson.WrongAssumption
}

func isArchitecture(st workflow.Stage) bool {
	return st.ID == workflow.Architect || strings.Contains(st.DocumentName, "architecture")
}

// againstArchitecture reports whether a finding is about the architecture's document.
func againstArchitecture(s *standing.Standing, f workflow.Finding) bool {
	return f.File != "" && slices.ContainsFunc(s.Workflow.Stages, func(st workflow.Stage) bool {
		return isArchitecture(st) && st.Artifact != "" && strings.Contains(f.File, st.Artifact)
	})
}

// skipsSections reports whether a document lacks a section required by the rubric: the rules for required sections
// are called NO-…, for example NO-CRITERIA.
func skipsSections(a *workflow.Audit) bool {
	return a != nil && slices.ContainsFunc(a.Findings, func(f workflow.AuditFinding) bool {
		return strings.HasPrefix(f.ID, "NO-") && f.Severity != "minor" && !f.Asks()
	})
}

// minRepeated is the length in characters from which a repeated answer cannot be an accident.
const minRepeated = 12

// repeatsAnswer reports whether a person has to repeat an answer.
func repeatsAnswer(s *workflow.Session, feedback string) bool {
	said := normalize(feedback)
	for _, rec := range s.Stages {
		for _, answer := range rec.Answers {
			if a := normalize(answer); len([]rune(a)) >= minRepeated && strings.Contains(said, a) {
				return true
			}
		}
	}
	return false
}

// normalize returns a text in lower case with single spaces, without a stop at the end.
func normalize(text string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(text), " ")), ".!。！")
}

// runStory returns the lesson of the run itself, once it is finished.
func runStory(s *standing.Standing, st workflow.Stage) lesson.Lesson {
	text := s.Session.Objective
	if len(s.Session.Artifacts) > 0 {
		text = s.Say("%s; documents: %s", trimStop(clip(text)), strings.Join(s.Session.Artifacts, ", "))
	}
	return lesson.Lesson{Session: s.Session.SessionID, Finding: "story", Type: lesson.Stories, Agent: string(st.ID), Text: clip(text), Tags: []string{s.Session.Definition().Name}}
}

// trimStop returns a text without the full stop at the end, so more can follow.
func trimStop(text string) string { return strings.TrimRight(strings.TrimSpace(text), ".。") }

// clip bounds the text of a lesson.
func clip(text string) string { return visible.Fit(text, maxLesson) }

// decisionNames are the headings of the decisions in an architecture.
var decisionNames = []string{"decisions", "decision", "decision log", "decision records", "key decisions",
	"design decisions", "technical decisions", "architecture decisions", "architectural decisions",
	"决策", "决定", "关键决策", "设计决策", "技术决策", "架构决策", "架构决定", "décisions", "décisions clés"}

// decisionLessons returns the lessons of a document: one for each decision, if it lists any.
func decisionLessons(s *standing.Standing, st workflow.Stage, document string) []lesson.Lesson {
	var out []lesson.Lesson
	all := readDecisions(document)
	for _, text := range all[:min(len(all), maxDecisions)] {
		finding := findingKey(st, workflow.Hash([]byte(normalize(text)))[:12])
		out = append(out, lesson.Lesson{
			Session: s.Session.SessionID, Finding: finding, Type: lesson.Decisions, Agent: string(st.ID), Text: clip(text), Tags: []string{string(st.ID)},
		})
	}
	return out
}

// readDecisions lists the decisions of a document: the items, table rows and headings below such a heading, each
// with its continuation lines.
func readDecisions(document string) []string {
	d := markdown.Read(document, decisionNames)
	heads := map[int]string{}
	for _, h := range d.Heads {
		heads[h.Line] = h.Text
	}
	columns := map[int]bool{}
	for _, t := range d.Tables {
		columns[t.Line] = true
	}
	var out []string
	next := 0 // sections can lie in each other
	for _, section := range d.Sections(decisionNames) {
		open := false
		for i := max(section.Line+1, next); i < section.End; i++ {
			line := strings.TrimSpace(d.Lines[i])
			_, body, item := markdown.Item(d.Lines[i])
			head, headed := heads[i]
			row, inTable := d.Rows[i]
			switch {
			case line == "":
			case d.Code[i], columns[i], markdown.IsTableRule(line):
				open = false
			case inTable:
				out, open = append(out, strings.Join(row.Cells, " — ")), false
			case headed && markdown.MatchesName(markdown.NameOf(head), decisionNames): // the heading of one of them
			case headed:
				out, open = append(out, head), true
			case item && (!open || strings.TrimLeft(d.Lines[i], " \t") == d.Lines[i]):
				out, open = append(out, body), true
			case open:
				out[len(out)-1] += " " + line
			}
		}
		next = max(next, section.End)
	}
	return out
}

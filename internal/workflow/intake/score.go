// Package intake reads a model's submission for a stage. It is made of pure functions
// over text and never fails: every text has an [Assessment].
//
// A submission is a document with a claimed score, gaps and questions in a block of JSON at the end,
// or all of it in a JSON envelope. The envelope may be bare, fenced, slightly broken, wrapped in
// prose, or missing altogether.
package intake

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Assessment is the content of one submission, or of two merged ones.
type Assessment struct {
	// Document is the deliverable, without the envelope.
	Document string
	// Claimed is the score, 0 to 100, that the submission states for itself; nil when it states
	// none.
	Claimed *float64
	// ScoreNote explains the choice from several stated scores, or why a stated value is not a
	// score.
	ScoreNote lang.Text
	// Estimated is 60 to 85, by the sections present, and at most the points of the audit; see
	// [Assessment.Audited]. It never opens a gate.
	Estimated float64
	// Gaps are stated by the submission; Missing are found by us.
	Gaps      []string
	Missing   []lang.Text
	Questions []workflow.Question
	Resolved  []workflow.Resolution
	// Sprints are read from the headings of a sprint plan.
	Sprints []workflow.Sprint
	// Scope lists the sprint numbers that a dev submission says it covers.
	Scope []int
	named []string // the scope in the words of the report
	// Files are named by a report of a build as made or changed.
	Files []string
	// Defect is set when the text is plainly a JSON envelope that cannot be read, and continues the
	// words "the JSON …". Document is then the raw text.
	Defect lang.Text
}

// Score returns the claimed score, or the estimate if none was claimed.
func (a Assessment) Score() float64 {
	if a.Claimed != nil {
		return *a.Claimed
	}
	return a.Estimated
}

// Audited lowers the estimate to the points of the document's audit: it cannot be worth more than a
// closer look finds.
func (a *Assessment) Audited(points float64) { a.Estimated = min(a.Estimated, points) }

// Read reads a submission for a stage.
func Read(stage workflow.Stage, text string) Assessment {
	text, around := unwrapText(text)
	env := findEnvelope(stage, text)

	a := Assessment{Document: text, Defect: env.defect}
	if env.object == nil && a.Defect.Empty() && OnlyJSON(text) {
		a.Defect = lang.T("has no document in it; put it into the field %s", keysOf(stage)[len(keysOf(stage))-1])
	}
	if env.object != nil {
		a.Document = env.document
	}
	a.Claimed, a.ScoreNote = claimedScore(env, text, around)
	a.Estimated, a.Missing = Estimate(stage.RubricName(), a.Document)
	a.Gaps = stringList(env.object["gaps"])
	a.Questions = readQuestions(env.object)
	if len(a.Questions) == 0 && env.object["questions"] == nil {
		a.Questions = markdownQuestions(a.Document)
	}
	if stage.Kind == workflow.KindPlan {
		a.Sprints, a.Missing = ReadSprints(a.Document)
		if len(a.Sprints) == 0 {
			a.Sprints = sprintObjects(env.object)
		}
	}
	if stage.Kind == workflow.KindBuild {
		a.named = scopeTexts(env.object["sprints"])
		a.Scope, a.Files = numbersIn(a.named), readFiles(env.object["files"], a.Document)
		if given := env.object["sprints"]; len(a.Scope) == 0 && !anyScope(given) && len(lettersIn(a.named)) == 0 {
			a.Defect = lang.T(`names "sprints" that are not numbers`)
		}
	}
	a.Resolved = ReadResolved(env.object["resolved"])
	a.Sprints = a.Sprints[:min(len(a.Sprints), maxItems)]
	return a
}

// Merge adds the gaps and questions of the other of two submissions to the one taken.
func Merge(winner, other Assessment) Assessment {
	winner.Gaps = mergeTexts(winner.Gaps, other.Gaps)
	winner.Questions = MergeQuestions(winner.Questions, other.Questions)
	return winner
}

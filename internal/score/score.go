// Package score reads what a model submitted for a stage. It is made of pure
// functions over text and never fails: whatever the text, there is an
// [Assessment] that says what could be read out of it.
//
// A submission is a document, usually in a JSON envelope beside a claimed score,
// gaps and questions; the envelope may be bare, fenced, slightly broken, wrapped
// in prose, or missing altogether.
package score

import (
	"strings"

	"bmad-mcp/internal/workflow"
)

// Assessment is what was read out of one submission, or out of two merged ones.
type Assessment struct {
	// Document is the deliverable, out of its envelope.
	Document string
	// Claimed is the score, 0 to 100, that the submission states of itself; nil when it states none.
	Claimed *float64
	// Estimated is 60 to 85, by which sections are present. It never opens a gate.
	Estimated float64
	// Gaps are what the submission says is missing; Missing is what we find so.
	Gaps      []string
	Missing   []string
	Questions []workflow.Question
	// Verdict is the stated one; Objections are facts in the submission that contradict a pass.
	Verdict    workflow.Verdict
	Objections []string
	// StatedVerdict is the "verdict" field as it stands, readable or not.
	StatedVerdict string
	Findings      []workflow.Finding
	Criteria      []workflow.Criterion
	Resolved      []workflow.Resolution
	// Sprints are read from the headings of a sprint plan.
	Sprints []workflow.Sprint
	// Scope lists the sprint numbers that a dev submission says it covers.
	Scope []int
	// Defect is set when the text is plainly a JSON envelope that cannot be read,
	// and continues the words "the JSON …". Document is then the raw text.
	Defect string
}

// Score returns the claimed score, or the estimate where none was claimed.
func (a Assessment) Score() float64 {
	if a.Claimed != nil {
		return *a.Claimed
	}
	return a.Estimated
}

// Effective returns the verdict that counts: a stated pass that the submission's
// own rows contradict is a fail.
func (a Assessment) Effective() workflow.Verdict {
	if len(a.Objections) > 0 && a.Verdict != "" {
		return workflow.Fail
	}
	return a.Verdict
}

// Read reads a submission for a stage.
func Read(stage workflow.StageID, text string) Assessment {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	env := findEnvelope(stage, text)

	a := Assessment{Document: text, Defect: env.defect}
	if env.object == nil && a.Defect == "" && onlyJSON(text) {
		a.Defect = "has no document in it: the field " + documentKeys[stage][len(documentKeys[stage])-1] + " or one of its variants is due"
	}
	if env.object != nil {
		a.Document = env.document
	}
	a.Claimed = claimedScore(env, text)
	a.Estimated, a.Missing = Estimate(stage, a.Document)
	a.Gaps = stringList(env.object["gaps"])
	a.Questions = readQuestions(env.object)
	if len(a.Questions) == 0 && env.object["questions"] == nil {
		a.Questions = markdownQuestions(a.Document)
	}
	if stage == workflow.SM {
		a.Sprints, a.Missing = ReadSprints(a.Document)
	}
	if stage == workflow.Dev {
		a.Scope = intList(env.object["sprints"])
		a.Resolved = readResolved(env.object["resolved"])
	}
	if stage == workflow.Review || stage == workflow.QA {
		a.readVerdict(env)
	}
	return a
}

// Merge joins the submissions of two engines: the higher score wins, at a tie
// the first; questions and gaps of both are kept without repeats.
func Merge(a, b Assessment) Assessment {
	winner, other := a, b
	if b.Score() > a.Score() {
		winner, other = b, a
	}
	winner.Gaps = mergeStrings(winner.Gaps, other.Gaps)
	winner.Questions = mergeQuestions(winner.Questions, other.Questions)
	// Bad news from either engine counts.
	winner.Verdict = worse(winner.Verdict, other.Verdict)
	winner.Objections = mergeStrings(winner.Objections, other.Objections)
	return winner
}

func mergeStrings(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range append(append([]string{}, a...), b...) {
		if key := folded(s); key != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// folded is the form in which two wordings of the same thing compare equal:
// lower case, without punctuation and spaces at the ends and runs of spaces.
func folded(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	return strings.Trim(s, " .?!;:,。？！；：，*_`\"'")
}

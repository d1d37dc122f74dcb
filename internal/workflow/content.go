package workflow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"
)

// ContentRef points at a large text kept in a file of the project.
type ContentRef struct {
	// FilePath is relative to the project folder, with forward slashes.
	FilePath string `json:"file_path"`
	// Summary is the beginning of the text, at most 300 characters.
	Summary string `json:"summary"`
	// Size is in bytes.
	Size        int64     `json:"size"`
	SHA256      string    `json:"sha256,omitempty"`
	LastUpdated time.Time `json:"last_updated"`
	Extra       Extra     `json:",unknown"`
}

// SummaryLimit is the length of a summary in characters.
const SummaryLimit = 300

// Summarize returns the beginning of a text for a reference.
func Summarize(text string) string {
	n := 0
	for i := range text {
		if n == SummaryLimit {
			return text[:i]
		}
		n++
	}
	return text
}

// Hash returns the SHA-256 of a text, as references and artifacts record it.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Question is a clarifying question for the person.
type Question struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	// Context explains why the question matters.
	Context string `json:"context,omitempty"`
	// Options are the stage's suggested answers; the person may give another.
	Options []string `json:"options,omitempty"`
	// Status is empty for an open question.
	Status QuestionStatus `json:"status,omitempty"`
	Extra  Extra          `json:",unknown"`
}

// QuestionStatus is the outcome of a question once the person has answered.
type QuestionStatus string

// The question statuses.
const (
	QuestionAnswered QuestionStatus = "answered"
	// QuestionSkipped: the person does not want to answer.
	QuestionSkipped QuestionStatus = "skipped"
	// QuestionLeftOpen: the person answered others, but not this one.
	QuestionLeftOpen QuestionStatus = "left_open"
	// QuestionLater: there were too many at once, and this one is put to the person in the next round.
	QuestionLater QuestionStatus = "later"
)

// Open reports whether the question still waits for the person.
func (q Question) Open() bool { return q.Status == "" }

// isUnsettled reports whether the question waits for the person, now or in the next round.
func (q Question) isUnsettled() bool { return q.Open() || q.Status == QuestionLater }

// Candidate is one of several engines' drafts for the same round.
type Candidate struct {
	Engine Engine `json:"engine"`
	// Score is the claimed score, or the estimate if Estimated is true; nil in a report.
	Score     *float64 `json:"score,omitempty"`
	Estimated bool     `json:"score_is_estimate,omitempty"`
	Verdict   Verdict  `json:"verdict,omitempty"`
	// AuditScore is the score of our own audit of this draft.
	AuditScore float64 `json:"audit_score"`
	// Path is the engine's text, relative to the project.
	Path string `json:"path,omitempty"`
	// Taken is true for the draft with which the stage goes on, Because the reason.
	Taken   bool   `json:"taken,omitempty"`
	Because string `json:"because,omitempty"`
	Extra   Extra  `json:",unknown"`
}

// Verdict is the conclusion of a review or QA stage.
type Verdict string

// The verdicts; the empty one means none was stated.
const (
	Pass         Verdict = "pass"
	PassWithRisk Verdict = "pass_with_risk"
	Fail         Verdict = "fail"
	// Blocked: a verdict is not possible before the person has done or decided something.
	Blocked Verdict = "blocked"
)

// Passes reports whether the work continues to the next stage after a verdict.
func (v Verdict) Passes() bool { return v == Pass || v == PassWithRisk }

// Finding is a defect reported by a review or QA stage.
type Finding struct {
	ID string `json:"id"`
	// Severity is critical, major or minor.
	Severity string `json:"severity,omitempty"`
	// File is a path, with a line if known.
	File    string `json:"file,omitempty"`
	Problem string `json:"problem"`
	Fix     string `json:"fix,omitempty"`
	// Status is empty or "open" while the finding applies, then fixed or withdrawn.
	Status string `json:"status,omitempty"`
	// Check is the id of the check that shows the defect.
	Check string `json:"check,omitempty"`
	Extra Extra  `json:",unknown"`
}

// Open reports whether the finding still applies.
func (f Finding) Open() bool { return f.Status == "" || f.Status == "open" }

// OpenFindings returns the findings that still apply.
func OpenFindings(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !f.Open() })
}

// Criterion is the row of a report for one criterion.
type Criterion struct {
	ID string `json:"id"`
	// Criterion is the text in the requirements, or in the report if the requirements have none.
	Criterion string `json:"criterion,omitempty"`
	// Result is one of [Results].
	Result   string `json:"result"`
	Evidence string `json:"evidence,omitempty"`
	// Check names the ids of the checks that show the result.
	Check string `json:"check,omitempty"`
	// Why is the reason of an untested row.
	Why string `json:"why,omitempty"`
	// From is the round from which the row is carried over; 0 if it was tested in this one.
	From int `json:"from,omitempty"`
	// Sprint is the sprint of a criterion that is out of scope.
	Sprint int `json:"sprint,omitempty"`
	// Proved is true if the server itself ran the checks of a passed row.
	Proved bool `json:"proved,omitempty"`
	// ByWord is true if nothing can be looked up for a passed row: only the report says so.
	ByWord bool  `json:"by_word,omitempty"`
	Extra  Extra `json:",unknown"`
}

// The results of a criterion.
const (
	ResultPass       = "pass"
	ResultFail       = "fail"
	ResultNotTested  = "not_tested"
	ResultOutOfScope = "out_of_scope"
)

// Results lists every result of a criterion.
func Results() []string {
	return []string{ResultPass, ResultFail, ResultNotTested, ResultOutOfScope}
}

// Check is a command in a report, with the result.
type Check struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	// Output is the part of the command's output quoted in the report, or the end of it if the
	// server ran the command.
	Output string `json:"output,omitempty"`
	// Server is true if the server itself ran the command: exit and output are then the server's.
	Server bool  `json:"server,omitempty"`
	Extra  Extra `json:",unknown"`
}

// Owes names the rows owed by the report of a verdict stage.
type Owes string

// The kinds of rows owed by reports.
const (
	// OwesCriteria: a row for each criterion in scope.
	OwesCriteria Owes = "criteria"
	// OwesFindings: the list of findings, and the commands run.
	OwesFindings Owes = "findings"
)

// Proof is the share of a report's passed rows that commands run by the server have to prove.
type Proof string

// The demands for proof, from the loosest on.
const (
	ProvedNone Proof = "none"
	ProvedSome Proof = "some"
	ProvedAll  Proof = "all"
)

// FailedCriteria returns the criteria whose result is fail.
func FailedCriteria(all []Criterion) []Criterion {
	return slices.DeleteFunc(slices.Clone(all), func(c Criterion) bool { return c.Result != ResultFail })
}

// Resolution is the author's statement about one finding or change request.
type Resolution struct {
	ID  string `json:"id"`
	How string `json:"how,omitempty"`
	// Declined is true if the author gives a reason against the request, which keeps the reason.
	Declined bool  `json:"-"`
	Extra    Extra `json:",unknown"`
}

// SprintStatus is the progress of a sprint.
type SprintStatus string

// The sprint statuses.
const (
	SprintPending     SprintStatus = "pending"
	SprintImplemented SprintStatus = "implemented"
	SprintDone        SprintStatus = "done" // implemented, and passed by QA
)

// Sprint is one sprint of the plan.
type Sprint struct {
	Number int `json:"number"`
	// Label is the name in the plan if it is not the number: the A of "Sprint A".
	Label  string       `json:"label,omitempty"`
	Title  string       `json:"title"`
	Status SprintStatus `json:"status"`
	// Criteria are the ids of its criteria; only in the sprints of an earlier plan.
	Criteria []string `json:"criteria,omitempty"`
	Extra    Extra    `json:",unknown"`
}

// Name returns the label or the number.
func (s Sprint) Name() string { return cmp.Or(s.Label, strconv.Itoa(s.Number)) }

// Titled reports whether the plan gives the sprint a title.
func (s Sprint) Titled() bool { return s.Title != "Sprint "+s.Name() }

// Artifact records a saved deliverable.
type Artifact struct {
	// Path is relative to the project folder, with forward slashes.
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	SHA256  string    `json:"sha256"`
	SavedAt time.Time `json:"saved_at"`
	// Stale is true after an earlier stage was reopened.
	Stale bool `json:"stale,omitempty"`
	// Text refers to the artifact's bytes; nil if an older program saved it. Replaces is the hash
	// of the previous artifact, "" if there was none.
	Text     *ContentRef `json:"text,omitempty"`
	Replaces string      `json:"replaces,omitempty"`
	// Marked is true if the folder in which the artifact was written has a mark of that. Older programs made none.
	Marked bool  `json:"marked,omitempty"`
	Extra  Extra `json:",unknown"`
}

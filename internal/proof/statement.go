package proof

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The names of the files of a run beside the artifacts, and of the list of signers of a project.
const (
	StatementFile = "run.json"
	SignatureFile = "run.json.sig"
	SignersFile   = ".claude/bmad-signers"
)

// The types of a statement and of its predicate. The page of the second describes each key.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/bmad-mcp/bmad-mcp/blob/main/docs/proof.md#run-v1"
)

// Statement is the content of run.json.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is an approved artifact.
type Subject struct {
	// Name is the path from the project, with forward slashes.
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest has the hash of an artifact as it was saved. A conversion of line ends by git does not count as a change.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// Predicate is what a statement says about a run.
type Predicate struct {
	Task       string     `json:"task"`
	Session    string     `json:"session"`
	Program    string     `json:"program,omitempty"`
	Repository Repository `json:"repository"`
	// Written names the person whose program has written the statement, and signed it.
	Written  Written  `json:"written"`
	Workflow Workflow `json:"workflow"`
	// State is "stage/state", as the history writes it.
	State     string     `json:"state"`
	Finished  bool       `json:"finished"`
	Stages    []Stage    `json:"stages"`
	Decisions []Decision `json:"decisions"`
	// Omitted counts the older decisions left out to keep the statement short.
	Omitted int `json:"omitted_decisions,omitempty"`
	// Invalid are the artifacts whose approval does not count any more.
	Invalid []Invalid `json:"invalid,omitempty"`
	Work    *Work     `json:"work,omitempty"`
	CostUSD *float64  `json:"cost_usd,omitempty"`
	Chain   Chain     `json:"chain"`
}

// Repository names a repository: Root is the first commit, Remote a hint for people.
type Repository struct {
	Root   string `json:"root,omitempty"`
	Remote string `json:"remote,omitempty"`
}

// Written says when a statement was made, and in whose name.
type Written struct {
	At      time.Time `json:"at"`
	Subject string    `json:"subject,omitempty"`
	Name    string    `json:"name,omitempty"`
}

// Workflow names the workflow of a run.
type Workflow struct {
	Name string `json:"name"`
	Hash string `json:"hash,omitempty"`
}

// Stage is a stage of the workflow and the result.
type Stage struct {
	ID   workflow.StageID  `json:"id"`
	Kind workflow.Kind     `json:"kind"`
	Gate workflow.GateKind `json:"gate"`
	// Scoped is true for a build whose scope a person approves first.
	Scoped bool            `json:"scoped,omitempty"`
	Status workflow.Status `json:"status"`
	Rounds int             `json:"rounds"`
	// Claimed and Estimated are the scores of the document, Audit the score by the program's own audit.
	Claimed   *float64        `json:"claimed_score,omitempty"`
	Estimated *float64        `json:"estimated_score,omitempty"`
	Audit     *Audit          `json:"audit,omitempty"`
	Policy    workflow.Policy `json:"policy"`
	// Submitted is the hash of the document as it was handed in, to which a decision applies; Scope is the hash of
	// the approved scope.
	Submitted string `json:"submitted,omitempty"`
	Scope     string `json:"scope,omitempty"`
	// Artifact is the path of the saved document.
	Artifact string `json:"artifact,omitempty"`
	// Writers are the accounts that have handed the document in, or edited it at the gate; "" is an unknown one.
	Writers []string `json:"writers,omitempty"`
	Report  *Report  `json:"report,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
}

// Audit counts the findings of an audit by their severity.
type Audit struct {
	Score    float64 `json:"score"`
	Critical int     `json:"critical,omitempty"`
	Major    int     `json:"major,omitempty"`
	Minor    int     `json:"minor,omitempty"`
}

// The sources of a result: the server has run the command, or the report claims it.
const (
	byServer = "server"
	byClaim  = "claimed"
)

// Report is what the report of a verdict stage comes to.
type Report struct {
	Verdict workflow.Verdict `json:"verdict,omitempty"`
	// Objections counts what speaks against a stated pass.
	Objections int    `json:"objections,omitempty"`
	Rows       Totals `json:"rows"`
	Criteria   []Row  `json:"criteria,omitempty"`
	Checks     []Ran  `json:"checks,omitempty"`
	// Open are the open findings, the worst first, at most maxOpen of them; MoreOpen counts the others.
	Open     []Open `json:"open_findings,omitempty"`
	MoreOpen int    `json:"more_open_findings,omitempty"`
}

// Totals counts the rows of a report.
type Totals struct {
	Passed     int `json:"passed"`
	ByServer   int `json:"by_server"`
	Failed     int `json:"failed,omitempty"`
	NotTested  int `json:"not_tested,omitempty"`
	OutOfScope int `json:"out_of_scope,omitempty"`
}

// Row is the result for a criterion.
type Row struct {
	ID     string `json:"id"`
	Result string `json:"result"`
	By     string `json:"by,omitempty"`
}

// Ran is the result of a command.
type Ran struct {
	ID   string `json:"id"`
	Exit int    `json:"exit"`
	By   string `json:"by"`
}

// Open is a finding still open.
type Open struct {
	ID       string `json:"id"`
	Severity string `json:"severity,omitempty"`
}

// Verify is the result of the stage's verify command, which the server has run.
type Verify struct {
	Exit     int  `json:"exit"`
	TimedOut bool `json:"timed_out,omitempty"`
	NotRun   bool `json:"not_run,omitempty"`
}

// Decision is a person's decision, with every key of [workflow.Grant.Statement], and the signature.
type Decision struct {
	Stage     workflow.StageID   `json:"stage"`
	Decision  workflow.Decision  `json:"decision"`
	Subject   string             `json:"subject,omitempty"`
	Name      string             `json:"name,omitempty"`
	Channel   workflow.Channel   `json:"channel"`
	Assurance workflow.Assurance `json:"assurance"`
	At        time.Time          `json:"at"`
	Revision  int                `json:"revision"`
	SHA256    string             `json:"sha256,omitempty"`
	Policy    workflow.GateMode  `json:"policy,omitempty"`
	Signature string             `json:"signature,omitempty"`
	// Words are the person's words, if the project has them written.
	Words string `json:"words,omitempty"`
	// To is the stage to which a reopening went back.
	To workflow.StageID `json:"to,omitempty"`
}

// toGrant returns the decision as the history has it.
func (d Decision) toGrant() workflow.Grant {
	return workflow.Grant{
		Channel: d.Channel, Assurance: d.Assurance, Decision: d.Decision, Person: workflow.Person{Subject: d.Subject, Name: d.Name},
		At: d.At, Stage: d.Stage, Revision: d.Revision, SHA256: d.SHA256, Policy: d.Policy, Signature: d.Signature,
	}
}

// opensGate reports whether the decision lets a document pass.
func (d Decision) opensGate() bool {
	return d.Decision == workflow.DecisionApprove || d.Decision == workflow.DecisionOverride
}

// The reasons why an approval does not count.
const (
	becauseReopened = "reopened"
	becauseSentBack = "sent_back"
	becauseEdited   = "edited"
	becauseGone     = "missing"
)

// Invalid is an artifact whose approval does not count any more, and why.
type Invalid struct {
	Stage  workflow.StageID `json:"stage"`
	Path   string           `json:"path,omitempty"`
	Reason string           `json:"reason"`
	// At and Subject are the time and the account of the decision that has undone the approval.
	At      *time.Time `json:"at,omitempty"`
	Subject string     `json:"subject,omitempty"`
}

// Work names the commits at which the work was planned and tested.
type Work struct {
	ApprovedCommit string `json:"approved_commit,omitempty"`
	TestedCommit   string `json:"tested_commit,omitempty"`
	// TestedClean is true if the project had no change beside the tested commit.
	TestedClean bool `json:"tested_clean,omitempty"`
	// Changed are the files changed since, at most maxChanged; More counts the others.
	Changed []string `json:"changed_since,omitempty"`
	More    int      `json:"changed_more,omitempty"`
}

// Chain names the newest entry of the history, and counts the entries.
type Chain struct {
	Head   string `json:"head,omitempty"`
	Length int    `json:"length"`
}

// Parse reads a statement. It refuses JSON with a duplicate key, or with invalid UTF-8: programs would read it in
// different ways.
func Parse(text []byte) (*Statement, error) {
	var s Statement
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, lang.Errorf("it is not a statement: %v", err)
	}
	switch {
	case s.Type != statementType:
		return nil, lang.Errorf("it is not an in-toto statement of version 1")
	case s.PredicateType != predicateType:
		return nil, lang.Errorf("this version of the program does not support its predicate, %q", s.PredicateType)
	}
	return &s, nil
}

// encode returns the text of run.json: the keys in a fixed order, indented by one blank.
func (s *Statement) encode() ([]byte, error) {
	data, err := json.Marshal(s, jsonv1.OmitEmptyWithLegacySemantics(true), json.Deterministic(true), jsontext.WithIndent(" "))
	return append(data, '\n'), err
}

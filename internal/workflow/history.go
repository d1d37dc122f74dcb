package workflow

import (
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Transition is one entry of a session's history.
type Transition struct {
	At time.Time `json:"at"`
	// Standing is a hash of the session after this entry.
	Standing string `json:"standing,omitempty"`
	// Project is the id of the session's project from this entry on, if the entries before name
	// another.
	Project string `json:"project,omitempty"`
	Action  Action `json:"action"`
	Event   Event  `json:"event"`
	// From and To are "stage/state"; From is empty for the start.
	From string `json:"from"`
	To   string `json:"to"`
	// By names the caller: the MCP client, or "terminal".
	By string `json:"by"`
	// The person is the one on whose behalf the caller acted.
	Person
	Iteration int      `json:"iteration,omitempty"`
	Score     *float64 `json:"score,omitempty"`
	Verdict   Verdict  `json:"verdict,omitempty"`
	// AuditScore, FindingsOpen and ExitCode are the server's own findings about a submission: the
	// next one replaces them in the record. ExitCode is the verify command's.
	AuditScore   *float64 `json:"audit_score,omitempty"`
	FindingsOpen *int     `json:"findings_open,omitempty"`
	ExitCode     *int     `json:"exit_code,omitempty"`
	// Path is the document of the transition, relative to the project.
	Path     string `json:"path,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Feedback string `json:"feedback,omitempty"`
	// Skipped are the ids of the questions skipped by the person.
	Skipped []string `json:"skipped,omitempty"`
	// Sources are the files a submission was read from, relative to the project.
	Sources []string `json:"sources,omitempty"`
	// Kept is the path of an edited working copy, replaced by a submission.
	Kept string `json:"kept,omitempty"`
	// Edit describes in words the person's edit, or the part of it undone by a submission.
	Edit string `json:"edit,omitempty"`
	// Grant is the human's decision carried out by the transition.
	Grant *Grant `json:"grant,omitempty"`
	// Policy describes a change of policy in words, and Rules has the policies of the stages from this entry on, if
	// it starts the run, changes them, or accepts others.
	Policy string             `json:"policy,omitempty"`
	Rules  map[StageID]Policy `json:"rules,omitempty"`
	// VerifyCommands are the session's commands from this entry on, if the entry changed them.
	VerifyCommands map[StageID]VerifyCommand `json:"verify,omitempty"`
	// Evidence describes the result of a submission's verify command in words.
	Evidence string `json:"evidence,omitempty"`
	// Rows counts the rows of a report in words.
	Rows string `json:"rows,omitempty"`
	// Candidates compares the drafts of several engines in words.
	Candidates string `json:"candidates,omitempty"`
	// Returned are the reasons why a report was returned.
	Returned []string `json:"returned,omitempty"`
	// ByWord counts the passed rows of a report for which nothing could be looked up, at a submission
	// or a yes to it.
	ByWord int `json:"by_word,omitempty"`
	// Judged is the hash of the findings about a submission; see Record.Judged.
	Judged string `json:"judged,omitempty"`
	// Adoption describes the changes accepted by this entry's person.
	Adoption *Adoption `json:"adoption,omitempty"`
	// Commit is the checked-out commit, if the step is about a plan or a report.
	Commit string `json:"commit,omitempty"`
	// Tree stands for the project's files, if later work is compared with them.
	Tree string `json:"tree,omitempty"`
	// Dirty has git's names of the contents that the commit does not have, by the paths of the files, if later work is
	// compared with them.
	Dirty map[string]string `json:"dirty,omitempty"`
	// Untouched is the reason why a pass waits, if the project seems to be as it was before the work.
	Untouched Untouched `json:"untouched,omitempty"`
	// Files are named by a report of a build as made or changed.
	Files []string `json:"files,omitempty"`
	// Absent are the files that a report of a build names and that do not exist.
	Absent []string `json:"absent,omitempty"`
	// Named has the files of the project that an approved document names, with the beginning of the hash of each.
	Named map[string]string `json:"named,omitempty"`
	// Parts are the hashes of the parts of the session changed by the step.
	Parts map[string]string `json:"parts,omitempty"`
	// Found describes the changes by other hands before this entry.
	Found string `json:"found,omitempty"`
	// Keys are other people's keys, which count for the session by the word of the person who takes
	// this step.
	Keys []Member `json:"keys,omitempty"`
	// Prev is the hash of the previous entry, and Signature the signature over the whole entry by the machine that
	// took the step; see [Session.Signing].
	Prev      string `json:"prev,omitempty"`
	Signature string `json:"signature,omitempty"`
	Extra     Extra  `json:",unknown"`
}

// Untouched is the reason why a pass waits for the person although a report speaks for it: nothing may have been built.
type Untouched string

// The reasons.
const (
	// NothingChanged: the project is as it was before the work began.
	NothingChanged Untouched = "nothing_changed"
	// ChangeUnknown: the project cannot be compared.
	ChangeUnknown Untouched = "unknown"
)

// UntouchedAt returns the reason for which the newest submission of a stage waited, "" if there is none.
func UntouchedAt(history []Transition, stage StageID) Untouched {
	for _, e := range slices.Backward(history) {
		if e.FromStage() == stage && e.bringsDocument() && e.Event != EventEdited {
			return e.Untouched
		}
	}
	return ""
}

// FromStage returns the stage of From; "" for the start.
func (t Transition) FromStage() StageID { return stageOf(t.From) }

// ToStage returns the stage of To.
func (t Transition) ToStage() StageID { return stageOf(t.To) }

// Actor names who took the step, and with which program.
func (t Transition) Actor() string {
	if who := t.Who(); who != "" {
		return who + ", " + t.By
	}
	return t.By
}

func stageOf(place string) StageID {
	stage, _, _ := strings.Cut(place, "/")
	return StageID(stage)
}

// bringsDocument reports whether an entry hands in a document, report or edit.
func (t Transition) bringsDocument() bool {
	switch t.Event {
	case EventQuestioned, EventScoredBelow, EventScoredReady, EventPlanned, EventScoped, EventDelivered, EventFailed, EventDoubted,
		EventReturned, EventBlocked, EventExhausted, EventEdited:
		return true
	}
	return t.Event == EventFinished && !stateOf(t.From).Gated()
}

func stateOf(place string) State {
	_, state, _ := strings.Cut(place, "/")
	return State(state)
}

// hash returns the hash of an entry with the signature, over the canonical JSON, so that a program that does not
// know a key computes the same.
func (t Transition) hash() string { return Hash(canonicalJSON(t)) }

func entryHashes(history []Transition) []string {
	out := make([]string, len(history))
	for i, e := range history {
		out[i] = e.hash()
	}
	return out
}

// combineHashes returns the hash of entries, by their own hashes.
func combineHashes(hashes []string) string { return Hash([]byte(strings.Join(hashes, "\n") + "\n")) }

// Adoption records that a person has accepted a session which was changed outside this program.
type Adoption struct {
	// Problem describes the change, and From is the first entry concerned, from 1; 0 if only texts are.
	Problem string `json:"problem"`
	From    int    `json:"from"`
	// Revision is the session's revision afterwards: records of earlier ones no longer count.
	Revision int `json:"revision"`
	// Past is a hash of all earlier entries: they are accepted as they are, and must not change
	// again.
	Past string `json:"past"`
	// Texts are the approved texts accepted as they are.
	Texts []Alteration `json:"texts,omitempty"`
	// Elsewhere is true if the earlier entries were made in another folder or project: nobody decided them here.
	Elsewhere bool  `json:"elsewhere,omitempty"`
	Extra     Extra `json:",unknown"`
}

// Alteration is a change of an approved text that no person has accepted.
type Alteration struct {
	Stage StageID `json:"stage"`
	// Path is the path of the text, relative to the project.
	Path    string `json:"path"`
	Missing bool   `json:"missing,omitempty"`
	// SHA256 is the hash of the text as it is now; "" if it is missing or cannot be read.
	SHA256 string `json:"sha256,omitempty"`
	// Record is true for the record of a submission, false for a saved artifact.
	Record bool  `json:"record,omitempty"`
	Extra  Extra `json:",unknown"`
}

// Text says how the approved text has changed.
func (a Alteration) Text() lang.Text {
	switch {
	case a.Missing:
		return lang.T("%s is gone since it was approved", a.Path)
	case a.SHA256 == "":
		return lang.T("%s cannot be read since it was approved", a.Path)
	}
	return lang.T("%s was edited after it was approved", a.Path)
}

// AlterationsText says how approved texts have changed.
func AlterationsText(list []Alteration) lang.Text {
	parts := make([]lang.Text, len(list))
	for i, a := range list {
		parts[i] = a.Text()
	}
	return lang.Join(parts, "; ")
}

// Span is a range of entries, both ends included.
type Span struct {
	From  int   `json:"from"`
	To    int   `json:"to"`
	Extra Extra `json:",unknown"`
}

// mergeSpans sorts spans and merges adjacent ones.
func mergeSpans(list []Span) []Span {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Span) int { return a.From - b.From })
	var out []Span
	for _, span := range list {
		if n := len(out); n > 0 && span.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, span.To)
			continue
		}
		out = append(out, span)
	}
	return out
}

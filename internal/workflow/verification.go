package workflow

import (
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Verification is the result of checking a session.
type Verification struct {
	// Status is ChainHolds, ChainPartly, ChainChanged or ChainAdopted.
	Status  ChainStatus `json:"status"`
	Entries int         `json:"entries"`
	// Unvouched are the entries that do not count.
	Unvouched []Span `json:"unvouched,omitempty"`
	// Broken is the first entry that was changed, or that does not count although the session rests on it, and
	// BrokenAt the time of the entry.
	Broken   int        `json:"broken,omitempty"`
	BrokenAt *time.Time `json:"broken_at,omitempty"`
	// Problem describes the result for people.
	Problem string `json:"problem,omitempty"`
	// Adopted is the entry by which a person has accepted the changes before it.
	Adopted *Adopted `json:"adopted,omitempty"`
	// Members are the people whose entries count by the word of this machine's person, or of the list of signers.
	Members []Member `json:"members,omitempty"`
	// Strangers are the fingerprints of the keys that signed entries and belong to nobody known
	// here.
	Strangers []string `json:"strangers,omitempty"`
	// Displaced is true if the history shows no change, but is of another project, or a copy.
	Displaced bool `json:"displaced,omitempty"`
	// MovedFrom is the folder in which this machine recorded the session, if the project was moved
	// since, and the session was not changed here yet.
	MovedFrom string `json:"moved_from,omitempty"`

	// Kept are the rules that the run keeps: the strictest since somebody whose word counts has accepted other
	// rules.
	Kept map[StageID]Policy `json:"-"`

	// Loose names the first step of this machine that passed a gate with less than the rules ask
	// for now.
	Loose lang.Text `json:"-"`

	// Altered are the approved texts changed since their approval. The history may hold all the
	// same.
	Altered []Alteration `json:"altered,omitempty"`

	problem lang.Text
	// Unsigned is true if the session rests on unsigned entries.
	Unsigned bool `json:"-"`
	// incomparable is true if only a program that covers other keys could compare the session with the newest
	// entry.
	incomparable bool
}

// In returns the result with the problem in a language.
func (v Verification) In(l lang.Language) Verification {
	if !v.problem.Empty() {
		v.Problem = v.problem.In(l)
	}
	return v
}

// Reason returns the problem as a sentence for every language.
func (v Verification) Reason() lang.Text {
	if v.problem.Empty() {
		return lang.T("%s", v.Problem)
	}
	return v.problem
}

// ChainStatus is the degree to which a history can be trusted to be unchanged.
type ChainStatus string

// The statuses of a chain.
const (
	ChainHolds ChainStatus = "holds"
	// ChainPartly: no change was detected, but the session rests on entries that do not count.
	ChainPartly  ChainStatus = "partly"
	ChainChanged ChainStatus = "changed"
	// ChainAdopted: a person has accepted what came before an entry, and everything since counts.
	ChainAdopted ChainStatus = "adopted"
)

// Unchecked is the result for an unchecked session.
func Unchecked() Verification {
	return Verification{Status: ChainPartly, problem: lang.T("it was not checked, because there are too many")}.In(lang.English)
}

// Unreadable is the result for an unreadable stored session, and why.
func Unreadable(why lang.Text) Verification {
	return Verification{Status: ChainChanged, Broken: 1, problem: why}.In(lang.English)
}

// Changed reports whether the session was changed by anyone else, and nobody has accepted the
// change.
func (v Verification) Changed() bool { return v.Status == ChainChanged }

// Sound reports whether every entry that the session rests on counts. An unchecked session counts
// as sound.
func (v Verification) Sound() bool {
	return v.Status == ChainHolds || v.Status == ChainAdopted || v.Status == ""
}

// Vouches reports whether an entry counts, from 1.
func (v Verification) Vouches(entry int) bool {
	return !slices.ContainsFunc(v.Unvouched, func(span Span) bool { return span.From <= entry && entry <= span.To })
}

// Adopted is an adoption as a check of the history reports it.
type Adopted struct {
	Entry   int       `json:"entry"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Problem string    `json:"problem"`

	revision int
	own      bool // by this machine
}

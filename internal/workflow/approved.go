package workflow

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// ApprovedText is a text that a gate has let through: a saved artifact, or the record of the
// submission that it was saved from.
type ApprovedText struct {
	Stage StageID
	ContentRef
	// Artifact is true for the saved artifact.
	Artifact bool
}

// Approved returns the texts that count as approved, in order of stages. Those of a stage that was
// reopened, or that is out of date, do not.
func (s *Session) Approved() []ApprovedText {
	var out []ApprovedText
	for _, st := range s.Definition().Stages {
		rec := s.Record(st.ID)
		if rec.Status != Pending && rec.ApprovedScope != nil {
			out = append(out, ApprovedText{Stage: st.ID, ContentRef: *rec.ApprovedScope})
		}
		a := rec.Artifact
		if rec.Status != Done || a == nil || a.Stale {
			continue
		}
		out = append(out, ApprovedText{Stage: st.ID, ContentRef: ContentRef{FilePath: a.Path, Size: a.Size, SHA256: a.SHA256}, Artifact: true})
		if rec.FinalResultRef != nil {
			out = append(out, ApprovedText{Stage: st.ID, ContentRef: *rec.FinalResultRef})
		}
	}
	return out
}

// FoundText is an approved text as it is now.
type FoundText struct {
	// Missing is true if there is none, Modified if it is another text: line ends do not count.
	Missing, Modified bool
	// SHA256 is the hash of the file as it is; "" if it cannot be read.
	SHA256 string
}

// Alteration is an approved text that is not as it was approved, which no person has accepted.
type Alteration struct {
	Stage StageID `json:"stage"`
	// Path is that of the text, relative to the project.
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

// Altered returns the approved texts that are not as they were approved. found gives each as it is
// now; v is the result of checking the session: an adoption that its key does not vouch for does
// not count.
func (s *Session) Altered(v Verification, found func(ApprovedText) FoundText) []Alteration {
	var out []Alteration
	for _, text := range s.Approved() {
		if text.SHA256 == "" { // of an older server
			continue
		}
		now := found(text)
		a := Alteration{Stage: text.Stage, Path: text.FilePath, Missing: now.Missing, SHA256: now.SHA256, Record: !text.Artifact}
		altered := now.Missing || now.Modified
		listed := slices.ContainsFunc(out, func(b Alteration) bool { return b.Path == a.Path })
		if altered && !listed && !s.Accepted(a, v) {
			out = append(out, a)
		}
	}
	return out
}

// Accepted reports whether a person has adopted an approved text as it is now, since the stage was
// last worked on, in an entry that the key vouches for.
func (s *Session) Accepted(a Alteration, v Verification) bool {
	for i, e := range slices.Backward(s.History) {
		if e.From != e.To && e.FromStage() == a.Stage {
			return false
		}
		if e.Adoption == nil || !v.Vouches(i+1) {
			continue
		}
		for _, b := range e.Adoption.Texts {
			if b.Path == a.Path {
				return b.Missing == a.Missing && b.SHA256 == a.SHA256
			}
		}
	}
	return false
}

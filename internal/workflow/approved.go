package workflow

import (
	"slices"
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

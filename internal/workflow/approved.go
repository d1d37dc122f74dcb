package workflow

import (
	"slices"
)

// ApprovedText is a text that has passed a gate: a saved artifact, or the record of the submission
// behind the artifact.
type ApprovedText struct {
	Stage StageID
	ContentRef
	// Artifact is true for the saved artifact.
	Artifact bool
}

// Approval returns the newest step with which a document of a stage went on, and the number from 1: a yes, or a pass by
// the rules alone, which has no Grant. It is 0 if v vouches for none. The reports of a build are not approved, only the
// scope before it.
func (s *Session) Approval(stage StageID, v Verification) (entry int, t Transition) {
	st, _ := s.Definition().Stage(stage)
	for i, e := range slices.Backward(s.History) {
		if e.FromStage() == stage && e.GoesOn(st.Kind) && v.Vouches(i+1) {
			return i + 1, e
		}
	}
	return 0, Transition{}
}

// GoesOn reports whether a document of a stage of the kind went on with an entry.
func (t Transition) GoesOn(kind Kind) bool {
	switch t.Event {
	case EventScopeApproved:
		return true
	case EventConfirmed, EventApproved, EventDelivered, EventFinished:
		return kind != KindBuild
	}
	return false
}

// InForce returns the stages at which code that differs from the approved documents matters: the current one, and the ones
// before it with no build since, which changes the code.
func (s *Session) InForce() (out []StageID) {
	if !s.CurrentState.Active() {
		return nil
	}
	w := s.Definition()
	for i := w.Index(s.CurrentStage); i >= 0; i-- {
		st := w.Stages[i]
		if st.Kind == KindBuild && !w.Scoping(s) {
			break
		}
		out = append(out, st.ID)
	}
	slices.Reverse(out)
	return out
}

// Approved returns the approved texts, in order of stages, without the texts of reopened or
// outdated stages.
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

// Altered returns the approved texts changed since their approval. find returns the hash of a text
// as it is now, "" if it cannot be read, and whether it is another text, or missing; line ends do
// not count. v is the result of checking the session: an adoption counts only if v vouches for it.
func (s *Session) Altered(v Verification, find func(ApprovedText) (sha256 string, modified, missing bool)) []Alteration {
	var out []Alteration
	for _, text := range s.Approved() {
		if text.SHA256 == "" { // of an older server
			continue
		}
		sum, modified, missing := find(text)
		a := Alteration{Stage: text.Stage, Path: text.FilePath, Missing: missing, SHA256: sum, Record: !text.Artifact}
		listed := slices.ContainsFunc(out, func(b Alteration) bool { return b.Path == a.Path })
		changed := modified || missing
		if changed && !listed && !s.Accepted(a, v) {
			out = append(out, a)
		}
	}
	return out
}

// Accepted reports whether a person has adopted an approved text as it is now, after the last work
// on the stage, in an entry that v vouches for.
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

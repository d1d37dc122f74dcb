package standing

import (
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Document refers to a text in the project; the host reads the file.
type Document struct {
	Stage   workflow.StageID `json:"stage,omitempty"`
	Path    string           `json:"path"`
	Summary string           `json:"summary,omitempty"`
	Size    int64            `json:"size,omitempty"`
	SHA256  string           `json:"sha256,omitempty"`
	// Stale is true when an earlier stage was reopened since.
	Stale bool `json:"stale,omitempty"`
	// Modified is true when people have edited the artifact since it was saved.
	Modified bool `json:"modified,omitempty"`
}

// Waiting refers to the current stage's document; nil if there is none.
func (s *Standing) Waiting() *Document {
	if doc := s.Document(s.Stage); doc != nil {
		return doc
	}
	if text := s.Session.Current().InlineDraft(); text != "" { // of an older server
		return &Document{Stage: s.Session.CurrentStage, Path: s.SessionFile, Size: int64(len(text))}
	}
	return nil
}

// Document refers to a stage's saved artifact, or to the submission if it is newer or the only one.
func (s *Standing) Document(st workflow.Stage) *Document {
	rec := s.Session.Record(st.ID)
	var doc *Document
	if ref := rec.FinalResultRef; ref != nil {
		doc = &Document{Stage: st.ID, Path: ref.FilePath, Summary: ref.Summary, Size: ref.Size, SHA256: ref.SHA256}
	}
	working := doc != nil && st.ID == s.Session.CurrentStage && s.Session.CurrentState.Active()
	if working {
		doc.Path, doc.Modified, doc.Size = s.Draft.Path, s.Draft.Edited, s.Draft.Size
	}
	a := rec.Artifact
	if a == nil {
		return doc
	}
	if doc != nil { // until there is a new submission, it is of before the reopen
		doc.Stale = a.Stale && s.Session.CurrentState == workflow.Generating
	}
	saved := s.Saved[a.Path]
	// Until the next round has a submission, it starts from the artifact as edited by people, and not from the
	// submission before.
	edited := working && doc.Modified
	started := saved.Modified && !edited && !s.SubmittedSince(st.ID)
	unsaved := rec.Status != workflow.Done && !started && doc != nil
	if saved.Missing || unsaved {
		return doc
	}
	if doc == nil {
		doc = &Document{Stage: st.ID}
	}
	doc.Path, doc.Size, doc.SHA256, doc.Stale, doc.Modified = a.Path, saved.Size, a.SHA256, a.Stale, saved.Modified
	return doc
}

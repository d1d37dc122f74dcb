package documents

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Gather compares all documents of a session with their files.
func (d *Disk) Gather(ctx context.Context, s *standing.Standing) {
	d.GatherSaved(ctx, s)
	d.GatherDraft(ctx, s)
	s.Draft.Changes = d.compareRounds(ctx, s)
	d.GatherCriteria(ctx, s)
	s.Since = slices.DeleteFunc(d.Since(ctx, s), func(c standing.Since) bool { return !c.IsNews() })
	if s.Session.CurrentState.Gated() && s.Workflow.Scoping(s.Session) {
		for line := range strings.Lines(s.Draft.Text) {
			if line = strings.TrimSpace(line); line != "" {
				s.Draft.Lines = append(s.Draft.Lines, line)
			}
		}
	}
}

// GatherSaved compares the saved artifacts, and the approved texts, with their files.
func (d *Disk) GatherSaved(ctx context.Context, s *standing.Standing) {
	s.Altered = d.Altered(ctx, s.Session, s.Integrity)
	s.Saved = map[string]standing.File{}
	for _, st := range s.Workflow.Stages {
		a := s.Session.Record(st.ID).Artifact
		if a == nil {
			continue
		}
		f := d.readFile(a.Path, a.Size)
		file := f.state(a.SHA256)
		if file.Pending = d.isPending(s.Session, *a, f); file.Pending && d.project.IsShared() { // no file has the text
			file = standing.File{Pending: true, Size: a.Size}
		}
		s.Saved[a.Path] = file
	}
	for _, name := range s.Session.Artifacts {
		if _, known := s.Saved[name]; !known {
			s.Saved[name] = standing.File{Missing: !d.project.Dir.Exists(name)}
		}
	}
}

// Altered returns the approved texts of a session that were changed since; v is the result of the check.
func (d *Disk) Altered(ctx context.Context, s *workflow.Session, v workflow.Verification) []workflow.Alteration {
	return s.Altered(v, func(text workflow.ApprovedText) (sum string, modified, missing bool) {
		if text.Artifact {
			f := d.readFile(text.FilePath, text.Size)
			if d.isPending(s, *s.Record(text.Stage).Artifact, f) {
				st, _ := s.Definition().Stage(text.Stage)
				_, ok := d.readArtifact(ctx, s, st)
				return text.SHA256, !ok, false
			}
			return f.hash, f.state(text.SHA256).Modified, f.missing
		}
		if _, err := d.readText(ctx, text.ContentRef); err == nil {
			return text.SHA256, false, false
		}
		sum, err := d.hashStored(ctx, text.FilePath)
		return sum, true, errors.Is(err, fs.ErrNotExist)
	})
}

// isPending reports whether an artifact, with this file now, was never written in this folder: the next step does it.
func (d *Disk) isPending(s *workflow.Session, a workflow.Artifact, f file) bool {
	return a.Text != nil && lacksText(a, f) && d.neverWrote(s, a)
}

// lacksText reports whether the file of an artifact is missing, or has the text before it.
func lacksText(a workflow.Artifact, f file) bool {
	absent := f.missing && !f.there
	return absent || f.hash != "" && f.hash == a.Replaces && f.hash != a.SHA256
}

// GatherDraft finds the draft of the current stage. Without a working copy it is the record of the valid round.
func (d *Disk) GatherDraft(ctx context.Context, s *standing.Standing) {
	draft, rec := &s.Draft, s.Session.Current()
	draft.Edit, draft.Text = nil, ""
	if !s.Session.CurrentState.Active() {
		return
	}
	draft.SHA256 = d.draftHash(ctx, s)
	if rec.FinalResultRef == nil {
		if kept := d.readKept(ctx, rec); kept != "" {
			draft.Text = handedIn(s.Stage, kept)
		}
		return
	}
	ref, f := *rec.FinalResultRef, d.readWork(ctx, s)
	ref.SHA256 = draft.SHA256
	var err error
	draft.Text, err = d.readScored(ctx, draft.Work, ref)
	if !f.there {
		draft.Path, draft.Size = ref.FilePath, ref.Size
		if draft.Pending = d.project.IsShared(); draft.Pending {
			draft.Path = draft.Work
		}
		draft.Missing = errors.Is(err, fs.ErrNotExist)
		draft.Edited = err != nil && !draft.Missing
		return
	}
	state := f.state(draft.SHA256)
	draft.Missing, draft.Edited, draft.Size = state.Missing, state.Modified, state.Size
	gated := s.AtGate().Session.CurrentState.Gated() && !s.Blocked() && !rec.Spent()
	if draft.Edited && gated && f.err == nil && err == nil {
		d.gatherEdit(ctx, s, string(f.data))
	}
}

// gatherEdit compares the working copy at a gate with the scored document, which is the text of the draft.
func (d *Disk) gatherEdit(ctx context.Context, s *standing.Standing, work string) {
	scored, draft := s.Draft.Text, &s.Draft
	document := readEdit(s.Stage, scored, work)
	if draft.Edited = document != scored; !draft.Edited || document == "" {
		return
	}
	draft.Edit, draft.Text = &standing.Edit{Lines: standing.EditedLines(scored, document)}, document
	if s.Stage.Gate == workflow.GateVerdict {
		d.GatherCriteria(ctx, s)
		draft.Text = s.Revise(scored, document, d.CountLines(s, verdict.Read(document, s.Stage.Keys))).Document
	}
	draft.Edit.SHA256 = workflow.Hash([]byte(draft.Text))
}

// scoreAlone matches the text that may stand beside a document without making it an edited one.
var scoreAlone = pattern.New("^\\s*(?:```json\\s+\\{\"quality_score\":[ \\d.]+\\}\\s+```)?\\s*$")

// readEdit returns the document that a yes to a working copy accepts: the scored one if the copy adds only white
// space and a score to it. It is "" if people would read another text than they decide on: the copy has to contain
// the document as it is, and below it the statements of an edited one.
func readEdit(st workflow.Stage, scored, work string) string {
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(work, "\r\n", "\n"), "\ufeff")) + "\n"
	if text == scored || st.Gate == workflow.GateVerdict { // a report's round has the block, too
		return text
	}
	document := handedIn(st, work)
	before, after, _ := strings.Cut(text, strings.TrimSuffix(document, "\n")) // before is all of it if the document is not there
	below := before == "" && document != scored && intake.OnlyJSON(strings.TrimSpace(after))
	if !below && !scoreAlone.MatchString(before+after) {
		return ""
	}
	return document
}

// TakenBack returns the parts of the latest edit undone by a text: the edit found by the person's decision on the
// current stage's document.
func (d *Disk) TakenBack(ctx context.Context, s *standing.Standing, text string) []standing.EditedLine {
	rounds := Rounds(s.Session, s.Session.CurrentStage)
	for _, e := range slices.Backward(s.Session.History) {
		if e.Event != workflow.EventEdited || e.FromStage() != s.Session.CurrentStage {
			continue
		}
		i := slices.IndexFunc(rounds, func(r Round) bool { return r.Path == e.Path })
		if i < 1 {
			return nil
		}
		before, err := d.readText(ctx, rounds[i-1].contentRef())
		if err != nil {
			return nil
		}
		if edited, err := d.readText(ctx, rounds[i].contentRef()); err == nil {
			return standing.TakenBack(before, edited, text)
		}
		return nil
	}
	return nil
}

// draftHash returns the hash of the waiting document, as it was handed in. A session of an older server may have
// none; the hash is then the text's.
func (d *Disk) draftHash(ctx context.Context, s *standing.Standing) string {
	rec := s.Session.Current()
	if rec.FinalResultRef != nil && rec.FinalResultRef.SHA256 != "" {
		return rec.FinalResultRef.SHA256
	}
	for _, e := range slices.Backward(s.Session.History) {
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.Session.CurrentStage && e.SHA256 != "" {
			return e.SHA256
		}
	}
	text := d.readKept(ctx, rec)
	switch {
	case text == "":
		return ""
	case rec.FinalResultRef != nil:
		return workflow.Hash([]byte(text))
	}
	return workflow.Hash([]byte(handedIn(s.Stage, text)))
}

// compareRounds compares the document at a gate with the one of the round before; nil if there is none.
func (d *Disk) compareRounds(ctx context.Context, s *standing.Standing) *standing.Changes {
	ref := s.Session.Current().FinalResultRef
	if !s.Session.CurrentState.Gated() || s.Stage.Gate == workflow.GateVerdict || ref == nil {
		return nil
	}
	rounds := Rounds(s.Session, s.Session.CurrentStage)
	if len(rounds) < 2 {
		return nil
	}
	last := rounds[len(rounds)-2]
	before, err := d.readText(ctx, last.contentRef())
	if err != nil {
		return &standing.Changes{Round: last.Iteration, Unknown: true}
	}
	after, err := d.readScored(ctx, s.Draft.Work, rounds[len(rounds)-1].contentRef())
	if err != nil {
		return nil // reported as an unusable draft
	}
	out := standing.Compare(before, after)
	out.Round = last.Iteration
	if s.Stage.Kind == workflow.KindDocument {
		out.Criteria = verdict.CompareCriteria(before, after, s.Session.CriteriaReader == 0)
	}
	return &out
}

// readKept returns the text of a stage kept by an older server, if any.
func (d *Disk) readKept(ctx context.Context, rec *workflow.Record) string {
	for _, ref := range rec.Refs() {
		if body, err := d.readText(ctx, *ref); err == nil {
			return body
		}
	}
	return rec.InlineDraft()
}

// Adopt gives the current stage of a session of an older server a document by reference: an older server kept the
// text of an engine, or a draft in the session itself.
func (d *Disk) Adopt(ctx context.Context, tx store.Tx, s *standing.Standing) error {
	rec := s.Session.Current()
	if rec.FinalResultRef != nil {
		return nil
	}
	if h := s.Session.History; len(h) > 0 && h[0].Signature != "" { // an older program signs nothing
		return nil
	}
	document := intake.Read(s.Stage, d.readKept(ctx, rec)).Document
	if strings.TrimSpace(document) == "" {
		return nil
	}
	refs, err := tx.Put(ctx, []store.Text{{Stage: s.Session.CurrentStage, Kind: "final_result", Body: document + "\n", At: s.Session.UpdatedAt}})
	if err != nil {
		return err
	}
	rec.FinalResultRef = &refs[0]
	return nil
}

// AdoptSprints reads the sprints from the plan of a session without history, which an older
// server did not.
func (d *Disk) AdoptSprints(ctx context.Context, s *standing.Standing) {
	w := s.Workflow
	plan, planned := w.OfKind(workflow.KindPlan)
	if len(s.Session.History) > 0 || len(s.Session.Sprints) > 0 || !planned || w.Index(s.Session.CurrentStage) < w.Index(plan.ID) {
		return
	}
	s.Session.SetSprints(nil, intake.Read(plan, d.readKept(ctx, s.Session.Record(plan.ID))).Sprints)
}

// GatherCriteria reads the criteria of a session from the documents, if a report owes them or a decision is about
// them.
func (d *Disk) GatherCriteria(ctx context.Context, s *standing.Standing) {
	judges := s.Stage.Gate == workflow.GateVerdict
	needsCriteria := judges || s.Session.CurrentState.Gated()
	if !s.Session.CurrentState.Active() || !needsCriteria {
		return
	}
	s.Criteria = criteriaOf(d.gatherSources(ctx, s))
}

// gatherSources reads the documents that define criteria or assign them.
func (d *Disk) gatherSources(ctx context.Context, s *standing.Standing) verdict.Sources {
	judges := s.Stage.Gate == workflow.GateVerdict
	src := sourcesOf(s)
	for _, st := range s.Workflow.Stages {
		rec := s.Session.Record(st.ID)
		if rec.ApprovedScope != nil {
			text, same := d.readApproved(ctx, s, st.ID, *rec.ApprovedScope)
			src.Requirements, src.Stages, src.Changed = append(src.Requirements, text), append(src.Stages, st.ID), src.Changed || !same
		}
		if st.ID == s.Session.CurrentStage && judges {
			break
		}
		if rec.FinalResultRef == nil || rec.FinalResultRef == rec.ApprovedScope {
			continue
		}
		text, same := d.readApproved(ctx, s, st.ID, *rec.FinalResultRef)
		scoping := st.ID == s.Session.CurrentStage && s.Workflow.Scoping(s.Session)
		switch {
		case st.Kind == workflow.KindDocument || scoping:
			if st.ID == s.Session.CurrentStage {
				src.Current = len(src.Requirements)
			}
			src.Requirements, src.Stages, src.Changed = append(src.Requirements, text), append(src.Stages, st.ID), src.Changed || !same
		case st.Kind == workflow.KindPlan:
			src.Plan, src.PlanStage, src.Changed = text, st.ID, src.Changed || !same
		default:
			src.Others = append(src.Others, text)
		}
		if st.ID == s.Session.CurrentStage {
			break
		}
	}
	return src
}

// criteriaOf reads the criteria of documents.
func criteriaOf(src verdict.Sources) *verdict.Criteria {
	if src.Plan != "" { // may define criteria if no other document does
		src.Requirements, src.Stages = append(src.Requirements, src.Plan), append(src.Stages, src.PlanStage)
	}
	return verdict.ReadCriteria(src)
}

// KeepSprints keeps the sprints of the last approved plan with their criteria, if any of them was built, before the
// first round of a new one is recorded.
func (d *Disk) KeepSprints(ctx context.Context, s *standing.Standing) {
	if s.Replanning() {
		return
	}
	rec := s.Session.Current()
	rec.EarlierSprints = nil
	if len(s.Session.OpenSprints(workflow.SprintPending)) < len(s.Session.Sprints) {
		rec.EarlierSprints = standing.WithCriteria(s.Session.Sprints, criteriaOf(d.gatherSources(ctx, s)))
	}
}

// SetSprints replaces the sprints of a session by those of a new plan with this text.
func (d *Disk) SetSprints(ctx context.Context, s *standing.Standing, plan string, sprints []workflow.Sprint) {
	earlier := s.Session.Current().EarlierSprints
	if len(earlier) == 0 {
		s.Session.SetSprints(s.Session.Sprints, sprints)
		return
	}
	src := d.gatherSources(ctx, s)
	src.Plan = plan
	s.Session.SetSprints(earlier, standing.WithCriteria(sprints, criteriaOf(src)))
}

// sourcesOf returns the sources of criteria without their texts.
func sourcesOf(s *standing.Standing) verdict.Sources {
	// A report judges the sprints of the last build, and earlier built ones without a pass.
	src := verdict.Sources{Current: -1, Sprints: s.Session.Sprints, InScope: s.Session.OpenSprints(workflow.SprintImplemented), Former: s.Session.CriteriaReader == 0}
	if build, ok := s.Workflow.OfKind(workflow.KindBuild); ok {
		src.InScope = append(src.InScope, s.Session.Record(build.ID).Scope...)
	}
	if plan, ok := s.Workflow.OfKind(workflow.KindPlan); ok {
		src.Approved = s.Session.Record(plan.ID).Approved
	}
	return src
}

// readApproved returns the text of a round as it was handed in, from the artifact if the record was changed since;
// same is false if neither has this text. The text is then one adopted by a person, or empty.
func (d *Disk) readApproved(ctx context.Context, s *standing.Standing, stage workflow.StageID, ref workflow.ContentRef) (text string, same bool) {
	if text, err := d.readText(ctx, ref); err == nil {
		return text, true
	}
	for _, rec := range s.Session.Stages {
		if rec == nil || rec.Artifact == nil {
			continue
		}
		if f := d.readFile(rec.Artifact.Path, rec.Artifact.Size); f.hash == ref.SHA256 {
			return string(f.data), true
		}
	}
	sum, err := d.hashStored(ctx, ref.FilePath)
	if ref.SHA256 = sum; err == nil && s.Session.Accepted(workflow.Alteration{Stage: stage, Path: ref.FilePath, SHA256: sum}, s.Integrity) {
		text, _ = d.readText(ctx, ref)
	}
	return text, false
}

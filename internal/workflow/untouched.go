package workflow

import "slices"

// KeepsTree reports whether a step of the workflow records the project's files, to compare the later work with: the
// yes to a plan or, without one, the start. The stage is that of the step, the first one for a start.
func (w *Definition) KeepsTree(st Stage, isStart bool) bool {
	plan, planned := w.OfKind(KindPlan)
	_, builds := w.OfKind(KindBuild)
	if isStart {
		return builds && (!planned || plan.Gate != GateApproval)
	}
	return builds && st.Kind == KindPlan
}

// TreeBefore returns the project's files before the work, "" if they are not known. planned is true if they are those
// at the newest yes to a plan.
func TreeBefore(s *Session) (tree string, planned bool) {
	before, planned := stepBefore(s)
	return before.Tree, planned
}

// CodeBefore returns the commit checked out before the work, "" if it is not known, and the contents that it did not have.
func CodeBefore(s *Session) (commit string, dirty map[string]string) {
	before, _ := stepBefore(s)
	return before.Commit, before.Dirty
}

// stepBefore returns the step before the work: the newest yes to a plan, else the start.
func stepBefore(s *Session) (step Transition, planned bool) {
	w := s.Definition()
	for _, e := range slices.Backward(s.History) {
		if st, _ := w.Stage(e.FromStage()); st.Kind == KindPlan && e.Event == EventApproved {
			return e, true
		}
	}
	if len(s.History) > 0 {
		step = s.History[0]
	}
	return step, false
}

// AcceptsUntouched reports whether a person has said yes to a pass that waited for this reason.
func AcceptsUntouched(s *Session, u Untouched) bool {
	var waits Untouched
	for _, e := range s.History {
		if !isMove(e) {
			continue
		}
		if waits == u && e.Grant != nil && (e.Event == EventApproved || e.Event == EventFinished) {
			return true
		}
		waits = e.Untouched
	}
	return false
}

// AbsentFiles returns the files that the newest report of a build named although they did not exist, unless a person
// has let a gate pass since.
func AbsentFiles(s *Session) []string {
	w := s.Definition()
	for _, e := range slices.Backward(s.History) {
		st, _ := w.Stage(e.FromStage())
		switch {
		case st.Kind == KindBuild && e.Event == EventDelivered:
			return e.Absent
		case e.Grant != nil && e.Event == EventApproved:
			return nil
		}
	}
	return nil
}

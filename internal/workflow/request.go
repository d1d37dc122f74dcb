package workflow

import (
	"cmp"
	"fmt"
	"slices"
)

// OpenRequests returns the open change requests.
func (r *Record) OpenRequests() []ChangeRequest {
	return slices.DeleteFunc(slices.Clone(r.ChangeRequests), func(c ChangeRequest) bool { return !c.Open() })
}

// RoundRequests returns the change requests made on a round of a stage's document.
func (s *Session) RoundRequests(stage StageID, round int) []ChangeRequest {
	var out []ChangeRequest
	for _, st := range s.Definition().Stages {
		rec := s.Stages[st.ID]
		if rec == nil {
			continue
		}
		for _, c := range rec.ChangeRequests {
			if c.Round == round && cmp.Or(c.Stage, st.ID) == stage {
				out = append(out, c)
			}
		}
	}
	return out
}

// NumberComments returns the comments on a round, each with an id that no other comment of the
// session has.
func (s *Session) NumberComments(round int, comments []Comment) []Comment {
	used := map[string]bool{}
	for _, r := range s.Stages {
		if r == nil {
			continue
		}
		for _, c := range r.ChangeRequests {
			used[c.ID] = true
		}
	}
	for _, t := range s.History {
		if t.Grant == nil {
			continue
		}
		for _, c := range t.Grant.Comments {
			used[c.ID] = true
		}
	}
	out, free := slices.Clone(comments), []int{}
	for i := range out {
		if out[i].ID == "" || used[out[i].ID] {
			free = append(free, i)
			continue
		}
		used[out[i].ID] = true
	}
	n := 0
	for _, i := range free {
		for n++; used[fmt.Sprintf("r%dc%d", round, n)]; n++ {
		}
		out[i].ID = fmt.Sprintf("r%dc%d", round, n)
	}
	return out
}

// AddRequests records the comments of a decision as open change requests of the stage that works
// next. made has their common fields.
func (r *Record) AddRequests(comments []Comment, made ChangeRequest) {
	for _, c := range comments {
		made.Comment, made.Status = c, RequestOpen
		r.ChangeRequests = append(r.ChangeRequests, made)
	}
}

// Unmentioned returns the ids of the open change requests that a submission does not mention, or
// declines without a reason.
func (r *Record) Unmentioned(resolved []Resolution) []string {
	var out []string
	for _, c := range r.OpenRequests() {
		mentioned := slices.ContainsFunc(resolved, func(d Resolution) bool {
			unexplained := d.Declined && d.How == ""
			return d.ID == c.ID && !unexplained
		})
		if !mentioned {
			out = append(out, c.ID)
		}
	}
	return out
}

// SettleRequests enters a submission's outcomes of open change requests.
func (r *Record) SettleRequests(resolved []Resolution, round int) {
	for i := range r.ChangeRequests {
		c := &r.ChangeRequests[i]
		at := slices.IndexFunc(resolved, func(d Resolution) bool { return d.ID == c.ID })
		if !c.Open() || at < 0 {
			continue
		}
		c.Status, c.SettledIn, c.Note = RequestTakenUp, round, resolved[at].How
		if resolved[at].Declined {
			c.Status = RequestDeclined
		}
	}
}

// DropRequests ends the open change requests of a stage when they no longer concern it.
func (r *Record) DropRequests(status RequestStatus) {
	for i := range r.ChangeRequests {
		if r.ChangeRequests[i].Open() {
			r.ChangeRequests[i].Status = status
		}
	}
}

// Handed returns the comments with which people let the session go on to the present stage: the
// comments of every yes that the gate counted.
func (s *Session) Handed() []Comment {
	for i, t := range slices.Backward(s.History) {
		switch {
		case t.ToStage() != s.CurrentStage, t.Event == EventSentBack, t.Event == EventReopened:
			return nil
		case t.Event != EventScopeApproved && t.FromStage() == s.CurrentStage:
		case t.Grant == nil:
			return nil
		default:
			var out []Comment
			for _, g := range GivenAt(s.History[:i], t.Grant.SHA256, t.Grant.Person) {
				out = append(out, g.Comments...)
			}
			return append(out, t.Grant.Comments...)
		}
	}
	return nil
}

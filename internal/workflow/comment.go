package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Comment is a person's remark on lines of a draft, sent together with their decision.
type Comment struct {
	ID string `json:"id"`
	// From and To are lines of the draft, counted from 1; both are 0 for the whole document.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Quote is the text of these lines, or its beginning, as the person saw it.
	Quote string      `json:"quote,omitempty"`
	Kind  CommentKind `json:"kind"`
	Text  string      `json:"text,omitempty"`
	// Replace is the text that the person would write instead of the quoted one.
	Replace string `json:"replace,omitempty"`
	Extra   Extra  `json:",unknown"`
}

// Lines names the lines of a comment, for example "12" or "12-15"; "" for the whole document.
func (c Comment) Lines() string {
	switch {
	case c.From == 0:
		return ""
	case c.To <= c.From:
		return strconv.Itoa(c.From)
	}
	return strconv.Itoa(c.From) + "-" + strconv.Itoa(c.To)
}

// CommentKind is the kind of a comment's request.
type CommentKind string

// The kinds of comments. An edit has the new text in Comment.Replace.
const (
	CommentChange   CommentKind = "change"
	CommentQuestion CommentKind = "question"
	CommentRemove   CommentKind = "remove"
	CommentEdit     CommentKind = "edit"
)

// CommentKinds lists the kinds.
func CommentKinds() []CommentKind {
	return []CommentKind{CommentChange, CommentQuestion, CommentRemove, CommentEdit}
}

// ChangeRequest is a comment that the next submission of a stage has to take up.
type ChangeRequest struct {
	Comment
	// Stage is the one whose document was commented on, if that is another than the one
	// that works next.
	Stage StageID `json:"stage,omitempty"`
	// Round is the submission that was commented on, SHA256 the hash of its text.
	Round  int           `json:"round,omitempty"`
	SHA256 string        `json:"sha256,omitempty"`
	At     time.Time     `json:"at"`
	Status RequestStatus `json:"status"`
	// SettledIn is the submission that settled it, Note its author's words about it.
	SettledIn int    `json:"settled_in,omitempty"`
	Note      string `json:"note,omitempty"`
}

// RequestStatus is the outcome of a change request.
type RequestStatus string

// The statuses of change requests.
const (
	RequestOpen    RequestStatus = "open"
	RequestTakenUp RequestStatus = "taken_up"
	// RequestDeclined: the author gives a reason against it.
	RequestDeclined RequestStatus = "declined"
	// RequestUnmentioned: the person took the document although nothing was said about it.
	RequestUnmentioned RequestStatus = "not_mentioned"
	// RequestOutdated: the stage begins again from another text, because an earlier one was reopened.
	RequestOutdated RequestStatus = "outdated"
)

// Open reports whether the next submission still has to take the request up.
func (c ChangeRequest) Open() bool { return c.Status == RequestOpen }

// OpenRequests returns the change requests that wait for the next submission.
func (r *Record) OpenRequests() []ChangeRequest {
	return slices.DeleteFunc(slices.Clone(r.ChangeRequests), func(c ChangeRequest) bool { return !c.Open() })
}

// RoundRequests returns the change requests that were made on a round of a stage's document.
func (s *Session) RoundRequests(stage StageID, round int) []ChangeRequest {
	var out []ChangeRequest
	for _, st := range s.Definition().Stages {
		rec := s.Stages[st.ID]
		if rec == nil {
			continue
		}
		for _, c := range rec.ChangeRequests {
			if c.Round == round && (c.Stage == stage || c.Stage == "" && st.ID == stage) {
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
// next. made has the fields that they have in common.
func (r *Record) AddRequests(comments []Comment, made ChangeRequest) {
	for _, c := range comments {
		made.Comment, made.Status = c, RequestOpen
		r.ChangeRequests = append(r.ChangeRequests, made)
	}
}

// Unmentioned returns the ids of the open change requests that a submission says nothing about,
// or that it declines without a reason.
func (r *Record) Unmentioned(resolved []Resolution) []string {
	var out []string
	for _, c := range r.OpenRequests() {
		if !slices.ContainsFunc(resolved, func(d Resolution) bool { return d.ID == c.ID && (d.How != "" || !d.Declined) }) {
			out = append(out, c.ID)
		}
	}
	return out
}

// SettleRequests enters the outcomes of open change requests that a submission states.
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

// DropRequests ends the open change requests of a stage that they no longer concern.
func (r *Record) DropRequests(status RequestStatus) {
	for i := range r.ChangeRequests {
		if r.ChangeRequests[i].Open() {
			r.ChangeRequests[i].Status = status
		}
	}
}

// Handed returns the comments with which a person let the session go on to the stage that works
// now.
func (s *Session) Handed() []Comment {
	for _, t := range slices.Backward(s.History) {
		switch {
		case t.ToStage() != s.CurrentStage, t.Event == EventSentBack, t.Event == EventReopened:
			return nil
		case t.Event != EventScopeApproved && t.FromStage() == s.CurrentStage:
		case t.Grant == nil:
			return nil
		default:
			return t.Grant.Comments
		}
	}
	return nil
}

package workflow

import (
	"strconv"
	"time"
)

// Comment is a person's remark on lines of a draft, sent together with their decision.
type Comment struct {
	ID string `json:"id"`
	// File is the path of a file of the project, if the comment is on the code and not on the draft.
	File string `json:"file,omitempty"`
	// From and To are lines of the draft or the file, counted from 1; both are 0 for all of it.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Quote is the text of these lines, or the beginning of it, as the person saw it.
	Quote string      `json:"quote,omitempty"`
	Kind  CommentKind `json:"kind"`
	Text  string      `json:"text,omitempty"`
	// Replace is the person's text in place of the quoted one.
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

// Place names the lines of a comment with the file, for example "a.go:12-15".
func (c Comment) Place() string {
	if c.File == "" || c.From == 0 {
		return c.File + c.Lines()
	}
	return c.File + ":" + c.Lines()
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
	// Stage is the stage whose document was commented on, if another one works next.
	Stage StageID `json:"stage,omitempty"`
	// Round is the submission commented on, SHA256 the hash of the text.
	Round  int           `json:"round,omitempty"`
	SHA256 string        `json:"sha256,omitempty"`
	At     time.Time     `json:"at"`
	Status RequestStatus `json:"status"`
	// SettledIn is the submission that settled the request, Note the author's words about it.
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

package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Query selects the sessions of a list. The zero Query asks for all.
type Query struct {
	// Stage and States ask for sessions at this stage, and in one of these states.
	Stage  workflow.StageID
	States []workflow.State
	// Text asks for sessions whose task name or objective contains it, in any case.
	Text string
	// Limit is the length of a page; 0 sets none.
	Limit int
	// After is the Next of the page before; empty for the first one.
	After string
}

// Active asks for the sessions that a call can move on.
func Active() Query {
	states := slices.DeleteFunc(workflow.States(), func(s workflow.State) bool { return !s.Active() })
	return Query{States: states}
}

// Page is a part of a list, the sessions changed last first.
type Page struct {
	Sessions []workflow.Summary
	// Next asks for the page after this one; it is empty if this is the last.
	Next string
	// Total counts the sessions selected by the query on all pages, Active the active ones of them.
	Total, Active int
	// Broken are the unreadable stored sessions, whatever the query.
	Broken []Broken
}

// Lister is a backend able to find a page without all sessions.
type Lister interface {
	List(ctx context.Context, q Query) (Page, error)
}

// List returns the page for a query.
func List(ctx context.Context, in Sessions, q Query) (Page, error) {
	if own, ok := in.(Lister); ok {
		return own.List(ctx, q)
	}
	all, err := in.All(ctx)
	if err != nil {
		return Page{}, err
	}
	return all.Page(q)
}

// Listing is all sessions of a project at one moment. It is shared: nobody changes it.
type Listing struct {
	// Sessions are the readable ones, changed last first.
	Sessions []workflow.Summary
	// Broken are the unreadable stored sessions.
	Broken []Broken
	// Unread counts the sessions left out because nobody has read them yet.
	Unread int
	// active counts the active ones.
	active int
}

// NewListing sorts readable sessions, which it takes over, into a listing.
func NewListing(sessions []workflow.Summary, broken []Broken) Listing {
	slices.SortFunc(sessions, func(a, b workflow.Summary) int { return cursorOf(a).compare(cursorOf(b)) })
	all := Listing{Sessions: sessions, Broken: broken}
	for i := range sessions {
		if sessions[i].CurrentState.Active() {
			all.active++
		}
	}
	return all
}

// Page returns the page for a query.
func (l Listing) Page(q Query) (Page, error) {
	page := Page{Sessions: []workflow.Summary{}, Broken: l.Broken}
	after, err := parseCursor(q.After)
	if err != nil {
		return page, err
	}
	if n := len(l.Sessions); q.Limit > 0 && q.Limit < n && q.Stage == "" && q.States == nil && q.Text == "" && q.After == "" {
		page.Sessions, page.Total, page.Active = slices.Clone(l.Sessions[:q.Limit]), n, l.active
		page.Next = CursorAt(page.Sessions[q.Limit-1])
		return page, nil
	}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		if !q.Selects(s) {
			continue
		}
		page.Total++
		if s.CurrentState.Active() {
			page.Active++
		}
		switch {
		case q.After != "" && after.compare(cursorOf(*s)) >= 0:
		case q.Limit > 0 && len(page.Sessions) == q.Limit:
			page.Next = CursorAt(page.Sessions[q.Limit-1])
		default:
			page.Sessions = append(page.Sessions, *s)
		}
	}
	return page, nil
}

// Selects reports whether the query asks for a session.
func (q Query) Selects(s *workflow.Summary) bool {
	switch {
	case q.Stage != "" && s.CurrentStage != q.Stage:
		return false
	case q.States != nil && !slices.Contains(q.States, s.CurrentState):
		return false
	case q.Text == "":
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(s.TaskName), text) || strings.Contains(strings.ToLower(s.Objective), text)
}

// cursor is the place of a session in a list, by the time of the last change. The number of sessions before
// it would make pages repeat or lose sessions when others change.
type cursor struct {
	changed time.Time
	id      string
}

// CursorAt returns the cursor of the page after a session.
func CursorAt(s workflow.Summary) string { return cursorOf(s).String() }

// Cursor returns the time and the id after which the page begins, for a query with a cursor.
func (q Query) Cursor() (changed time.Time, id string, err error) {
	c, err := parseCursor(q.After)
	return c.changed, c.id, err
}

func cursorOf(s workflow.Summary) cursor { return cursor{s.UpdatedAt, s.SessionID} }

// compare puts the last changed sessions first.
func (c cursor) compare(other cursor) int {
	return cmp.Or(other.changed.Compare(c.changed), cmp.Compare(c.id, other.id))
}

func (c cursor) String() string { return c.changed.UTC().Format(time.RFC3339Nano) + "," + c.id }

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	at, id, ok := strings.Cut(text, ",")
	changed, err := time.Parse(time.RFC3339Nano, at)
	id, known := ParseID(id)
	if err != nil || !ok || !known {
		return cursor{}, fault.New(fault.InvalidArgument, "%q does not continue a list of sessions", text).
			WithHint("pass the cursor of the page before, or none for the first page")
	}
	return cursor{changed, id}, nil
}

// SortByAge sorts sessions by creation time, then id.
func SortByAge(sessions []workflow.Summary) {
	slices.SortFunc(sessions, CompareAge)
}

// CompareAge orders sessions as [SortByAge] does.
func CompareAge(a, b workflow.Summary) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.SessionID, b.SessionID))
}

package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Query selects the sessions of a list. The zero Query asks for all.
type Query struct {
	// Stage and States ask for sessions at this stage, and in one of these states.
	Stage  workflow.StageID
	States []workflow.State
	// Text asks for sessions whose task name or objective contains it, in any case.
	Text string
	// Limit is the length of a page; 0 for no limit.
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
	// Next asks for the page after this one; empty where there is none.
	Next string
	// Total counts the sessions that the query selects on all pages, Active those of them
	// that are active.
	Total, Active int
	// Broken are the stored sessions that cannot be read, whatever the query.
	Broken []Broken
}

// PageOf returns the page that a query asks for out of all readable sessions.
func (q Query) PageOf(all []workflow.Summary, broken []Broken) (Page, error) {
	page := Page{Sessions: []workflow.Summary{}, Broken: broken}
	after, err := parseCursor(q.After)
	if err != nil {
		return page, err
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b workflow.Summary) int { return cursorOf(a).compare(cursorOf(b)) })
	for _, s := range all {
		if !q.selects(s) {
			continue
		}
		page.Total++
		if s.CurrentState.Active() {
			page.Active++
		}
		switch {
		case after.compare(cursorOf(s)) >= 0 && q.After != "":
		case q.Limit > 0 && len(page.Sessions) == q.Limit:
			page.Next = cursorOf(page.Sessions[q.Limit-1]).String()
		default:
			page.Sessions = append(page.Sessions, s)
		}
	}
	return page, nil
}

func (q Query) selects(s workflow.Summary) bool {
	text := strings.ToLower(q.Text)
	return (q.Stage == "" || s.CurrentStage == q.Stage) &&
		(q.States == nil || slices.Contains(q.States, s.CurrentState)) &&
		(strings.Contains(strings.ToLower(s.TaskName), text) || strings.Contains(strings.ToLower(s.Objective), text))
}

// cursor is the place of a session in a list. It says when the session was changed and not
// how many come before it, so that a page neither repeats nor loses one when others change.
type cursor struct {
	changed time.Time
	id      string
}

func cursorOf(s workflow.Summary) cursor { return cursor{s.UpdatedAt, s.SessionID} }

// compare orders the sessions changed last first.
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
	if err != nil || !ok {
		return cursor{}, fault.New(fault.InvalidArgument, "%q does not continue a list of sessions", text).
			WithHint("pass the cursor of the page before, or none for the first page")
	}
	return cursor{changed, id}, nil
}

// SortByAge sorts sessions by creation time, then id.
func SortByAge(sessions []workflow.Summary) {
	slices.SortFunc(sessions, func(a, b workflow.Summary) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
}

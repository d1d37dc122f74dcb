package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// rows is the result of a list: the sessions as their bodies say, in the order of their columns.
type rows struct {
	sessions []workflow.Summary
	broken   []store.Broken
	// places are the cursors of the sessions by their columns.
	places []workflow.Summary
}

// summaries lists sessions; rest is what follows the condition on tenant and project, whose arguments are the
// first two. Who can write to the table can write any column, and only the body is signed: the columns select and sort,
// and the bodies say what is shown.
func (s *Store) summaries(ctx context.Context, project int64, rest string, args ...any) (out rows, err error) {
	err = s.db.ask(ctx, func(row pgx.Row) error {
		var id string
		var have columns
		var body pgtype.DriverBytes
		if err := row.Scan(&id, &have.name, &have.objective, &have.stage, &have.state, &have.active, &have.created, &have.updated, &have.revision, &body); err != nil {
			return err
		}
		sum, err := store.DecodeSummary(body, store.SessionPath(id))
		if err == nil {
			err = itself(sum.SessionID, id)
		}
		if err != nil {
			out.broken = append(out.broken, store.Broken{Path: store.SessionPath(id), Err: err})
			return nil
		}
		if wrong := have.differing(columnsOf(&sum)); len(wrong) > 0 {
			out.broken = append(out.broken, store.Broken{Path: store.SessionPath(id), Err: listedOtherwise(id, sum.TaskName, wrong), Listed: true})
		}
		out.sessions = append(out.sessions, sum)
		place := workflow.Summary{SessionID: id}
		place.UpdatedAt, _ = time.Parse(stamp, have.updated) // a column without a time was named above
		out.places = append(out.places, place)
		return nil
	}, `select session_id::text, task_name, objective, stage, state, active, created_at, updated_at, revision, body
		from session where tenant_id = $1 and project_id = $2 `+rest, append([]any{s.db.tenant, project}, args...)...)
	return out, err
}

// All lists all sessions.
func (s *Store) All(ctx context.Context) (store.Listing, error) {
	project, err := s.id(ctx, false)
	if err != nil {
		return store.Listing{}, err
	}
	all, err := s.summaries(ctx, project, ``)
	return store.NewListing(all.sessions, all.broken), err
}

// Latest lists the n sessions that were changed last.
func (s *Store) Latest(ctx context.Context, n int) (store.Listing, error) {
	page, err := s.List(ctx, store.Query{Limit: n})
	all := store.NewListing(page.Sessions, page.Broken)
	all.Unread = page.Total - len(page.Sessions)
	return all, err
}

// TaskNames returns the task names in use.
func (s *Store) TaskNames(ctx context.Context) (names []string, err error) {
	project, err := s.id(ctx, false)
	if err != nil {
		return nil, err
	}
	err = s.db.ask(ctx, func(row pgx.Row) error {
		names = append(names, "")
		return row.Scan(&names[len(names)-1])
	}, `select task_name from session where tenant_id = $1 and project_id = $2 order by task_name`, s.db.tenant, project)
	return names, err
}

// List returns the page that a query asks for, by an index. Only a text is looked for in all sessions: case beyond
// ASCII depends on the settings of a database.
func (s *Store) List(ctx context.Context, q store.Query) (store.Page, error) {
	page := store.Page{Sessions: []workflow.Summary{}}
	if q.Text != "" {
		all, err := s.All(ctx)
		if err != nil {
			return page, err
		}
		return all.Page(q)
	}
	changed, id, err := q.Cursor()
	if err != nil {
		return page, err
	}
	project, err := s.id(ctx, false)
	if err != nil {
		return page, err
	}
	var states []string // nil selects all
	if q.States != nil {
		states = []string{}
		for _, state := range q.States {
			states = append(states, string(state))
		}
	}
	const selected = ` and ($3 = '' or stage = $3) and ($4::text[] is null or state = any($4))`
	err = s.db.ask(ctx, func(row pgx.Row) error { return row.Scan(&page.Total, &page.Active) },
		`select count(*), count(*) filter (where active) from session where tenant_id = $1 and project_id = $2`+selected,
		s.db.tenant, project, string(q.Stage), states)
	if err != nil {
		return page, err
	}
	last, limit := "~", any(nil) // after every time
	if q.After != "" {
		last = formatTime(changed)
	}
	if q.Limit > 0 {
		limit = q.Limit + 1
	}
	found, err := s.summaries(ctx, project, selected+` and updated_at <= $5 and (updated_at < $5 or session_id > nullif($6, '')::uuid)
		order by updated_at desc, session.session_id limit $7`, string(q.Stage), states, last, id, limit)
	page.Sessions, page.Broken = append(page.Sessions, found.sessions...), found.broken
	if q.Limit > 0 && len(page.Sessions) > q.Limit {
		page.Sessions = page.Sessions[:q.Limit]
		page.Next = store.CursorAt(found.places[q.Limit-1])
	}
	return page, err
}

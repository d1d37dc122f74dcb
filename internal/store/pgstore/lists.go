package pgstore

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// rows is the result of a list: the sessions as their bodies say.
type rows struct {
	sessions []workflow.Summary
	broken   []store.Broken
	// versions are the versions of the rows with the sessions.
	versions []string
}

// listSummaries lists sessions; rest follows the condition on tenant and project, whose arguments are the first
// two. Anyone able to write to the table can write any column, and only the body is signed: the columns
// select and sort, and the bodies are shown. Bodies of known versions of rows are not sent again: each
// write of a row makes another version.
func (s *Store) listSummaries(ctx context.Context, project int64, known map[string]workflow.Summary, rest string, args ...any) (out rows, err error) {
	args = append(append([]any{s.db.tenant, project}, args...), slices.Collect(maps.Keys(known)))
	err = s.db.readRows(ctx, func() { out = rows{} }, func(row pgx.Row) error {
		var id, version string
		var have columns
		var body pgtype.DriverBytes
		err := row.Scan(&id, &version, &have.name, &have.objective, &have.stage, &have.state, &have.active, &have.created, &have.updated, &have.revision, &body)
		if err != nil {
			return err
		}
		sum := known[version]
		if body != nil {
			if sum, err = store.DecodeSummary(body, store.SessionPath(id)); err == nil {
				err = checkSessionID(sum.SessionID, id)
			}
		}
		if err != nil {
			out.broken = append(out.broken, store.Broken{Path: store.SessionPath(id), Err: err})
			return nil
		}
		if wrong := have.differencesTo(columnsOf(&sum)); len(wrong) > 0 {
			out.broken = append(out.broken, store.Broken{Path: store.SessionPath(id), Err: columnsError(id, sum.TaskName, wrong), Listed: true})
		}
		out.sessions, out.versions = append(out.sessions, sum), append(out.versions, version)
		return nil
	}, `with listed as (select *, session_id::text || ' ' || xmin::text as written from session where tenant_id = $1 and project_id = $2 `+rest+`)
		select session_id::text, written, `+readableColumn("task_name")+`, `+readableColumn("objective")+`, `+readableColumn("stage")+`, `+readableColumn("state")+`,
		active, `+readableColumn("created_at")+`, `+readableColumn("updated_at")+`, revision,
		case when written in (select unnest($`+strconv.Itoa(len(args))+`::text[])) then null else `+readBody+` end from listed`, args...)
	return out, err
}

// All lists all sessions.
func (s *Store) All(ctx context.Context) (store.Listing, error) {
	project, err := s.projectID(ctx, false)
	if err != nil {
		return store.Listing{}, err
	}
	s.db.mu.Lock()
	known := s.db.listed[project]
	s.db.mu.Unlock()
	all, err := s.listSummaries(ctx, project, known, ``)
	if err != nil {
		return store.Listing{}, err
	}
	now := make(map[string]workflow.Summary, len(all.sessions))
	for i, version := range all.versions {
		now[version] = all.sessions[i]
	}
	s.db.mu.Lock()
	s.db.listed[project] = now
	s.db.mu.Unlock()
	return store.NewListing(all.sessions, all.broken), nil
}

// Latest lists the n sessions changed last.
func (s *Store) Latest(ctx context.Context, n int) (store.Listing, error) {
	page, err := s.List(ctx, store.Query{Limit: n})
	all := store.NewListing(page.Sessions, page.Broken)
	all.Unread = page.Total - len(page.Sessions)
	return all, err
}

// TaskNames returns the task names in use.
func (s *Store) TaskNames(ctx context.Context) (names []string, err error) {
	project, err := s.projectID(ctx, false)
	if err != nil {
		return nil, err
	}
	err = s.db.readRows(ctx, func() { names = nil }, func(row pgx.Row) error {
		names = append(names, "")
		return row.Scan(&names[len(names)-1])
	}, `select task_name from session where tenant_id = $1 and project_id = $2 order by task_name`, s.db.tenant, project)
	return slices.DeleteFunc(names, func(name string) bool { return !artifact.IsName(name) }), err
}

// List returns the page for a query, by an index. A text is searched in all sessions: case beyond ASCII
// depends on the settings of a database. All sessions are read, too, once a row of the page contradicts the
// session: the author of the change can have hidden another.
func (s *Store) List(ctx context.Context, q store.Query) (store.Page, error) {
	page := store.Page{Sessions: []workflow.Summary{}}
	if q.Text != "" || q.Limit == 0 {
		return s.pageOfAll(ctx, q)
	}
	changed, id, err := q.Cursor()
	if err != nil {
		return page, err
	}
	project, err := s.projectID(ctx, false)
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
	err = s.db.runStatement(ctx, func(row pgx.Row) error { return row.Scan(&page.Total, &page.Active) },
		`select count(*), count(*) filter (where active) from session where tenant_id = $1 and project_id = $2`+selected,
		s.db.tenant, project, string(q.Stage), states)
	if err != nil {
		return page, err
	}
	last := "~" // after every time
	if q.After != "" {
		last = formatTime(changed)
	}
	found, err := s.listSummaries(ctx, project, nil, selected+` and updated_at <= $5 and (updated_at < $5 or session_id > nullif($6, '')::uuid)
		order by updated_at desc, session.session_id limit $7`, string(q.Stage), states, last, id, q.Limit+1)
	if err == nil && len(found.broken) > 0 {
		return s.pageOfAll(ctx, q)
	}
	page.Sessions = append(page.Sessions, found.sessions...)
	if len(page.Sessions) > q.Limit {
		page.Sessions = page.Sessions[:q.Limit]
		page.Next = store.CursorAt(page.Sessions[q.Limit-1])
	}
	return page, err
}

func (s *Store) pageOfAll(ctx context.Context, q store.Query) (store.Page, error) {
	all, err := s.All(ctx)
	if err != nil {
		return store.Page{}, err
	}
	return all.Page(q)
}

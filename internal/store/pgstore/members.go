package pgstore

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Members lists the public keys that were added. They count for everyone: the database knows who may
// add one.
func (s *Store) Members(ctx context.Context) (list []workflow.Member, sure bool, err error) {
	project, err := s.id(ctx, false)
	if err == nil {
		err = s.db.ask(ctx, func(row pgx.Row) error {
			var data []byte
			if err := row.Scan(&data); err != nil {
				return err
			}
			var m workflow.Member
			if json.Unmarshal(data, &m) == nil {
				list = append(list, m)
			}
			return nil
		}, `select body from member where tenant_id = $1 and project_id = $2 order by key`, s.db.tenant, project)
	}
	return list, true, s.db.trouble(err)
}

// AddMember adds a key, unless it is there.
func (s *Store) AddMember(ctx context.Context, m workflow.Member) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	project, err := s.id(ctx, true)
	if err == nil {
		err = s.db.ask(ctx, func(pgx.Row) error { return nil },
			`insert into member (tenant_id, project_id, key, body) values ($1, $2, $3, $4) on conflict do nothing`, s.db.tenant, project, m.Key, data)
	}
	return s.db.trouble(err)
}

package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// gathering is the time for which notices are collected: a notice in a transaction would keep others from
	// their commits.
	gathering = 20 * time.Millisecond
	// pollEvery bounds the time for which a change is missed if no notice of it came.
	pollEvery = 30 * time.Second
	// maxRest bounds the pause between attempts to connect.
	maxRest = 30 * time.Second
)

// channel is the channel of the notices. A notice has the tenant and the id of the project.
const channel = "bmad"

// noticeOf returns the text of the notice of a project.
func (d *Database) noticeOf(project int64) string { return fmt.Sprintf("%d/%d", d.tenant, project) }

// sendNoticeSoon sends a notice soon that sessions of a project have changed.
func (d *Database) sendNoticeSoon(project int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting := len(d.untold) > 0
	if d.untold[project] = true; waiting {
		return // it goes with the others
	}
	d.telling.Go(func() {
		time.Sleep(gathering)
		d.mu.Lock()
		projects := d.untold
		d.untold = map[int64]bool{}
		d.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		for project := range projects {
			// A notice is a hint: Watch looks by itself too. So it does not wait for the disk.
			_ = d.runStatement(ctx, func(pgx.Row) error { return nil }, `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`, channel, d.noticeOf(project))
		}
	})
}

// Watch calls changed when sessions of the projects in use may have changed, no matter who changed them,
// until the context ends. It has a separate connection. After a loss it tries to get a new one, and calls
// changed when it has it.
func (d *Database) Watch(ctx context.Context, changed func()) {
	for rest := time.Second; ctx.Err() == nil; rest = min(2*rest, maxRest) {
		if d.listen(ctx, changed) {
			rest = time.Second
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
}

// listen is Watch over one connection; it reports whether a connection was made.
func (d *Database) listen(ctx context.Context, changed func()) bool {
	conn, err := pgx.ConnectConfig(ctx, d.config.ConnConfig.Copy())
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `listen `+channel); err != nil {
		return false
	}
	seen := ""
	for {
		changed()
		for {
			wait, cancel := context.WithTimeout(ctx, pollEvery)
			n, err := conn.WaitForNotification(wait)
			cancel()
			if err == nil && d.isUsed(n.Payload) {
				break
			}
			if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
				return true
			}
			if err != nil {
				now, err := d.fingerprint(ctx, conn)
				if err != nil {
					return true
				}
				if seen, now = now, seen; now != "" && now != seen {
					break
				}
			}
		}
	}
}

// isUsed reports whether a notice is about a project in use.
func (d *Database) isUsed(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, project := range d.projects {
		if d.noticeOf(project) == text {
			return true
		}
	}
	return false
}

// fingerprint returns a text that differs after every change of a project in use.
func (d *Database) fingerprint(ctx context.Context, conn *pgx.Conn) (string, error) {
	d.mu.Lock()
	var projects []int64
	for _, project := range d.projects {
		projects = append(projects, project)
	}
	d.mu.Unlock()
	var out strings.Builder
	err := d.runStatementOn(ctx, conn, func(row pgx.Row) error {
		var sessions, changes int64
		err := row.Scan(&sessions, &changes)
		fmt.Fprintln(&out, sessions, changes)
		return err
	}, `select count(*), coalesce(sum(revision), 0) from session where tenant_id = $1 and project_id = any($2)`, d.tenant, projects)
	return out.String(), err
}

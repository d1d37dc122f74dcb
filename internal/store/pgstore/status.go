package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Status describes a database.
type Status struct {
	// Address has no password, Server is the version.
	Address string `json:"address"`
	Server  string `json:"server"`
	// Schema is the version of the tables, 0 if there are none; Newest is the version made by Migrate.
	Schema int64 `json:"schema"`
	Newest int64 `json:"newest_schema"`
	// Settings are the settings behind the promise that nothing is lost. Standbys are the synchronous ones;
	// nil if this account may not see them.
	Settings map[string]string `json:"settings"`
	Standbys *int              `json:"synchronous_standbys"`
	// Bypasses is true if row-level security does not count for this account.
	Bypasses bool `json:"bypasses_row_security"`
}

// Warnings describe, in the words of PostgreSQL, the settings with which acknowledged changes can be lost.
func (s Status) Warnings() (out []string) {
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		if value := s.Settings[name]; value == "off" {
			out = append(out, name+" = "+value)
		}
	}
	if s.Settings["synchronous_commit"] == "local" && s.Settings["synchronous_standby_names"] != "" {
		out = append(out, "synchronous_commit = local")
	}
	return out
}

// Status asks the database how it is. It says so too if the schema does not fit.
func (d *Database) Status(ctx context.Context) (Status, error) {
	s := Status{Address: d.String(), Newest: newestSchema, Settings: map[string]string{}}
	conn, err := pgx.ConnectConfig(ctx, d.config.ConnConfig.Copy())
	if err != nil {
		return s, d.explainError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if s.Schema, err = schemaOf(ctx, conn); err == nil {
		var names, values []string
		err = conn.QueryRow(ctx, `select current_setting('server_version'), array_agg(name), array_agg(setting),
			(select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum') having pg_has_role('pg_read_all_stats', 'usage')),
			(select rolsuper or rolbypassrls from pg_roles where rolname = current_user)
			from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`).
			Scan(&s.Server, &names, &values, &s.Standbys, &s.Bypasses)
		for i, name := range names {
			s.Settings[name] = values[i]
		}
	}
	if err == nil {
		err = checkSchema(s.Schema, newestSchema)
	}
	return s, d.explainError(err)
}

// Line is the status in one line.
func (s Status) Line() string {
	settings := make([]string, 0, len(s.Settings))
	for name, value := range s.Settings {
		settings = append(settings, name+"="+value)
	}
	slices.Sort(settings)
	standbys := "not visible to this account"
	if s.Standbys != nil {
		standbys = strconv.Itoa(*s.Standbys)
	}
	return fmt.Sprint(s.Address, ", PostgreSQL ", s.Server, ", schema ", s.Schema, ", ", settings, ", synchronous standbys: ", standbys)
}

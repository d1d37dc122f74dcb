package setup

import (
	"context"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/dashboard"
	"github.com/bmad-mcp/bmad-mcp/internal/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Health gathers the program's own state for the dashboard, as doctor and projects do at a
// terminal. It repairs nothing.
func Health(base *app.App) dashboard.HealthFunc {
	return func(ctx context.Context, l lang.Language, folder string, whole bool) (dashboard.Health, error) {
		a := base.For(folder, l)
		out := dashboard.Health{UserFile: filepath.Join(a.Settings.UserFolder, filepath.FromSlash(config.UserFile))}
		rows, err := projectRows(a)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			out.Places = append(out.Places, dashboard.Place{Folder: row.Folder, From: row.From, Why: row.Why})
		}
		var checks []doctor.Check
		if whole && folder != "" {
			dir, err := durable.OpenDir(folder)
			if err != nil {
				return out, fault.From(err)
			}
			defer func() { _ = dir.Close() }()
			files := doctor.New(dir, a.Parts().Summaries.Store(dir))
			files.Language = l
			if checks, err = projectChecks(ctx, a, files, folder); err != nil {
				return out, err
			}
		}
		for _, c := range append(checks, append(doctorMachine(a, folder).Check(), checkFolders(a))...) {
			row := dashboard.Check{Name: c.Name, Status: string(c.Status), Detail: c.Detail, Remedy: c.Remedy}
			for _, item := range c.Items[:min(len(c.Items), shownItems)] {
				row.Items = append(row.Items, item.Path+": "+item.What)
			}
			if more := len(c.Items) - shownItems; more > 0 {
				row.Items = append(row.Items, l.Say("… and %d more", more))
			}
			out.Checks = append(out.Checks, row)
		}
		return out, nil
	}
}

package setup

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// Settings returns the command that shows the settings in force.
func Settings(term *terminal.Terminal, workspace *app.Workspace) *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "Show the settings in force, and where each comes from",
		Long: `Show the settings in force for this project: first those that are not the default.
Each has its origin, a file with the line or a variable, and the other values that are
set for it. At last come keys that are gone, and files and variables that are not read.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showSettings(term, workspace) },
	}
}

func showSettings(term *terminal.Terminal, workspace *app.Workspace) error {
	dir, err := openFolder(workspace)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	c, err := workspace.Settings.Load(dir)
	if err != nil {
		return err
	}
	var list, defaults []config.Setting
	for _, s := range c.Effective() {
		if s.Changed {
			list = append(list, s)
		} else {
			defaults = append(defaults, s)
		}
	}
	list = append(list, defaults...)
	notices := []string{}
	unmet, _ := c.Unmet()
	for _, n := range append(workspace.NoticesIn(dir, &c), unmet...) {
		notices = append(notices, n.Text().In(term.Lang))
	}
	elsewhere, _ := machineOf(term.Lang, dir.Path(), nil).Elsewhere()
	for _, d := range elsewhere {
		notices = append(notices, d.Path+": "+d.What)
	}
	if term.JSON {
		return term.PrintJSON(struct {
			Settings []config.Setting `json:"settings"`
			Notices  []string         `json:"notices"`
		}{list, notices})
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		others := make([]lang.Text, len(s.Overrides))
		for j, m := range s.Overrides {
			others[j] = m.Text()
		}
		rows[i] = []string{s.Key, cmp.Or(s.Value, "–"), s.Origin.Place().In(term.Lang), lang.Join(others, ", ").In(term.Lang)}
	}
	if err := term.Columns(term.Header("SETTING\tVALUE\tFROM\tINSTEAD OF"), rows); err != nil {
		return err
	}
	for _, notice := range notices {
		term.Printf("! %s\n", notice)
	}
	return nil
}

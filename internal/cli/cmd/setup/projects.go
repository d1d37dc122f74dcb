package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// Projects returns the commands of the folders for assistants.
func Projects(term *terminal.Terminal, workspace *app.Workspace) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List, add or remove the folders in which assistants may work",
		Long: `An assistant works, through this server, in the folders that its host has open, in the
folder the server was started in, and in those listed here, with what lies below them:

  added      by you, with bmad-mcp projects add
  form       allowed by you in a form of a host
  settings   of the setting projects in your own file, or of BMAD_PROJECTS
  runs       projects in which runs were started

Asked to work elsewhere, the server asks you by a form, once for each folder, or refuses.
The home folder itself, what holds it, and folders with credentials (.ssh, .aws, .gnupg,
browser profiles …) are out of reach however they are named.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listProjects(term, workspace) },
	}
	add := &cobra.Command{
		Use: "add DIR", Short: "Let assistants work in a folder, and in those below it", Args: cobra.ExactArgs(1),
		Example: "  bmad-mcp projects add ~/src",
		RunE:    func(cmd *cobra.Command, args []string) error { return addProject(cmd.Context(), term, args[0], yes) },
	}
	add.Flags().BoolVar(&yes, "yes", false, "also a folder that is unusual for projects, without a question")
	cmd.AddCommand(
		add,
		terminal.Subcommand("remove DIR", "Take a folder off the list; its files stay", cobra.ExactArgs(1),
			func(ctx context.Context, args []string) error { return removeProject(ctx, term, workspace, args[0]) }),
	)
	return cmd
}

// projectRow is a folder in the JSON of `projects`.
type projectRow struct {
	Folder string `json:"folder"`
	// From names the record: added, form, settings or runs.
	From string `json:"from"`
	// Counts is false if the rules, or the disk, keep the folder out; Why is the reason.
	Counts bool   `json:"counts"`
	Why    string `json:"why,omitempty"`
	// Missing is true if the folder does not exist now.
	Missing bool `json:"missing,omitempty"`
	// Runs counts the runs on record in a missing folder.
	Runs int `json:"runs,omitempty"`
}

// projectRows returns the folders on record, each once for every record that has it.
func projectRows(l lang.Language, workspace *app.Workspace) ([]projectRow, error) {
	places, err := workspace.RecordedPlaces()
	rules := app.Rules()
	rows := []projectRow{}
	for _, p := range places {
		row := projectRow{Folder: p.Folder, From: p.From}
		real := rules.Real(p.Folder)
		switch info, statErr := os.Stat(p.Folder); {
		case !rules.Judge(p.Folder, p.By).Empty():
			row.Why = rules.Judge(p.Folder, p.By).In(l)
		case p.Real && real != filepath.Clean(p.Folder):
			row.Why = l.Say("it has become a link to %s", real)
		case !rules.Judge(real, p.By).Empty():
			row.Why = l.Say("it leads to %s: %s", real, rules.Judge(real, p.By))
		case statErr != nil:
			row.Why, row.Missing = l.Say("it is not there"), true
			signer, _ := app.Trust().ReadSigner() // without it there are no records
			if row.Runs = len(app.Trust().Checkpoints(signer, p.Folder)); row.Runs > 0 {
				row.Why = l.Say("it is not there, and with it %s that this machine has on record", lang.Count(row.Runs, "run"))
			}
		case !info.IsDir():
			row.Why = l.Say("it is not a folder")
		}
		row.Counts = row.Why == ""
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return rows, err
}

func listProjects(term *terminal.Terminal, workspace *app.Workspace) error {
	rows, err := projectRows(term.Lang, workspace)
	if err != nil {
		return err
	}
	if term.JSON {
		return term.PrintJSON(map[string]any{"projects": rows})
	}
	if len(rows) == 0 {
		term.Say("None. Assistants work in the folders that their hosts have open; bmad-mcp projects add DIR adds others.")
		return nil
	}
	for _, row := range rows {
		note := ""
		if !row.Counts {
			note = term.Lang.Say("  (does not count: %s)", row.Why)
		}
		term.Printf("%-9s %s%s\n", row.From, row.Folder, note)
	}
	return nil
}

// addProject records a folder. It refuses an impossible folder, and asks the person if it is unusual.
func addProject(ctx context.Context, term *terminal.Terminal, name string, yes bool) error {
	if variable := terminal.AssistantHere(); variable != "" {
		return fault.New(fault.GatePending, "this terminal is an assistant's (%s is set), and only the person decides where assistants may work", variable).
			WithHint("run it in a terminal of your own")
	}
	folder, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	rules := app.Rules()
	real := rules.Real(folder)
	for _, path := range []string{folder, real} {
		if why := rules.Judge(path, reach.Listed); !why.Empty() {
			return fault.New(fault.NotAllowed, "%q cannot be added: %s", path, why).
				WithHint("add the folder that holds your projects, such as %s, or a project", filepath.Join("~", "src"))
		}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fault.New(fault.InvalidArgument, "%q is not an existing folder", folder).WithHint("make it first, or correct the path")
	}
	if why := whyUnusual(rules, real); !why.Empty() && !yes {
		person, err := term.Person()
		if err != nil {
			return fault.New(fault.GatePending, "%q is unusual for projects: %s", real, why).
				WithHint("run it in a terminal of your own, where it asks you, or add --yes")
		}
		agreed, err := person.Agrees(ctx, term.Lang.Say("%s\nThis is unusual for projects: %s. Add it [y/n]: ", real, why))
		if err != nil {
			return err
		}
		if !agreed {
			fmt.Fprintln(person.Out, term.Lang.Say("Not added."))
			return nil
		}
	}
	added, err := app.Trust().AddPlace(ctx, trust.Place{Folder: real, By: trust.ByTerminal, At: term.Now()})
	if err != nil {
		return err
	}
	result := map[string]any{"folder": real, "added": added}
	if added {
		return term.Conclude(result, "Added: %s. Assistants may work there and in the folders below it; running servers know at once.", real)
	}
	return term.Conclude(result, "It was added before: %s. Assistants may work there and in the folders below it; running servers know at once.", real)
}

// whyUnusual returns the reason why a folder is unlikely to hold projects, empty if there is none.
func whyUnusual(rules reach.Rules, real string) lang.Text {
	if why := rules.Judge(real, reach.Asked); !why.Empty() {
		return why
	}
	if filepath.Dir(filepath.Dir(real)) == filepath.Dir(real) && filepath.VolumeName(real) == "" {
		return lang.T("it is at the top of the disk, and may hold far more than projects")
	}
	return lang.Text{}
}

func removeProject(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace, name string) error {
	folder, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	placed, err := app.Trust().RemovePlace(ctx, folder)
	if err != nil {
		return err
	}
	known, err := app.KnownProjects().Remove(ctx, folder)
	if err != nil {
		return err
	}
	own, err := workspace.Settings.Load(nil)
	if err != nil {
		return err
	}
	still := slices.Contains(own.Projects, folder)
	switch {
	case !placed && !known && still:
		return fault.New(fault.NotAllowed, "%q is in your settings, not on the list", folder).
			WithHint("take it out of projects in %s, or of BMAD_PROJECTS", filepath.Join(workspace.Settings.UserFolder, filepath.FromSlash(config.UserFile)))
	case !placed && !known:
		return fault.New(fault.NotFound, "%q is not on the list", folder).WithHint("bmad-mcp projects shows the list; a folder below one that is on it goes with that")
	case term.JSON:
		return term.PrintJSON(map[string]any{"folder": folder, "removed": true, "in_settings": still})
	}
	term.Say("Taken off the list: %s. Its files stay.", folder)
	if still {
		term.Say("Your settings name it too, so it still counts.")
	}
	return nil
}

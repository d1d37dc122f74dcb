package method

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/project/sources"
)

// sourceRow is a source in the JSON of `sources`.
type sourceRow struct {
	method.SearchedSource
	FetchedAt *time.Time `json:"fetched_at,omitempty"`
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	TriedAt   *time.Time `json:"tried_at,omitempty"`
}

func listSources(ctx context.Context, term *terminal.Terminal, lib library) error {
	s, err := lib.Shelf(ctx)
	if err != nil {
		return err
	}
	rows := []sourceRow{}
	var lines []string
	for _, src := range s.Searched() {
		row := sourceRow{SearchedSource: src}
		about := src.Problem
		if spec, err := gitsource.Parse(src.Place); err == nil {
			if c, err := lib.Repositories().Cache.Copy(spec); err == nil {
				row.FetchedAt, row.CheckedAt, row.TriedAt = nonZero(c.FetchedAt), nonZero(c.CheckedAt), nonZero(c.TriedAt)
				if about = describeCopy(term, c); c.Problem != "" {
					about = term.Lang.Say("%s; last try: %s", about, c.Problem)
				}
			}
		}
		rows = append(rows, row)
		lines = append(lines, src.Name+": "+src.State+setBy(term.Lang, src.From))
		for _, more := range []string{src.Place, terminal.OneLine(about)} {
			if more != "" {
				lines = append(lines, "  "+more)
			}
		}
	}
	problems := s.Check()
	if !term.ForPeople() {
		return term.PrintJSON(map[string]any{"sources": rows, "problems": problems})
	}
	if len(lines) == 0 {
		term.Say("No source of agents and workflows was found. Install BMAD into the project, or add a repository or package: bmad-mcp method sources add git+https://… or npm:NAME")
		return nil
	}
	for _, line := range lines {
		fmt.Fprintln(term.Out, line)
	}
	if len(problems) > 0 {
		term.Say("\nLeft out, %d:", len(problems))
	}
	for _, p := range problems {
		term.Printf("  %s: %s (%s)\n", p.Path, p.Text, p.Source)
	}
	return nil
}

// setBy returns a text about the setting that names a source.
func setBy(l lang.Language, from string) string {
	switch from {
	case "":
		return ""
	case "added":
		return l.Say(", added by you")
	case "settings":
		return l.Say(", set by your settings")
	case "project":
		return l.Say(", set by the project, allowed by you")
	}
	return l.Say(", set by %s", from)
}

func nonZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// cachedRepositories returns the repositories and their project, or an error if the program has no folder for copies.
func cachedRepositories(workspace *app.Workspace, lib library) (sources.Repositories, string, error) {
	r := lib.Repositories()
	if r.Cache == nil {
		return r, "", fault.New(fault.Storage, "there is no cache folder to keep copies in").WithHint("set HOME, or XDG_CACHE_HOME to an absolute path")
	}
	project, err := workspace.Project()
	return r, project, err
}

func addSource(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace, lib library, url string) error {
	spec, err := gitsource.Parse(url)
	if err != nil {
		return err
	}
	r, _, err := cachedRepositories(workspace, lib)
	if err != nil {
		return err
	}
	fmt.Fprintln(term.Err, term.Lang.Say("Fetching %s …", spec))
	added, err := r.Add(ctx, url, spec)
	if added.Stale != nil {
		term.Warnf("%v; the copy that was there stays", added.Stale)
	}
	if err != nil {
		return err
	}
	if term.JSON {
		return term.PrintJSON(map[string]any{"source": spec.String(), "added": added.New, "commit": added.Copy.Commit,
			"agents": added.Agents, "workflows": added.Workflows, "tasks": added.Tasks})
	}
	if added.New {
		term.Say("Added: %s (%s).", spec, describeCopy(term, added.Copy))
	} else {
		term.Say("It was added before: %s (%s).", spec, describeCopy(term, added.Copy))
	}
	if added.Agents+added.Workflows+added.Tasks == 0 {
		term.Say("It holds no agents, workflows or tasks that are known here: check the folder after :/")
		return nil
	}
	term.Say("It has %s, %s and %s; those of the project and of your home go before them.",
		lang.Count(added.Agents, "agent"), lang.Count(added.Workflows, "workflow"), lang.Count(added.Tasks, "task"))
	return nil
}

// completeSources completes the names of repositories.
func completeSources(workspace *app.Workspace, lib library) cobra.CompletionFunc {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		project, err := workspace.Project()
		if err != nil || len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		remotes, _ := lib.Repositories().Of(project)
		return sources.Names(remotes), cobra.ShellCompDirectiveNoFileComp
	}
}

func updateSources(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace, lib library, args []string) error {
	r, project, err := cachedRepositories(workspace, lib)
	if err != nil {
		return err
	}
	remotes, err := r.Select(project, args...)
	if err != nil {
		return err
	}
	results := []map[string]any{}
	failed := false
	for _, remote := range remotes {
		c, changed, err := r.Cache.Update(ctx, remote.Spec)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := map[string]any{"source": remote.Spec.String(), "changed": changed, "commit": c.Commit}
		line := term.Lang.Say("%s: unchanged (%s)", remote.Spec, describeCopy(term, c))
		switch {
		case err != nil:
			failed = true
			line = lang.Of(err).In(term.Lang)
			result["problem"] = line
			if c.Dir != "" {
				line = term.Lang.Say("%s; the copy stays (%s)", line, describeCopy(term, c))
			}
		case changed:
			line = term.Lang.Say("%s: new (%s)", remote.Spec, describeCopy(term, c))
		}
		results = append(results, result)
		if !term.JSON {
			fmt.Fprintln(term.Out, line)
		}
	}
	if term.JSON {
		if err := term.PrintJSON(map[string]any{"sources": results}); err != nil {
			return err
		}
	} else if len(remotes) == 0 {
		term.Say("No repository or package was added yet. Add one: bmad-mcp method sources add git+https://… or npm:NAME")
	}
	if failed {
		return terminal.ErrReported
	}
	return nil
}

func removeSource(ctx context.Context, term *terminal.Terminal, workspace *app.Workspace, lib library, named string) error {
	project, err := workspace.Project()
	if err != nil {
		return err
	}
	spec, err := lib.Repositories().Remove(ctx, project, named)
	if err != nil {
		return err
	}
	return term.Conclude(map[string]any{"source": spec.String(), "removed": true}, "Removed: %s", spec)
}

func sourcesCommand(term *terminal.Terminal, workspace *app.Workspace, lib library) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sources",
		Short: "List the sources of the BMAD method; add, update or remove git repositories and packages of npm",
		Long: `The BMAD method is searched for in the project, then in your home (~/.bmad, the skill
folders of your assistants), then in repositories: those you add here, those of the
setting sources, and those that the project's settings name and you have allowed
(bmad-mcp allow). BMAD_ROOT, the folder of an installation, goes in the project's place.

A repository is an address with, if need be, a branch, tag or commit and a folder in it:

  git+https://github.com/org/repo.git#v6:/src
  git+ssh://git@host/org/repo.git
  git+file:///srv/git/repo.git#main

or a package of npm, of which nothing is run, with a version or tag and a folder in it:

  npm:@scope/name@1.2.3#:/src

Its copy is kept in $XDG_CACHE_HOME/bmad-mcp/git, compared with the repository once a day
in the background, and served as it is while the network is away. Private repositories
need the credentials that git has for them (credential helper, ssh agent). Packages come
from registry.npmjs.org, or from the registry in npm_config_registry, without a token.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listSources(cmd.Context(), term, lib) },
	}
	add := terminal.Subcommand("add ADDRESS", "Add a git repository or a package of npm, for all your projects", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return addSource(ctx, term, workspace, lib, args[0]) })
	add.Example = `  bmad-mcp method sources add npm:bmad-method@4.44.3
  bmad-mcp method sources add git+https://github.com/org/repo.git#v6:/src`
	cmd.AddCommand(
		add,
		&cobra.Command{
			Use: "update [NAME|ADDRESS]", Short: "Update the repositories, or one, now", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeSources(workspace, lib),
			RunE: func(cmd *cobra.Command, args []string) error {
				return updateSources(cmd.Context(), term, workspace, lib, args)
			},
		},
		&cobra.Command{
			Use: "remove NAME|ADDRESS", Short: "Remove a git repository or package that you have added, and its copy",
			Args: cobra.ExactArgs(1), ValidArgsFunction: completeSources(workspace, lib),
			RunE: func(cmd *cobra.Command, args []string) error {
				return removeSource(cmd.Context(), term, workspace, lib, args[0])
			},
		},
	)
	return cmd
}

// describeCopy describes a copy for people.
func describeCopy(term *terminal.Terminal, c gitsource.Copy) string {
	commit := gitsource.ShortCommit(c.Commit)
	if strings.Contains(commit, ".") {
		return term.Lang.Say("version %s, checked %s", commit, term.Since(c.CheckedAt))
	}
	return term.Lang.Say("commit %s, checked %s", commit, term.Since(c.CheckedAt))
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// sourceRow is a source in the JSON of `sources list`.
type sourceRow struct {
	library.Source
	FetchedAt *time.Time `json:"fetched_at,omitempty"`
	CheckedAt *time.Time `json:"checked_at,omitempty"`
	TriedAt   *time.Time `json:"tried_at,omitempty"`
}

func (a *app) listSources(ctx context.Context) error {
	s, err := a.shelf(ctx)
	if err != nil {
		return err
	}
	rows := []sourceRow{}
	var lines []string
	for _, src := range s.Sources {
		row := sourceRow{Source: src}
		about := src.Problem
		if spec, err := gitsource.Parse(src.Place); err == nil {
			if c, err := a.gitCache(a.engine.Clock).Copy(spec); err == nil {
				row.FetchedAt, row.CheckedAt, row.TriedAt = set(c.FetchedAt), set(c.CheckedAt), set(c.TriedAt)
				if about = describeCopy(c); c.Problem != "" {
					about += "; last try: " + c.Problem
				}
			}
		}
		rows = append(rows, row)
		lines = append(lines, src.Name+": "+src.State+setBy(src.From))
		for _, more := range []string{src.Place, oneLine(about)} {
			if more != "" {
				lines = append(lines, "  "+more)
			}
		}
	}
	problems := s.Check()
	if !a.forPeople() {
		return a.printJSON(map[string]any{"sources": rows, "problems": problems})
	}
	if len(lines) == 0 {
		fmt.Fprintln(a.out, "There is nowhere to look. Install BMAD into the project, or add a repository: bmad-mcp sources add git+https://…")
		return nil
	}
	for _, line := range lines {
		fmt.Fprintln(a.out, line)
	}
	if len(problems) > 0 {
		fmt.Fprintf(a.out, "\nLeft out, %d:\n", len(problems))
	}
	for _, p := range problems {
		fmt.Fprintf(a.out, "  %s: %s (%s)\n", p.Path, p.Text, p.Source)
	}
	return nil
}

// setBy says for people whose setting names a source.
func setBy(from string) string {
	switch from {
	case "":
		return ""
	case "added":
		return ", added by you"
	case "settings":
		from = "your settings"
	case "project":
		from = "the project, allowed by you"
	}
	return ", set by " + from
}

func set(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// cacheOrFail returns the place of copies.
func (a *app) cacheOrFail() (*gitsource.Cache, error) {
	if c := a.gitCache(a.engine.Clock); c != nil {
		return c, nil
	}
	return nil, fault.New(fault.Storage, "there is no cache folder to keep copies in").WithHint("set HOME, or XDG_CACHE_HOME to an absolute path")
}

// addSource fetches a repository, and adds it if that brought anything: a wrong address is
// better told now than looked for in vain.
func (a *app) addSource(ctx context.Context, url string) error {
	spec, err := gitsource.Parse(url)
	if err != nil {
		return err
	}
	cache, err := a.cacheOrFail()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "Fetching %s …\n", spec)
	c, _, err := cache.Update(ctx, spec)
	if err != nil && c.Dir == "" {
		return err
	}
	if err != nil { // an earlier copy is there
		fmt.Fprintf(a.err, "bmad-mcp: %v; the copy that was there stays\n", err)
	}
	if c, err = cache.Copy(spec); err != nil { // it has no such folder
		return err
	}
	added, err := a.trust().AddSource(ctx, trust.Source{URL: url, AddedAt: a.engine.Now()}, sameRepository(spec))
	if err != nil {
		return err
	}
	found, err := a.foundIn(c)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"source": spec.String(), "added": added, "commit": c.Commit, "agents": found[0], "workflows": found[1], "tasks": found[2]})
	}
	state := "Added"
	if !added {
		state = "It was added before"
	}
	fmt.Fprintf(a.out, "%s: %s (%s).\n", state, spec, describeCopy(c))
	if found[0]+found[1]+found[2] == 0 {
		fmt.Fprintln(a.out, "It holds no agents, workflows or tasks that are known here: check the folder after #ref:/")
		return nil
	}
	fmt.Fprintf(a.out, "It has %s, %s and %s; those of the project and of your home go before them.\n", counted(found[0], "agent"), counted(found[1], "workflow"), counted(found[2], "task"))
	return nil
}

// counted says "1 agent", "2 agents".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// repository returns what an address means, or the name that a list gives a repository.
func (a *app) repository(named string) (gitsource.Spec, error) {
	if strings.Contains(named, ":") {
		return gitsource.Parse(named)
	}
	remotes, names, err := a.named()
	if err != nil {
		return gitsource.Spec{}, err
	}
	if at := slices.Index(names, named); at >= 0 {
		return remotes[at].Spec, nil
	}
	return gitsource.Spec{}, fault.New(fault.NotFound, "there is no repository %q", named).
		WithHint("bmad-mcp sources list shows them; name one as they are named there, or by its whole address")
}

// named returns the repositories that count here, and their names.
func (a *app) named() ([]library.Remote, []string, error) {
	project, err := a.project()
	if err != nil {
		return nil, nil, err
	}
	remotes, _ := a.remotes(project, a.engine.Projects().OpenFolder)
	return remotes, library.Names(remotes), nil
}

// completeSources completes the names of repositories.
func (a *app) completeSources(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, names, _ := a.named()
	return names, cobra.ShellCompDirectiveNoFileComp
}

// foundIn counts what a copy holds: agents, workflows, tasks.
func (a *app) foundIn(c gitsource.Copy) ([3]int, error) {
	return library.Count(c.Dir)
}

func (a *app) updateSources(ctx context.Context, args []string) error {
	cache, err := a.cacheOrFail()
	if err != nil {
		return err
	}
	remotes, _, err := a.named()
	if err != nil {
		return err
	}
	if len(args) == 1 {
		spec, err := a.repository(args[0])
		if err != nil {
			return err
		}
		one := remotes[:0:0]
		for _, r := range remotes {
			if r.Spec.String() == spec.String() {
				one = append(one, r)
			}
		}
		if len(one) == 0 {
			return fault.New(fault.NotFound, "%s is none of the repositories", spec).WithHint("bmad-mcp sources list shows them, bmad-mcp sources add adds one")
		}
		remotes = one
	}
	results := []map[string]any{}
	failed := false
	for _, r := range remotes {
		c, changed, err := cache.Update(ctx, r.Spec)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := map[string]any{"source": r.Spec.String(), "changed": changed, "commit": c.Commit}
		line := fmt.Sprintf("%s: unchanged (%s)", r.Spec, describeCopy(c))
		switch {
		case err != nil:
			failed = true
			result["problem"] = err.Error()
			line = err.Error()
			if c.Dir != "" {
				line += fmt.Sprintf("; the copy stays (%s)", describeCopy(c))
			}
		case changed:
			line = fmt.Sprintf("%s: new (%s)", r.Spec, describeCopy(c))
		}
		results = append(results, result)
		if !a.asJSON {
			fmt.Fprintln(a.out, line)
		}
	}
	if a.asJSON {
		if err := a.printJSON(map[string]any{"sources": results}); err != nil {
			return err
		}
	} else if len(remotes) == 0 {
		fmt.Fprintln(a.out, "There is no repository to ask. Add one: bmad-mcp sources add git+https://…")
	}
	if failed {
		return errReported
	}
	return nil
}

func (a *app) removeSource(ctx context.Context, named string) error {
	spec, err := a.repository(named)
	if err != nil {
		return err
	}
	removed, err := a.trust().RemoveSource(ctx, sameRepository(spec))
	if err != nil {
		return err
	}
	if removed == 0 {
		return fault.New(fault.NotFound, "%s is not one that you have added", spec).
			WithHint("bmad-mcp sources list shows them; one of the settings is taken out there")
	}
	if cache := a.gitCache(a.engine.Clock); cache != nil && !a.stillUsed(spec) {
		if err := cache.Remove(ctx, spec); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"source": spec.String(), "removed": true})
	}
	fmt.Fprintf(a.out, "Removed: %s\n", spec)
	return nil
}

// sameRepository tells the addresses of one repository, whatever their credentials.
func sameRepository(spec gitsource.Spec) func(url string) bool {
	return func(url string) bool {
		other, err := gitsource.Parse(url)
		return err == nil && other.String() == spec.String()
	}
}

// stillUsed reports whether another address shares the copy.
func (a *app) stillUsed(spec gitsource.Spec) bool {
	remotes, _, err := a.named()
	if err != nil {
		return true
	}
	for _, r := range remotes {
		if r.Spec.Key() == spec.Key() {
			return true
		}
	}
	return false
}

// Package sources knows the git repositories and packages of npm that count as sources of the BMAD method for a
// project: those that the person has added or set, and those of the project that they allow.
package sources

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// Remote is a git repository, or a package of npm, with installations.
type Remote struct {
	Spec gitsource.Spec
	// From is whose setting names it, for people.
	From string
}

// Repositories are the git repositories that a person has added or set, and those of a project
// that they have allowed.
type Repositories struct {
	Settings config.Source
	State    trust.UserState
	// Cache keeps the copies; nil if this machine has no cache folder.
	Cache *gitsource.Cache
	// Open opens a project's folder, Now is the clock.
	Open func(name string) (*durable.Dir, error)
	Now  func() time.Time
}

// Of returns the repositories that count for a project, in order, and the problems of others.
func (r Repositories) Of(project string) (out []Remote, problems []lang.Text) {
	add := func(url, from string) {
		spec, err := gitsource.Parse(url)
		if err != nil {
			problems = append(problems, lang.T("%s: %s", from, err))
			return
		}
		if !slices.ContainsFunc(out, func(known Remote) bool { return known.Spec.String() == spec.String() }) {
			out = append(out, Remote{Spec: spec, From: from})
		}
	}
	added, err := r.State.Sources()
	if err != nil {
		problems = append(problems, lang.Of(err))
	}
	for _, s := range added {
		add(s.URL, "added")
	}
	var dir *durable.Dir
	if project != "" {
		if dir, err = r.Open(project); err == nil {
			defer func() { _ = dir.Close() }() // nothing was written
		} else {
			dir = nil
		}
	}
	c, err := r.Settings.Load(dir)
	if err != nil {
		return out, append(problems, lang.Of(err))
	}
	for _, url := range c.Sources {
		add(url, "settings")
	}
	for _, url := range c.OwnSources {
		if r.State.Allowed(trust.Allowance{Project: project, Kind: trust.KindSource, Text: url}) {
			add(url, "project")
			continue
		}
		if spec, err := gitsource.Parse(url); err == nil { // the settings have none that does not parse
			problems = append(problems, lang.T("the project names %s, which counts once you have allowed it: bmad-mcp allow", spec))
		}
	}
	return out, problems
}

// Names returns the names of repositories in addresses and lists, in their order: each that of
// its last folder, with a number if an earlier one has it.
func Names(remotes []Remote) []string {
	var out []string
	for _, r := range remotes {
		url, _, _ := strings.Cut(r.Spec.String(), "#")
		base := url[:len("git")] + "-" + strings.TrimSuffix(url[strings.LastIndexAny(url, "/:")+1:], ".git")
		base, _, _ = strings.Cut(base, "@") // the version of a package
		name := base
		for n := 2; slices.Contains(out, name); n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		out = append(out, name)
	}
	return out
}

// Copies returns the repositories of a project with the copies that there are, and the problems
// of others. It updates outdated copies in the background, and calls changed for one that has
// changed.
func (r Repositories) Copies(project string, changed func()) (out []method.Copy, problems []lang.Text) {
	if r.Cache == nil {
		return nil, nil
	}
	remotes, problems := r.Of(project)
	names := Names(remotes)
	for n, remote := range remotes {
		c := method.Copy{Name: names[n], Place: remote.Spec.String(), From: remote.From}
		found, err := r.Cache.Copy(remote.Spec)
		c.Dir, c.Commit = found.Dir, found.Commit
		if err != nil {
			c.Problem = lang.Of(err)
		} else if found.Problem != "" {
			c.Problem = lang.T("%s", found.Problem)
		}
		r.Cache.Refresh(remote.Spec, func(done bool) {
			if done {
				changed()
			}
		})
		c.Fetching = c.Dir == "" && (err == nil || r.Cache.Due(remote.Spec))
		out = append(out, c)
	}
	return out, problems
}

// Close ends the updates in the background.
func (r Repositories) Close() {
	if r.Cache != nil {
		r.Cache.Close()
	}
}

// SettingsFolders returns the folders whose files decide which repositories count for a project;
// for a missing folder, the nearest existing one above it.
func (r Repositories) SettingsFolders(project string) []string {
	names := []string{string(r.State)}
	if r.Settings.UserFolder != "" {
		names = append(names, filepath.Dir(filepath.Join(r.Settings.UserFolder, filepath.FromSlash(config.UserFile))))
	}
	if project != "" {
		names = append(names, filepath.Dir(filepath.Join(project, filepath.FromSlash(config.ProjectFile))))
	}
	var out []string
	for _, name := range names {
		if !filepath.IsAbs(name) {
			continue
		}
		for above := ""; above != name; name = filepath.Dir(name) {
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				out = append(out, name)
				break
			}
			above = name
		}
	}
	return out
}

// Find returns the repository that an address means, or the name that lists give it.
func (r Repositories) Find(project, named string) (gitsource.Spec, error) {
	if strings.Contains(named, ":") {
		return gitsource.Parse(named)
	}
	remotes, _ := r.Of(project)
	if at := slices.Index(Names(remotes), named); at >= 0 {
		return remotes[at].Spec, nil
	}
	return gitsource.Spec{}, fault.New(fault.NotFound, "there is no repository %q", named).
		WithHint("bmad-mcp method sources shows them; name one as they are named there, or by its whole address").Suggest(named, Names(remotes))
}

// FetchMissing fetches the repositories of a project of which there is no copy, and reports each
// before it is fetched and, if that failed, with the error.
func (r Repositories) FetchMissing(ctx context.Context, project string, report func(gitsource.Spec, error)) {
	if r.Cache == nil {
		return
	}
	remotes, _ := r.Of(project)
	for _, remote := range remotes {
		if _, err := r.Cache.Copy(remote.Spec); err == nil || !r.Cache.Due(remote.Spec) {
			continue
		}
		report(remote.Spec, nil)
		if _, _, err := r.Cache.Update(ctx, remote.Spec); err != nil {
			report(remote.Spec, err)
		}
	}
}

// Added is a repository that was added, with the copy of it.
type Added struct {
	Copy gitsource.Copy
	// New is false if it was added before.
	New bool
	// Stale is the error of fetching it if an earlier copy stays.
	Stale error
	// Agents, Workflows and Tasks count its items.
	Agents, Workflows, Tasks int
}

// Add fetches a repository and adds it, if that brought anything: a wrong address is better
// reported now than searched in vain later.
func (r Repositories) Add(ctx context.Context, url string, spec gitsource.Spec) (out Added, err error) {
	c, _, err := r.Cache.Update(ctx, spec)
	if err != nil && c.Dir == "" {
		return out, err
	}
	out.Stale = err
	if out.Copy, err = r.Cache.Copy(spec); err != nil { // it has no such folder
		return out, err
	}
	if out.New, err = r.State.AddSource(ctx, trust.Source{URL: url, AddedAt: r.Now()}, sameRepository(spec)); err != nil {
		return out, err
	}
	found, err := method.Count(out.Copy.Dir)
	out.Agents, out.Workflows, out.Tasks = found[0], found[1], found[2]
	return out, err
}

// Select returns the repositories of a project, or the one of them that is named.
func (r Repositories) Select(project string, named ...string) ([]Remote, error) {
	remotes, _ := r.Of(project)
	if len(named) == 0 {
		return remotes, nil
	}
	spec, err := r.Find(project, named[0])
	if err != nil {
		return nil, err
	}
	remotes = slices.DeleteFunc(remotes, func(remote Remote) bool { return remote.Spec.String() != spec.String() })
	if len(remotes) == 0 {
		return nil, fault.New(fault.NotFound, "%s is none of the repositories", spec).WithHint("bmad-mcp method sources shows them, bmad-mcp method sources add adds one")
	}
	return remotes, nil
}

// Remove takes a repository that the person has added off their list, with its copy if no
// other address shares that.
func (r Repositories) Remove(ctx context.Context, project, named string) (gitsource.Spec, error) {
	spec, err := r.Find(project, named)
	if err != nil {
		return spec, err
	}
	removed, err := r.State.RemoveSource(ctx, sameRepository(spec))
	if err != nil {
		return spec, err
	}
	if removed == 0 {
		return spec, fault.New(fault.NotFound, "%s is not one that you have added", spec).
			WithHint("bmad-mcp method sources shows them; one of the settings is taken out there")
	}
	rest, _ := r.Of(project)
	if r.Cache == nil || slices.ContainsFunc(rest, func(remote Remote) bool { return remote.Spec.Key() == spec.Key() }) {
		return spec, nil
	}
	return spec, r.Cache.Remove(ctx, spec)
}

// sameRepository matches the addresses of one repository, whatever their credentials.
func sameRepository(spec gitsource.Spec) func(url string) bool {
	return func(url string) bool {
		other, err := gitsource.Parse(url)
		return err == nil && other.String() == spec.String()
	}
}

package cli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// newLibrary makes what serves the BMAD method. open opens the folder of a project, now is
// the clock. A shared one serves nothing of the person's home.
func (a *app) newLibrary(open func(name string) (*durable.Dir, error), now func() time.Time, shared bool) *library.Library {
	home, _ := os.UserHomeDir() // without a home nothing of the person's is served
	if shared {
		home = ""
	}
	var above func(name string) (*durable.Dir, error)
	if a.reach != nil {
		above = a.openAbove
	}
	return library.New(library.Options{
		Home: home, Root: os.Getenv("BMAD_ROOT"), Open: open, Above: above,
		Remotes:  func(project string) ([]library.Remote, []string) { return a.remotes(project, open) },
		Settings: a.sourceFolders,
		Cache:    a.gitCache(now),
		Now:      now,
		Log:      a.log,
	})
}

// sourceFolders returns the folders in which it is said which repositories count for a
// project; of one that is not there, the nearest above it that is.
func (a *app) sourceFolders(project string) []string {
	names := []string{a.stateFolder()}
	if a.settings.UserFolder != "" {
		names = append(names, filepath.Dir(filepath.Join(a.settings.UserFolder, filepath.FromSlash(config.UserFile))))
	}
	if project != "" {
		names = append(names, filepath.Dir(filepath.Join(project, filepath.FromSlash(config.ProjectFile))))
	}
	var out []string
	for _, name := range names {
		if !filepath.IsAbs(name) {
			continue
		}
		for {
			info, err := os.Stat(name)
			if err == nil && info.IsDir() {
				out = append(out, name)
				break
			}
			above := filepath.Dir(name)
			if above == name {
				break
			}
			name = above
		}
	}
	return out
}

// gitCache is where the copies of repositories are kept; nil where there is no place for it.
func (a *app) gitCache(now func() time.Time) *gitsource.Cache {
	folder := userFolder("XDG_CACHE_HOME", ".cache")
	if folder == "" {
		return nil
	}
	return &gitsource.Cache{Folder: filepath.Join(folder, "bmad-mcp", "git"), Now: now, Log: a.log}
}

// remotes returns the repositories that count for a project: those the person has added or
// set, then those of the project that they have allowed.
func (a *app) remotes(project string, open func(name string) (*durable.Dir, error)) (out []library.Remote, problems []string) {
	add := func(url, from string) {
		spec, err := gitsource.Parse(url)
		if err != nil {
			problems = append(problems, from+": "+err.Error())
			return
		}
		for _, known := range out {
			if known.Spec.String() == spec.String() {
				return
			}
		}
		out = append(out, library.Remote{Spec: spec, From: from})
	}
	added, err := a.trust().Sources()
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, s := range added {
		add(s.URL, "added")
	}
	var dir *durable.Dir
	if project != "" {
		if dir, err = open(project); err == nil {
			defer func() { _ = dir.Close() }() // nothing was written
		} else {
			dir = nil
		}
	}
	c, err := a.settings.Load(dir)
	if err != nil {
		return out, append(problems, err.Error())
	}
	for _, url := range c.Sources {
		add(url, "settings")
	}
	for _, url := range c.OwnSources {
		if a.trust().Allowed(trust.Allowance{Project: project, Kind: trust.KindSource, Text: url}) {
			add(url, "project")
			continue
		}
		if spec, err := gitsource.Parse(url); err == nil { // the settings have none that does not parse
			problems = append(problems, "the project names "+spec.String()+", which counts once you have allowed it: bmad-mcp allow")
		}
	}
	return out, problems
}

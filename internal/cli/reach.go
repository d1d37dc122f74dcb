package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// The records of folders for assistants.
const (
	fromTerminal = "added"
	fromForm     = "form"
	fromSettings = "settings"
	fromSessions = "sessions"
)

// recorded is a folder in which assistants may work, if the rules allow it.
type recorded struct {
	reach.Place
	from string
}

func knownProjects(a *app) project.Known { return project.Known{Folder: a.stateFolder()} }

// recordedPlaces returns the folders that are on record, with the first problem in reading them.
func recordedPlaces(a *app) (out []recorded, err error) {
	places, err := a.trust().Places()
	for _, p := range places {
		r := recorded{reach.Place{Folder: p.Folder, By: reach.Listed, Real: true, Record: a.stateFolder()}, fromTerminal}
		if p.By == trust.ByForm {
			r.By, r.from = reach.Asked, fromForm
		}
		out = append(out, r)
	}
	own, ownErr := a.settings.Load(nil)
	if err == nil {
		err = ownErr
	}
	file := ""
	if a.settings.UserFolder != "" {
		file = filepath.Join(a.settings.UserFolder, filepath.FromSlash(config.UserFile))
	}
	for _, folder := range own.Projects {
		out = append(out, recorded{reach.Place{Folder: folder, By: reach.Listed, Record: file}, fromSettings})
	}
	known, real := knownProjects(a).Recorded()
	for _, folder := range known {
		out = append(out, recorded{reach.Place{Folder: folder, By: reach.Known, Real: real, Record: a.stateFolder()}, fromSessions})
	}
	return out, err
}

// newReach returns the folders that an assistant on stdio may use, if the server was started for
// some folders.
func newReach(a *app, opened []string) *reach.Reach {
	o := reach.Options{
		Rules: reach.NewRules(nil, os.Environ()),
		Remembered: func() []reach.Place {
			list, err := recordedPlaces(a)
			if err != nil {
				a.log.Warn("not all folders that assistants may work in are known", "error", err)
			}
			out := make([]reach.Place, len(list))
			for i, r := range list {
				out[i] = r.Place
			}
			return out
		},
		Remember: func(ctx context.Context, folder string) error {
			_, err := a.trust().AddPlace(ctx, trust.Place{Folder: folder, By: trust.ByForm, At: a.engine.Now()})
			return err
		},
	}
	for _, folder := range opened {
		o.Opened = append(o.Opened, reach.Place{Folder: folder, By: reach.Opened})
	}
	return reach.New(o)
}

// stdioPlaces returns the place of a server on stdio, and the folders that it was started for: those
// that the host names, those of the call, and its own. Hosts that open no project start servers in /
// or the home folder; neither is one.
func stdioPlaces(named []string) (p mcpserver.Places, opened []string) {
	rules := reach.NewRules(nil, os.Environ())
	use := func(folder string) bool {
		if !filepath.IsAbs(folder) || !rules.Judge(rules.Real(folder), reach.Opened).Empty() {
			return false
		}
		if !slices.Contains(opened, folder) {
			opened = append(opened, folder)
		}
		return true
	}
	// Bundles fill BMAD_PROJECT_DIR in with the folder that the person chose; some hosts leave their
	// own placeholder if there is none. BMAD_PROJECT_ROOT is the name that settings for other servers
	// of the method have.
	for _, folder := range []string{os.Getenv("CLAUDE_PROJECT_DIR"), os.Getenv("BMAD_PROJECT_DIR"), os.Getenv("BMAD_PROJECT_ROOT")} {
		if use(folder) && p.Project == "" {
			p.Project = folder
		}
	}
	for _, folder := range named {
		if use(folder) && p.Project == "" && len(named) == 1 {
			p.Project = folder
		}
	}
	if here, err := os.Getwd(); err == nil && use(here) {
		p.Folder = here
	}
	return p, opened
}

// placeholder reports whether a host has left a value for the person to fill in.
func placeholder(arg string) bool { return arg == "" || strings.HasPrefix(arg, "${") }

// openAbove opens a folder above a project, in which an installation of the BMAD method may
// lie: any that the rules do not keep out. Only the trees of an installation are read.
func (a *app) openAbove(name string) (*durable.Dir, error) {
	rules := reach.NewRules(nil, os.Environ())
	if why := rules.Judge(rules.Real(name), reach.Opened); !why.Empty() {
		return nil, &reach.Refusal{Folder: name, Why: why}
	}
	return durable.OpenDir(name)
}

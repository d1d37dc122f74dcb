package app

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// The records of folders for assistants.
const (
	FromTerminal = "added"
	FromForm     = "form"
	FromSettings = "settings"
	FromSessions = "sessions"
)

// RecordedPlace is a folder in which assistants may work, if the rules allow it.
type RecordedPlace struct {
	reach.Place
	From string
}

// RecordedPlaces returns the folders that are on record, with the first problem in reading them.
func (w *Workspace) RecordedPlaces() (out []RecordedPlace, err error) {
	places, err := Trust().Places()
	for _, p := range places {
		r := RecordedPlace{reach.Place{Folder: p.Folder, By: reach.Listed, Real: true, Record: StateFolder()}, FromTerminal}
		if p.By == trust.ByForm {
			r.By, r.From = reach.Asked, FromForm
		}
		out = append(out, r)
	}
	own, ownErr := w.Settings.Load(nil)
	if err == nil {
		err = ownErr
	}
	file := ""
	if w.Settings.UserFolder != "" {
		file = filepath.Join(w.Settings.UserFolder, filepath.FromSlash(config.UserFile))
	}
	for _, folder := range own.Projects {
		out = append(out, RecordedPlace{reach.Place{Folder: folder, By: reach.Listed, Record: file}, FromSettings})
	}
	known, real := KnownProjects().Recorded()
	for _, folder := range known {
		out = append(out, RecordedPlace{reach.Place{Folder: folder, By: reach.Known, Real: real, Record: StateFolder()}, FromSessions})
	}
	return out, err
}

// Rules are those of the folders that this person keeps to themselves. They are read once: each look for an
// installation of the method asks them.
var Rules = sync.OnceValue(func() reach.Rules { return reach.NewRules(nil, os.Environ()) })

// newReach returns the folders that an assistant on stdio may use, if the server was started for
// some folders.
func (a *App) newReach(opened []string) *reach.Reach {
	o := reach.Options{
		Rules: Rules(),
		Remembered: func() []reach.Place {
			list, err := a.Tasks.RecordedPlaces()
			if err != nil {
				a.Tasks.Log.Warn("not all folders that assistants may work in are known", "error", err)
			}
			out := make([]reach.Place, len(list))
			for i, r := range list {
				out[i] = r.Place
			}
			return out
		},
		Remember: func(ctx context.Context, folder string) error {
			_, err := Trust().AddPlace(ctx, trust.Place{Folder: folder, By: trust.ByForm, At: a.Terminal.Now()})
			return err
		},
	}
	for _, folder := range opened {
		o.Opened = append(o.Opened, reach.Place{Folder: folder, By: reach.Opened})
	}
	return reach.New(o)
}

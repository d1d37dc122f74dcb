package web

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
)

// Options configure a Dashboard.
type Options struct {
	Version string
	// Engine reads sessions and carries out decisions.
	Engine *engine.Engine
	// Memory has the notes of the projects.
	Memory *memory.Memory
	// Health, if not nil, gathers the state of the program for the settings page.
	Health HealthFunc
	// Recheck, if not nil, drops the cached state of the disk before the live pages look again.
	Recheck func()
	// State is the person's folder outside of projects; "" keeps no drafts.
	State string
	// Origin is the origin of the pages, for example http://localhost:8123, for a server with a door.
	Origin string
	// Pairing is the state folder in which browsers are paired; "" pairs none.
	Pairing string
	// Runs, if not nil, starts and stops runs without a host.
	Runs Runs
	// Queue, if not nil, is the queue of the team, whose runs the pages show.
	Queue Queue
	// ReadOnly refuses all decisions.
	ReadOnly bool
	// Passkeys, if not nil, check the signatures of decisions.
	Passkeys *passkey.Keys
	Log      *slog.Logger
}

// Dashboard serves the pages. It is safe for concurrent use.
type Dashboard struct {
	o        Options
	log      *slog.Logger
	screens  *screens
	projects projects
	keeper   *keeper
	starter  *starter
	door     *door
	nonces   nonces
	live     *live
	end      context.CancelFunc // of the streams
}

// New returns a dashboard.
func New(o Options) (*Dashboard, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	door, err := newDoor(o.Origin, o.Pairing, o.ReadOnly, o.Engine.Clock)
	if err != nil {
		return nil, err
	}
	d := &Dashboard{o: o, log: o.Log, door: door, projects: projects{o.Engine, o.Queue}}
	d.keeper = &keeper{door: door, projects: d.projects}
	d.starter = &starter{runs: o.Runs, door: door, nonces: &d.nonces, projects: d.projects, log: o.Log}
	d.screens = &screens{o.Version, o.Log, o.Engine.Clock, func(a *asked) int { return len(d.projects.waiting(a)) }}
	if o.State != "" {
		d.keeper.drafts = drafts(filepath.Join(o.State, "drafts"))
	}
	d.live = &live{projects: d.projects, beat: heartbeat, feed: o.Engine.Projects().NewFeed(feed.Options{
		Recheck: o.Recheck, Now: o.Engine.Clock, Log: o.Log,
	})}
	d.live.ended, d.end = context.WithCancel(context.Background())
	return d, nil
}

// Close ends the streams of the live pages. Accepted requests are still answered.
func (d *Dashboard) Close(context.Context) {
	d.end()
	d.live.feed.Close()
}

package project

import (
	"context"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// Project is one open project folder.
type Project struct {
	// Dir is the folder with the files that are worked on. Home has the sessions, the records and the settings: mostly it is
	// Dir too, and for the worktree of a run the main tree.
	Dir, Home *durable.Dir
	Backend   store.Backend
	// Texts reads the rounds: it is the backend, or the update that is under way.
	Texts   store.Contents
	Config  config.Config
	prompts map[[2]string]prompts.Prompt // those read so far
	// absent are the folders of prompts and rubrics that do not exist.
	absent  map[string]bool
	listing *store.Listing // once it was asked for
	// Others are the task names of active sessions that a call without a session did not mean, the newest.
	Others   []string
	language lang.Language
	id       atomic.Pointer[string] // once it was read
	key      string                 // in a shared store, else ""
	// allowed is the folder under which the person's permissions are recorded.
	allowed string
	// kind is the kind of the tree with Dir.
	kind kind
}

// Language returns the language for a person who has written a text, for example the objective of a run.
func (p *Project) Language(written string) lang.Language {
	return lang.Choose(p.Config.Language, written, p.language)
}

// DocumentLanguage returns the language for the documents of a run, whose person is spoken to in another.
func (p *Project) DocumentLanguage(objective string, spoken lang.Language) lang.Language {
	return lang.Choose(p.Config.DocumentLanguage, objective, spoken)
}

// Sessions lists the sessions of the project, as they were when a call first asked.
func (p *Project) Sessions(ctx context.Context) (store.Listing, error) {
	if p.listing != nil {
		return *p.listing, nil
	}
	all, err := p.Backend.All(ctx)
	if err == nil {
		p.listing = &all
	}
	return all, err
}

// page returns a page of the sessions. A store that needs them all for it has them for the rest of the call too.
func (p *Project) page(ctx context.Context, q store.Query) (store.Page, error) {
	if _, ok := p.Backend.(store.Lister); ok {
		return store.List(ctx, p.Backend, q)
	}
	all, err := p.Sessions(ctx)
	if err != nil {
		return store.Page{}, err
	}
	return all.Page(q)
}

// Close closes the folder.
func (p *Project) Close() {
	_ = p.Dir.Close()
	if p.Home != p.Dir {
		_ = p.Home.Close()
	}
}

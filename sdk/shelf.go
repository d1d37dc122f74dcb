package sdk

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// shelf finds agents.
type shelf struct {
	project string
	options method.Options

	mu      sync.Mutex
	library *method.Library
	// files are the files of the latest snapshot, of.
	of    *method.Snapshot
	files *methodFiles
}

func newShelf(project string, o method.Options) *shelf {
	o.Home, _ = os.UserHomeDir() // without one, nothing of it is served
	o.Root = os.Getenv("BMAD_ROOT")
	return &shelf{project: project, options: o, library: method.New(o)}
}

// addFolder adds a folder with agents.
func (s *shelf) addFolder(folder string) error {
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("the folder %q is not an absolute path", folder)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return errors.Join(fmt.Errorf("there is no folder %q", folder), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.options.Folders, folder) {
		s.options.Folders = append(slices.Clone(s.options.Folders), folder)
		s.library = method.New(s.options)
	}
	return nil
}

// snapshot returns the installations as they are now, with their files.
func (s *shelf) snapshot() (*method.Snapshot, *methodFiles) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.library.At(s.project)
	if now != s.of {
		s.of, s.files = now, newMethodFiles(now)
	}
	return now, s.files
}

// listAgents lists the agents of all installations.
func (s *shelf) listAgents() ([]AgentInfo, error) {
	snapshot, _ := s.snapshot()
	items, err := snapshot.All(catalog.Agent, "", "")
	out := []AgentInfo{}
	if fault.Is(err, fault.NotFound) {
		return out, nil
	}
	if err != nil {
		return nil, plainError(err)
	}
	for _, i := range items {
		out = append(out, infoOf(i))
	}
	return out, nil
}

func infoOf(i catalog.Item) AgentInfo {
	return AgentInfo{ID: i.Name, Name: i.DisplayName, Title: i.Title, Icon: i.Icon, WhenToUse: i.Description, Module: i.Module, Aliases: i.Aliases, Source: i.Source}
}

// findAgent finds an agent with its menu.
func (s *shelf) findAgent(id string) (*Agent, menu, error) {
	snapshot, files := s.snapshot()
	d, err := snapshot.Details(catalog.Agent, id)
	if err != nil {
		return nil, menu{}, &AgentError{ID: id, Why: plainError(err).Error(), Near: fault.From(err).Suggestions, err: err}
	}
	a := &Agent{AgentInfo: infoOf(d.Item)}
	m := menu{snapshot: snapshot, shelf: files, module: d.Module}
	if p := d.Persona; p != nil {
		a.Name = cmp.Or(a.Name, p.Name)
		a.Persona = Persona{Role: p.Role, Style: p.Style, Identity: p.Identity, Focus: p.Focus,
			Principles: p.Principles, Activation: append(slices.Clone(p.Critical), p.Activation...)}
		for _, item := range p.Menu {
			a.Commands = append(a.Commands, Command{Code: item.Code, Description: item.Description})
			m.items = append(m.items, menuItem{Command: a.Commands[len(a.Commands)-1], does: item.Does})
		}
	}
	for _, f := range d.Files {
		if path, ok := files.pathOf(f.URI); ok && !slices.Contains(a.Files, path) {
			a.Files = append(a.Files, path)
		}
	}
	if m.heading, m.persona, err = snapshot.Character(id); err != nil {
		return nil, menu{}, plainError(err)
	}
	return a, m, nil
}

package resolve

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Target is the project and time to resolve an item for.
type Target struct {
	// Project is the absolute path of the caller's project; if "", it is left open.
	Project string
	// Now is the time, with the date for {date}.
	Now time.Time
}

// resolver fills in the placeholders of one item's texts.
type resolver struct {
	c      *catalog.Catalog
	i      *catalog.Item
	target Target
	// from are the configurations for the item, as the module sees them.
	from   []settings
	module string
	// base are the values of the entry file, own the same with the values of the file in hand.
	base, own map[string]string
	// shown reports whether the item's settings are shown with the text.
	shown bool
	// keepDate leaves {date} as it is; kept records any {date} left.
	keepDate, kept bool
	// tables are the merged settings of a skill: agent or workflow.
	tables map[string]any
	open   []string
	// proposals are the defaults of modules, in order of precedence; usedProposals are the keys filled in
	// from them.
	proposals     []map[string]string
	usedProposals []string
	// within are the placeholders whose values are being filled in, filled is the total size of
	// values so far.
	within []string
	filled int
}

// newResolver returns a resolver for the texts of an item.
func newResolver(c *catalog.Catalog, i *catalog.Item, t Target) (*resolver, error) {
	r := &resolver{c: c, i: i, target: t, base: map[string]string{}, own: map[string]string{}, tables: map[string]any{}}
	return r, r.configure(i.Module)
}

// configure reads the configuration as a module sees it.
func (r *resolver) configure(module string) error {
	r.module, r.from = module, nil
	for _, in := range r.configuredInstallations() {
		s, err := readSettings(in, module)
		if err != nil {
			return err
		}
		r.from = append(r.from, s)
	}
	r.proposals = nil
	for _, in := range r.proposingInstallations() {
		r.proposals = append(r.proposals, proposedSettings(in, module), proposedSettings(in, "core"))
	}
	return nil
}

// loadLayers merges the layers of a skill's customization: its own, the project's, the person's.
// An unreadable layer is an error. It returns the addresses of the layers over the skill's own, and
// the skill's own values.
func (r *resolver) loadLayers() (files []string, defaults map[string]any, err error) {
	i := r.i
	if !i.Skill {
		return nil, nil, nil
	}
	base, there, err := readLayer(i.Origin, path.Join(i.Dir, catalog.CustomizeFile))
	if fault.Is(err, fault.InvalidArgument) {
		err = fault.From(err).WithHint("install the module again")
	}
	if err != nil || !there {
		return nil, nil, err
	}
	all := []map[string]any{base}
	in, id := r.customizingInstallation(), path.Base(i.Dir)
	if in != nil && in.Layout == catalog.LayoutV6 {
		for _, ending := range []string{".toml", ".user.toml"} {
			name := path.Join(in.Dir, "custom", id+ending)
			values, there, err := readLayer(in.Origin, name)
			if err != nil {
				return nil, nil, err
			}
			if there {
				all, files = append(all, values), append(files, in.Origin.URI(name))
			}
		}
	}
	if r.tables, err = format.MergeLayers(all...); err != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "the customization of %s does not fit together: %w", id, err).
			WithHint("correct %s", strings.Join(files, ", "))
	}
	return files, base, nil
}

// configuredInstallations returns the installations with a configuration for an item: the project's before the
// item's own, and the others after it.
func (r *resolver) configuredInstallations() []*catalog.Installation {
	i := r.i
	if i.Installation != nil && i.Installation.Layout == catalog.LayoutV4 {
		return classicConfigurations(i)
	}
	var out []*catalog.Installation
	add := func(in *catalog.Installation) {
		if in != nil && !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	if i.Installation != nil && i.Installation.Layout == catalog.LayoutV6 && i.Origin.Main {
		add(i.Installation)
	}
	for _, f := range r.c.Origins() {
		for _, in := range f.Installations {
			if in.Layout == catalog.LayoutV6 && (f.Main || f.Name == i.Origin.Name) {
				add(in)
			}
		}
	}
	add(i.Installation)
	return out
}

// proposingInstallations returns the installations with proposed defaults for an item: its own, its neighbours, and the
// core's, wherever it is. Nothing else of a foreign source counts.
func (r *resolver) proposingInstallations() []*catalog.Installation {
	i := r.i
	var own, others []*catalog.Installation
	for _, f := range r.c.Origins() {
		for _, in := range f.Installations {
			switch {
			case in == i.Installation:
				own = append([]*catalog.Installation{in}, own...)
			case f == i.Origin && len(in.Described) > 0:
				own = append(own, in)
			case in.Described["core"] != "":
				others = append(others, in)
			}
		}
	}
	return append(own, others...)
}

// classicConfigurations returns the configurations of an item of version 4: packs go by the configuration
// of the core.
func classicConfigurations(i *catalog.Item) []*catalog.Installation {
	out := []*catalog.Installation{i.Installation}
	for _, in := range i.Origin.Installations {
		if in.Layout == catalog.LayoutV4 && in != i.Installation && catalog.IsNamed(path.Base(in.Dir), "bmad-core") {
			out = append(out, in)
		}
	}
	return out
}

// customizingInstallation returns the installation whose customization applies to an item: the project's.
func (r *resolver) customizingInstallation() *catalog.Installation {
	for _, in := range r.configuredInstallations() {
		if in.Layout == catalog.LayoutV6 {
			return in
		}
	}
	return r.i.Installation
}

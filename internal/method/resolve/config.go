package resolve

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// ConfigView is the configuration in force, for people.
type ConfigView struct {
	Installation string         `json:"installation"`
	Source       string         `json:"source"`
	Version      string         `json:"version,omitempty"`
	Files        []string       `json:"files"`
	Values       map[string]any `json:"values"`
}

// maxModules bounds the modules whose configuration is shown.
const maxModules = 200

// Config returns the configuration of each installation, without secrets.
func Config(c *catalog.Catalog) ([]ConfigView, error) {
	if c.Empty() {
		return nil, catalog.NoInstallation()
	}
	out := []ConfigView{}
	for _, f := range c.Origins() {
		for _, in := range f.Installations {
			if in.Layout == catalog.LayoutSkills {
				continue
			}
			view := ConfigView{Installation: in.Dir, Source: f.Name, Version: in.Version, Files: []string{}, Values: map[string]any{}}
			modules := configuredModules(in)
			s, err := readSettings(in, modules[:min(len(modules), maxModules)]...)
			if err != nil {
				return nil, err
			}
			for key, value := range s.central {
				view.Values[key] = value
			}
			for name, values := range s.modules {
				view.Values[cmp.Or(name, "core-config")+".yaml"] = values
			}
			for _, file := range s.files {
				view.Files = format.AppendNew(view.Files, f.URI(file))
			}
			slices.Sort(view.Files)
			view.Values, _ = maskValue(view.Values).(map[string]any)
			out = append(out, view)
		}
	}
	return out, nil
}

// configuredModules returns the modules with a possible configuration.
func configuredModules(in *catalog.Installation) []string {
	modules := slices.Collect(maps.Keys(in.Modules))
	if entries, err := fs.ReadDir(in.Origin.FS, in.Dir); err == nil {
		for _, e := range entries {
			if e.IsDir() && in.Origin.Has(path.Join(in.Dir, e.Name(), "config.yaml")) {
				modules = append(modules, e.Name())
			}
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

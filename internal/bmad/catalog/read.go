package catalog

import (
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/format"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// Read returns the bytes of a file, as they are.
func (c *Catalog) Read(r Ref) (TextFile, error) {
	f, name, err := c.Locate(r)
	if err != nil {
		return TextFile{}, err
	}
	return f.File(name)
}

// LookUp finds the file of an address: by its path in a source, else in an installation.
func (c *Catalog) LookUp(r Ref) (*Origin, string, bool) {
	for _, f := range c.origins {
		if (r.Source == "" || f.Name == r.Source) && f.Has(r.Path) {
			return f, r.Path, true
		}
	}
	for _, f := range c.origins {
		if r.Source != "" && f.Name != r.Source {
			continue
		}
		if script, ok := f.script(r.Path); ok {
			return f, script, true
		}
		for _, in := range f.Installations {
			if in.Layout == LayoutSkills {
				continue
			}
			places, _ := in.Places(r.Path)
			for _, name := range places {
				if f.Has(name) {
					return f, name, true
				}
			}
		}
	}
	return nil, "", false
}

// Locate is LookUp with an error that explains why an address leads nowhere.
func (c *Catalog) Locate(r Ref) (*Origin, string, error) {
	if len(c.origins) == 0 || c.Empty() && len(c.items) == 0 {
		return nil, "", NoInstallation()
	}
	if f, name, ok := c.LookUp(r); ok {
		return f, name, nil
	}
	if names := c.sourceNames(); r.Source != "" && !slices.Contains(names, r.Source) {
		return nil, "", fault.New(fault.NotFound, "there is no source %q", r.Source).WithHint("the sources are: %s", strings.Join(names, ", "))
	}
	err := fault.New(fault.NotFound, "no installation has a file %q", r.Path)
	if like := c.like(r.Path); len(like) > 0 {
		return nil, "", err.WithHint("did you mean %s?", strings.Join(like, ", "))
	}
	return nil, "", err.WithHint("list the agents, workflows, tasks or files: lists give their addresses")
}

func (c *Catalog) sourceNames() []string {
	var out []string
	for _, f := range c.origins {
		out = append(out, f.Name)
	}
	return out
}

// like returns the addresses of items whose files have the same name, or lie in a folder of
// the same name.
func (c *Catalog) like(name string) []string {
	var out []string
	want := strings.ToLower(path.Base(name))
	for _, i := range c.items {
		if i.Path == "" || len(out) == 3 {
			continue
		}
		if base := strings.ToLower(path.Base(i.Path)); base == want && want != "skill.md" && want != "workflow.md" && want != "workflow.yaml" ||
			format.Stem(base) == format.Stem(want) && format.Stem(want) != "skill" && format.Stem(want) != "workflow" || path.Base(i.Dir) == path.Base(path.Dir(name)) && path.Dir(name) != "." {
			out = format.AppendNew(out, i.URI)
		}
	}
	return out
}

package resolve

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Text returns a file with placeholders filled in, as the file's item sees it.
func Text(c *catalog.Catalog, ref catalog.Ref, t Target) (catalog.TextFile, []string, error) {
	f, name, err := c.Locate(ref)
	if err != nil {
		return catalog.TextFile{}, nil, err
	}
	file, err := f.File(name)
	if err != nil {
		return catalog.TextFile{}, nil, err
	}
	item := itemOf(f, name)
	r, err := newResolver(c, item, t)
	if err != nil {
		return catalog.TextFile{}, nil, err
	}
	_, defaults, err := r.loadLayers()
	if err != nil {
		return catalog.TextFile{}, nil, err
	}
	text := format.Normalize(file.Data)
	switch {
	case item.Skill && name == path.Join(item.Dir, catalog.CustomizeFile) && len(r.tables) > 0:
		data, err := yaml.Marshal(r.fillValue(r.tables))
		if err != nil {
			return catalog.TextFile{}, nil, fault.New(fault.InvalidArgument, "the settings %s cannot be shown: %w", name, err).WithHint("read the file as it is")
		}
		file.Data, file.MIMEType = data, catalog.MIMEType(".yaml")
		return file, r.open, nil
	case item.Skill && path.Ext(name) == ".md" && entryIsTemplate(item):
		text, err = r.render(text, defaults)
	default:
		entry := text
		if name != item.Path && item.Kind != "" {
			if first, err := item.Origin.File(item.Path); err == nil {
				entry = format.Normalize(first.Data)
			}
		}
		if item.Kind != "" {
			if err := r.readEntryValues(entry); err != nil {
				return catalog.TextFile{}, nil, err
			}
		}
		text, err = r.filledText(name, text)
	}
	file.Data = []byte(text)
	return file, r.open, err
}

// itemOf returns the item of a file; a bare one if there is none.
func itemOf(f *catalog.Origin, name string) *catalog.Item {
	var best *catalog.Item
	for _, i := range f.Items {
		if i.Path == name {
			return i
		}
		ownsFolder := i.Skill || i.Kind == catalog.Workflow && i.Installation.Layout == catalog.LayoutV6
		deeper := best == nil || len(i.Dir) > len(best.Dir)
		if ownsFolder && deeper && strings.HasPrefix(name, i.Dir+"/") {
			best = i
		}
	}
	if best != nil {
		return best
	}
	bare := &catalog.Item{Origin: f, Source: f.Name, Path: name, Dir: path.Dir(name)}
	for _, in := range f.Installations {
		if in.Dir == "." || strings.HasPrefix(name, in.Dir+"/") {
			bare.Installation = in
			bare.Module = in.ModuleOf(name)
		}
	}
	return bare
}

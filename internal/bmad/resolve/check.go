package resolve

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/format"
)

// Check returns the catalog's problems and those of the customization. Finding the latter takes
// reading all of it, which lists do without.
func Check(c *catalog.Catalog) []catalog.Problem {
	out := c.Problems()
	for _, f := range c.Origins() {
		for _, in := range f.Installations {
			if in.Layout != catalog.LayoutV6 {
				continue
			}
			for _, file := range customFiles(in) {
				if text := customProblem(c, in, file); text != "" {
					out = append(out, catalog.Problem{Source: f.Name, Path: file, Text: text})
				}
			}
		}
	}
	return out
}

// customFiles lists the files of customization of an installation.
func customFiles(in *catalog.Installation) []string {
	var out []string
	entries := 0
	for _, dir := range []string{"custom", "_config/agents", "_cfg/agents"} {
		in.Origin.EachFile(path.Join(in.Dir, dir), &entries, func(name string, _ int64) {
			if strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".customize.yaml") {
				out = append(out, name)
			}
		})
	}
	return out
}

// customProblem returns why a file of customization has no effect, or "".
func customProblem(c *catalog.Catalog, in *catalog.Installation, file string) string {
	text, err := settingsText(in.Origin, file)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(file, ".yaml") {
		var custom format.Customization
		if err := yaml.Unmarshal([]byte(text), &custom); err != nil {
			return "it cannot be used: " + format.YAMLError(err).Error()
		}
		return ""
	}
	if _, err := format.ParseTOML(text, format.MaxKeys(file)); err != nil {
		return "it is not valid TOML: " + err.Error()
	}
	id := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".toml"), ".user")
	if id == "config" || path.Base(path.Dir(file)) != "custom" {
		return ""
	}
	for _, f := range c.Origins() {
		if i := f.Skills[id]; i != nil {
			return settingProblem(c, i)
		}
	}
	return "there is no skill " + id + " that it could customize"
}

// settingProblem names the setting of a rendered skill that would stop its renderer, or "".
func settingProblem(c *catalog.Catalog, i *catalog.Item) string {
	if !entryIsTemplate(i) {
		return ""
	}
	r, err := newResolver(c, i, Target{})
	if err != nil {
		return "" // reported for the other file
	}
	_, defaults, err := r.loadLayers()
	if err != nil {
		return ""
	}
	key, wrong := unusable("workflow", r.tables["workflow"], defaults["workflow"])
	if wrong == "" {
		return ""
	}
	return "the setting " + key + " cannot be used: " + wrong
}

// unusable returns the first changed setting that would stop a renderer. A setting without a
// default is the person's own.
func unusable(dotted string, v, usual any) (key, wrong string) {
	usually, ok := usual.(map[string]any)
	if !ok {
		_, wrong = renderSetting(dotted, v, usual)
		return dotted, wrong
	}
	table, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if usually[name] == nil || reflect.DeepEqual(table[name], usually[name]) {
			continue
		}
		if key, wrong = unusable(dotted+"."+name, table[name], usually[name]); wrong != "" {
			return key, wrong
		}
	}
	return "", ""
}

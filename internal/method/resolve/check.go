package resolve

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Check returns the problems of the catalog and of the customization. Finding the latter takes reading all
// of it, which lists do without.
func Check(c *catalog.Catalog) []catalog.Problem {
	out := c.Problems()
	for _, f := range c.Origins() {
		for _, in := range f.Installations {
			if in.Layout != catalog.LayoutV6 {
				continue
			}
			for _, file := range customFiles(in) {
				if text := customProblem(c, in, file); !text.Empty() {
					out = append(out, catalog.NewProblem(f.Name, file, text))
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

// customProblem returns why a file of customization has no effect, or nothing.
func customProblem(c *catalog.Catalog, in *catalog.Installation, file string) lang.Text {
	text, err := settingsText(in.Origin, file)
	if err != nil {
		return lang.Of(err)
	}
	if strings.HasSuffix(file, ".yaml") {
		var custom format.Customization
		if err := yaml.Unmarshal([]byte(text), &custom); err != nil {
			return lang.T("it cannot be used: %s", format.YAMLError(err))
		}
		return lang.Text{}
	}
	if _, err := format.ParseTOML(text, format.MaxKeys(file)); err != nil {
		return lang.T("it is not valid TOML: %v", err)
	}
	id := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".toml"), ".user")
	if id == "config" || path.Base(path.Dir(file)) != "custom" {
		return lang.Text{}
	}
	for _, f := range c.Origins() {
		if i := f.Skills[id]; i != nil {
			return settingProblem(c, i)
		}
	}
	return lang.T("the skill %s, which it customizes, is not installed", id)
}

// settingProblem names the setting of a rendered skill that would stop the renderer, or nothing.
func settingProblem(c *catalog.Catalog, i *catalog.Item) lang.Text {
	if !entryIsTemplate(i) {
		return lang.Text{}
	}
	r, err := newResolver(c, i, Target{})
	if err != nil {
		return lang.Text{} // reported for the other file
	}
	_, defaults, err := r.loadLayers()
	if err != nil {
		return lang.Text{}
	}
	key, wrong := unusableSetting("workflow", r.tables["workflow"], defaults["workflow"])
	if wrong.Empty() {
		return lang.Text{}
	}
	return lang.T("the setting %s cannot be used: %s", key, wrong)
}

// unusableSetting returns the first changed setting that would stop a renderer. A setting without a default is
// the person's own.
func unusableSetting(dotted string, v, usual any) (key string, wrong lang.Text) {
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
		if key, wrong = unusableSetting(dotted+"."+name, table[name], usually[name]); !wrong.Empty() {
			return key, wrong
		}
	}
	return "", lang.Text{}
}

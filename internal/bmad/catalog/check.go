package catalog

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Check returns what was left out, and what of the customization could not be used: to find
// that takes reading all of it, which a list does without.
func (c *Catalog) Check() []Problem {
	out := c.Problems()
	for _, f := range c.sources {
		for _, in := range f.installs {
			if in.layout != LayoutV6 {
				continue
			}
			for _, file := range in.customFiles() {
				if text := c.customProblem(in, file); text != "" {
					out = append(out, Problem{Source: f.Name, Path: file, Text: text})
				}
			}
		}
	}
	return out
}

// customFiles lists the files of customization of an installation.
func (in *installation) customFiles() []string {
	var out []string
	entries := 0
	for _, dir := range []string{"custom", "_config/agents", "_cfg/agents"} {
		in.in.filesIn(path.Join(in.dir, dir), &entries, func(name string, _ int64) {
			if strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".customize.yaml") {
				out = append(out, name)
			}
		})
	}
	return out
}

// customProblem says why a file of customization counts for nothing; "" where it does.
func (c *Catalog) customProblem(in *installation, file string) string {
	text, err := in.in.settingsText(file)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(file, ".yaml") {
		var custom customization
		if err := yaml.Unmarshal([]byte(text), &custom); err != nil {
			return "it cannot be used: " + yamlError(err).Error()
		}
		return ""
	}
	if _, err := parseTOML(text, keysOf(file)); err != nil {
		return "it is not valid TOML: " + err.Error()
	}
	id := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".toml"), ".user")
	if id == "config" || path.Base(path.Dir(file)) != "custom" {
		return ""
	}
	for _, f := range c.sources {
		if i := f.skills[id]; i != nil {
			return c.settingProblem(i)
		}
	}
	return "there is no skill " + id + " that it could customize"
}

// settingProblem says which setting of a rendered skill its renderer would stop at.
func (c *Catalog) settingProblem(i *Item) string {
	if !i.rendered() {
		return ""
	}
	r, err := c.resolver(i, Context{})
	if err != nil {
		return "" // of another file, which says it
	}
	_, defaults, err := r.layered()
	if err != nil {
		return ""
	}
	key, wrong := unusable("workflow", r.tables["workflow"], defaults["workflow"])
	if wrong == "" {
		return ""
	}
	return "the setting " + key + " cannot be used: " + wrong
}

// unusable returns the first of some settings that a renderer would stop at, of those that
// somebody has changed. One that is not among what is usual is the person's own.
func unusable(dotted string, v, usual any) (key, wrong string) {
	usually, ok := usual.(map[string]any)
	if !ok {
		_, wrong = written(dotted, v, usual)
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

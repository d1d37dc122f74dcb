package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// settings is the configuration of one installation.
type settings struct {
	// central has what the layers of config.toml say together.
	central map[string]any
	// modules has what the config.yaml of each module says; that of version 4 is of "".
	modules map[string]map[string]any
	// files are the paths of what was read.
	files []string
}

// secretKey finds the keys whose values are shown to nobody, secretField those of which that is
// true where the value is a text: as a table it has other things too.
var (
	secretKey   = regexp.MustCompile(`(?i)token|passw(or)?d|passphrase|passcode|secret|credential|(api|private|access|signing|ssh|encryption)[-_. ]?key|(^|[-_.])pwd($|[-_.])`)
	secretField = regexp.MustCompile(`(?i)(^|[-_. ])(pass|pat|auth|authorization|bearer|cookie|dsn)$`)
)

// secretPart finds what no value shows, whatever its key: the login of an address, what
// follows Bearer if it is no word, and what is given to a name of a secret.
var secretPart = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)(?:[^\s/?#@:]*:[^\s/?#@]+|[^\s/?#@:]{20,})@|(\bbearer )[a-z0-9._~+/=-]*[0-9][a-z0-9._~+/=-]*|(\b[a-z0-9_]*(?:api_?key|token|password|passwd|secret)=)[^\s&]+`)

// Masked stands for the value of a secret.
const Masked = "********"

func isSecret(key string) bool { return secretKey.MatchString(key) || secretField.MatchString(key) }

// unsecret returns a text without the secrets in it.
func unsecret(text string) string {
	return secretPart.ReplaceAllStringFunc(text, func(found string) string {
		m := secretPart.FindStringSubmatch(found)
		if m[1] != "" {
			return m[1] + Masked + "@"
		}
		return cmp.Or(m[2], m[3]) + Masked
	})
}

// readSettings reads the configuration of an installation for some modules. A layer that is
// there and cannot be read is an error: to go on without it would be to act by other
// settings than the person's.
func (in *installation) readSettings(modules ...string) (settings, error) {
	s := settings{central: map[string]any{}, modules: map[string]map[string]any{}}
	if in.layout == LayoutSkills {
		return s, nil
	}
	var layers []map[string]any
	for _, layer := range centralFiles {
		values, there, err := in.in.layer(path.Join(in.dir, layer))
		if err != nil {
			return s, err
		}
		if there {
			layers, s.files = append(layers, values), append(s.files, path.Join(in.dir, layer))
		}
	}
	var err error
	if s.central, err = mergeLayers(layers...); err != nil {
		return s, fault.New(fault.InvalidArgument, "the layers of %s do not fit together: %w", path.Join(in.dir, "config.toml"), err).WithHint("correct the layer in %s", path.Join(in.dir, "custom"))
	}
	names := map[string]string{"": "core-config.yaml"}
	if in.layout != LayoutV4 {
		for _, module := range append(slices.Clone(modules), "core") {
			if module != "" {
				names[module] = module + "/config.yaml"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		file := path.Join(in.dir, names[name])
		text, err := in.in.settingsText(file)
		if err != nil {
			return s, err
		}
		if text == "" {
			continue
		}
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			return s, fault.New(fault.InvalidArgument, "the configuration %s is not valid YAML: %w", file, err).WithHint("correct it, or install the module again")
		}
		s.modules[name], s.files = values, append(s.files, file)
	}
	slices.Sort(s.files)
	return s, nil
}

// settingsText reads a file of settings; one that is not there is empty.
func (f *found) settingsText(name string) (string, error) {
	if _, served := f.tree(name); !served {
		return "", nil
	}
	file, err := f.file(name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return text(file.Data), err
}

// layer reads a layer of settings; there is false where there is no such file.
func (f *found) layer(name string) (values map[string]any, there bool, err error) {
	text, err := f.settingsText(name)
	if err != nil || text == "" {
		return nil, false, err
	}
	values, err = parseTOML(text, keysOf(name))
	if err != nil {
		return nil, false, fault.New(fault.InvalidArgument, "the settings %s are not valid TOML: %w", name, err).WithHint("correct that line; without it other settings than yours would count")
	}
	return values, true, nil
}

// value returns the plain value of a key for a module: its own, else the core's, else the
// only one of that name there is.
func (s settings) value(module, key string) (string, bool) {
	if isSecret(key) {
		return "", false
	}
	if strings.Contains(key, ".") {
		return at(s.central, key)
	}
	modules, _ := s.central["modules"].(map[string]any)
	core, _ := s.central["core"].(map[string]any)
	own, _ := modules[module].(map[string]any)
	for _, table := range []map[string]any{own, core, s.modules[module], s.modules["core"], s.modules[""]} {
		if v, ok := plainText(table[key]); ok {
			return v, true
		}
	}
	only := ""
	count := 0
	for _, m := range modules {
		if t, ok := m.(map[string]any); ok {
			if v, ok := plainText(t[key]); ok {
				only = v
				count++
			}
		}
	}
	return only, count == 1
}

// has reports whether somebody has configured a module.
func (s settings) has(module string) bool {
	modules, _ := s.central["modules"].(map[string]any)
	return modules[module] != nil || s.modules[module] != nil || module == "core" && s.central["core"] != nil
}

// at returns the plain value at a dotted path.
func at(values map[string]any, dotted string) (string, bool) {
	v, ok := lookUp(values, dotted)
	if !ok {
		return "", false
	}
	return plainText(v)
}

func lookUp(values map[string]any, dotted string) (any, bool) {
	var now any = values
	for part := range strings.SplitSeq(dotted, ".") {
		table, ok := now.(map[string]any)
		if !ok {
			return nil, false
		}
		if now, ok = table[part]; !ok {
			return nil, false
		}
	}
	return now, true
}

// keys are what a role needs to know of its project in every layout; others are found by
// the placeholders that name them.
var keys = []string{
	"user_name", "communication_language", "document_output_language", "user_skill_level", "project_name", "output_folder",
	"planning_artifacts", "implementation_artifacts", "project_knowledge",
}

// configured returns the installations whose configuration counts for an item: the
// project's before its own, and the others after it.
func (c *Catalog) configured(i *Item) []*installation {
	if i.install != nil && i.install.layout == LayoutV4 {
		return i.configuredClassic()
	}
	var out []*installation
	add := func(in *installation) {
		if in != nil && !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	if i.install != nil && i.install.layout == LayoutV6 && i.in.Main {
		add(i.install)
	}
	for _, f := range c.sources {
		for _, in := range f.installs {
			if in.layout == LayoutV6 && (f.Main || f.Name == i.in.Name) {
				add(in)
			}
		}
	}
	add(i.install)
	return out
}

// proposing returns the installations whose modules may propose what nobody has set for an
// item: its own, those beside it, and the core's, wherever that is. Nothing else of a foreign
// source counts.
func (c *Catalog) proposing(i *Item) []*installation {
	var own, others []*installation
	for _, f := range c.sources {
		for _, in := range f.installs {
			switch {
			case in == i.install:
				own = append([]*installation{in}, own...)
			case f == i.in && len(in.described) > 0:
				own = append(own, in)
			case in.described["core"] != "":
				others = append(others, in)
			}
		}
	}
	return append(own, others...)
}

// configuredClassic returns those of an item of version 4: packs go by the configuration of
// the core.
func (i *Item) configuredClassic() []*installation {
	out := []*installation{i.install}
	for _, in := range i.in.installs {
		if in.layout == LayoutV4 && in != i.install && isNamed(path.Base(in.dir), "bmad-core") {
			out = append(out, in)
		}
	}
	return out
}

// custom returns the installation whose customization goes for an item: the project's.
func (c *Catalog) custom(i *Item) *installation {
	for _, in := range c.configured(i) {
		if in.layout == LayoutV6 {
			return in
		}
	}
	return i.install
}

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

// Config returns the configuration of each installation, without its secrets.
func (c *Catalog) Config() ([]ConfigView, error) {
	if c.Empty() {
		return nil, NoInstallation()
	}
	out := []ConfigView{}
	for _, f := range c.sources {
		for _, in := range f.installs {
			if in.layout == LayoutSkills {
				continue
			}
			view := ConfigView{Installation: in.dir, Source: f.Name, Version: in.version, Files: []string{}, Values: map[string]any{}}
			modules := in.configuredModules()
			s, err := in.readSettings(modules[:min(len(modules), maxModules)]...)
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
				view.Files = appendNew(view.Files, f.uri(file))
			}
			slices.Sort(view.Files)
			view.Values, _ = masked(view.Values).(map[string]any)
			out = append(out, view)
		}
	}
	return out, nil
}

// configuredModules returns the modules that have a configuration, or may have one.
func (in *installation) configuredModules() []string {
	modules := slices.Collect(maps.Keys(in.modules))
	if entries, err := fs.ReadDir(in.in.FS, in.dir); err == nil {
		for _, e := range entries {
			if e.IsDir() && in.in.has(path.Join(in.dir, e.Name(), "config.yaml")) {
				modules = append(modules, e.Name())
			}
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

// masked returns a value without secrets.
func masked(v any) any {
	switch v := v.(type) {
	case string:
		return unsecret(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		named, _ := v["name"].(string) // {name: API_KEY, value: …}
		for k, value := range v {
			if _, table := value.(map[string]any); isSecret(k) && (!table || secretKey.MatchString(k)) || k == "value" && isSecret(named) {
				out[k] = Masked
				continue
			}
			out[k] = masked(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = masked(value)
		}
		return out
	case map[any]any: // keys of YAML that are no text
		out := make(map[string]any, len(v))
		for k, value := range v {
			out[fmt.Sprint(k)] = value
		}
		return masked(out)
	}
	return v
}

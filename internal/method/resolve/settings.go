package resolve

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// settings is the configuration of one installation.
type settings struct {
	// central is the merged configuration of config.toml.
	central map[string]any
	// modules has the config.yaml of each module; version 4 has the key "".
	modules map[string]map[string]any
	// files are the paths of all read files.
	files []string
}

// readSettings reads the configuration of an installation for some modules. An unreadable layer is
// an error: if it were left out, the item would act by other settings than the person's.
func readSettings(in *catalog.Installation, modules ...string) (settings, error) {
	s := settings{central: map[string]any{}, modules: map[string]map[string]any{}}
	if in.Layout == catalog.LayoutSkills {
		return s, nil
	}
	var layers []map[string]any
	for _, layer := range catalog.CentralFiles {
		values, there, err := readLayer(in.Origin, path.Join(in.Dir, layer))
		if err != nil {
			return s, err
		}
		if there {
			layers, s.files = append(layers, values), append(s.files, path.Join(in.Dir, layer))
		}
	}
	var err error
	if s.central, err = format.MergeLayers(layers...); err != nil {
		return s, fault.New(fault.InvalidArgument, "the layers of %s do not fit together: %w",
			path.Join(in.Dir, "config.toml"), err).WithHint("correct the layer in %s", path.Join(in.Dir, "custom"))
	}
	names := map[string]string{"": "core-config.yaml"}
	if in.Layout != catalog.LayoutV4 {
		for _, module := range append(slices.Clone(modules), "core") {
			if module != "" {
				names[module] = module + "/config.yaml"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		file := path.Join(in.Dir, names[name])
		text, err := settingsText(in.Origin, file)
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

// settingsText reads a file of settings; a missing one is empty.
func settingsText(f *catalog.Origin, name string) (string, error) {
	if !f.Serves(name) {
		return "", nil
	}
	file, err := f.File(name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return format.Normalize(file.Data), err
}

// readLayer reads one layer of settings; there reports whether the file exists.
func readLayer(f *catalog.Origin, name string) (values map[string]any, there bool, err error) {
	text, err := settingsText(f, name)
	if err != nil || text == "" {
		return nil, false, err
	}
	values, err = format.ParseTOML(text, format.MaxKeys(name))
	if err != nil {
		return nil, false, fault.New(fault.InvalidArgument, "the settings %s are not valid TOML: %w", name,
			err).WithHint("correct that line; without it other settings than yours would count")
	}
	return values, true, nil
}

// value returns the plain value of a key for a module: its own, else the core's, else the only one that
// modules give it.
func (s settings) value(module, key string) (string, bool) {
	if isSecret(key) {
		return "", false
	}
	if strings.Contains(key, ".") {
		return textAt(s.central, key)
	}
	modules, _ := s.central["modules"].(map[string]any)
	core, _ := s.central["core"].(map[string]any)
	own, _ := modules[module].(map[string]any)
	for _, table := range []map[string]any{own, core, s.modules[module], s.modules["core"], s.modules[""]} {
		if v, ok := format.PlainText(table[key]); ok {
			return v, true
		}
	}
	var only []string
	for _, m := range modules {
		if t, ok := m.(map[string]any); ok {
			if v, ok := format.PlainText(t[key]); ok && !slices.Contains(only, v) {
				only = append(only, v)
			}
		}
	}
	if len(only) != 1 {
		return "", false
	}
	return only[0], true
}

// ownKeys returns the keys of a module's own settings, in order.
func (s settings) ownKeys(module string) []string {
	modules, _ := s.central["modules"].(map[string]any)
	own, _ := modules[module].(map[string]any)
	return append(slices.Sorted(maps.Keys(own)), slices.Sorted(maps.Keys(s.modules[module]))...)
}

// hasModule reports whether somebody has configured a module.
func (s settings) hasModule(module string) bool {
	if module == "core" && s.central["core"] != nil {
		return true
	}
	modules, _ := s.central["modules"].(map[string]any)
	return modules[module] != nil || s.modules[module] != nil
}

// textAt returns the plain value at a dotted path.
func textAt(values map[string]any, dotted string) (string, bool) {
	v, ok := lookUpDotted(values, dotted)
	if !ok {
		return "", false
	}
	return format.PlainText(v)
}

func lookUpDotted(values map[string]any, dotted string) (any, bool) {
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

// personal are the settings with no answer but the person's: a module's default name and language are
// nobody's.
var personal = []string{"user_name", "communication_language", "document_output_language"}

// proposedSettings returns the default settings of a module from the repository: the answers proposed by
// the installer, in its notation.
func proposedSettings(in *catalog.Installation, module string) map[string]string {
	name := in.Described[module]
	if name == "" {
		return nil
	}
	text, err := settingsText(in.Origin, name)
	values := map[string]yaml.Node{}
	if err != nil || yaml.Unmarshal([]byte(text), &values) != nil {
		return nil // reported when it was listed
	}
	out := map[string]string{}
	for key, node := range values {
		var setting struct {
			Default any    `yaml:"default"`
			Result  string `yaml:"result"`
		}
		if node.Kind != yaml.MappingNode || node.Decode(&setting) != nil {
			continue
		}
		value, ok := format.PlainText(setting.Default)
		if !ok && strings.Contains(setting.Result, "{value}") || slices.Contains(personal, key) {
			continue
		}
		if result := cmp.Or(setting.Result, "{value}"); result != "{value}" || ok {
			out[key] = strings.ReplaceAll(result, "{value}", value)
		}
	}
	return out
}

// secretKey finds the keys of secret values; secretField finds keys whose values are secret only as text: a
// table holds other values too.
var (
	secretKey   = pattern.New(`(?i)token|passw(or)?d|passphrase|passcode|secret|credential|(api|private|access|signing|ssh|encryption)[-_. ]?key|(^|[-_.])pwd($|[-_.])`)
	secretField = pattern.New(`(?i)(^|[-_. ])(pass|pat|auth|authorization|bearer|cookie|dsn)$`)
)

// secretPart finds secrets in any value, under any key: the login of an address, the text after Bearer if
// it is not a word, and a value assigned to the name of a secret.
var secretPart = pattern.New(`(?i)([a-z][a-z0-9+.-]*://)(?:[^\s/?#@:]*:[^\s/?#@]+|[^\s/?#@:]{20,})@` +
	`|(\bbearer )[a-z0-9._~+/=-]*[0-9][a-z0-9._~+/=-]*|(\b[a-z0-9_]*(?:api_?key|token|password|passwd` +
	`|secret)=)[^\s&]+`)

// Masked stands for the value of a secret.
const Masked = "********"

func isSecret(key string) bool { return secretKey.MatchString(key) || secretField.MatchString(key) }

// maskText returns a text without the secrets in it.
func maskText(text string) string {
	return secretPart.ReplaceAllStringFunc(text, func(found string) string {
		m := secretPart.FindStringSubmatch(found)
		if m[1] != "" {
			return m[1] + Masked + "@"
		}
		return cmp.Or(m[2], m[3]) + Masked
	})
}

// maskSettings returns the text of a file of settings. One with secrets is written anew without them.
func maskSettings(name, text string) string {
	var values map[string]any
	var err error
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		err = yaml.Unmarshal([]byte(text), &values)
	case ".toml":
		values, err = format.ParseTOML(text, format.MaxKeys(name))
	}
	masked := maskValue(values)
	if err != nil || values == nil || reflect.DeepEqual(masked, any(values)) {
		return text
	}
	out, err := yaml.Marshal(masked)
	if err != nil {
		return text
	}
	return string(out)
}

// maskValue returns a value without secrets.
func maskValue(v any) any {
	switch v := v.(type) {
	case string:
		return maskText(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		named, _ := v["name"].(string) // {name: API_KEY, value: …}
		for k, value := range v {
			secret := isSecret(k)
			if _, table := value.(map[string]any); table {
				secret = secret && secretKey.MatchString(k)
			}
			if k == "value" {
				secret = secret || isSecret(named)
			}
			if secret {
				out[k] = Masked
				continue
			}
			out[k] = maskValue(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = maskValue(value)
		}
		return out
	case map[any]any: // keys of YAML other than text
		out := make(map[string]any, len(v))
		for k, value := range v {
			out[fmt.Sprint(k)] = value
		}
		return maskValue(out)
	}
	return v
}

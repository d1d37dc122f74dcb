package catalog

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// Resolved is an item with everything that it takes to act on it.
type Resolved struct {
	Item Item
	// Persona is that of an agent.
	Persona *Persona
	// Custom are the addresses of the customization that was merged.
	Custom []string
	// Settings has what a skill's own table says after merging, by name: "agent" or "workflow".
	// They can be read by themselves at SettingsURI.
	Settings    map[string]any
	SettingsURI string
	// Config has the values of the configuration that a role needs to know, in order.
	Config []Setting
	// Parts are the texts, the entry file first.
	Parts []Part
	// More are the files that it refers to or that lie with it, to be read one by one.
	More []Reference
	// Open are the placeholders that nothing stands for.
	Open []string
	// Notes say what its reader has to know, such as what was done for them already.
	Notes []string
}

// Setting is a value of the configuration.
type Setting struct{ Key, Value string }

// Part is a text with its placeholders filled in.
type Part struct {
	URI  string
	Text string
	// Size is that of the file, in bytes.
	Size int
}

// Reference is a file to be read when it is needed.
type Reference struct {
	URI  string `json:"uri"`
	What string `json:"what,omitempty"`
	Size int64  `json:"size"`
}

// maxReferences bounds how many files an item refers to.
const maxReferences = 60

// Resolve reads an item for a project.
func (c *Catalog) Resolve(i Item, ctx Context) (*Resolved, error) {
	item := &i
	out := &Resolved{Item: i}
	r, err := c.resolver(item, ctx)
	if err != nil {
		return nil, err
	}
	layers, defaults, err := r.layered()
	if err != nil {
		return nil, err
	}
	out.Custom = layers
	text := ""
	if i.Path != "" {
		file, err := i.in.file(i.Path)
		if err != nil {
			return nil, err
		}
		text = string(file.Data)
	}
	if i.Kind == Agent {
		persona, custom, err := c.persona(item, text, r.tables, defaults)
		if err != nil {
			return nil, err
		}
		out.Persona, out.Custom = persona, append(out.Custom, custom...)
	}
	if err := r.enter(text); err != nil {
		return nil, err
	}
	r.shown = true
	switch {
	case i.Path == "":
		out.Notes = append(out.Notes, "This agent has no file of its own: the configuration describes it, and nothing else does.")
	case i.Skill:
		err = r.skillParts(out, text, defaults)
	case item.inYAML():
		err = r.yamlParts(out, text)
	default:
		err = r.part(out, i.in, i.Path, text)
	}
	if err != nil {
		return nil, err
	}
	if out.Persona != nil {
		r.fillPersona(out.Persona)
	}
	r.prepared(out, text)
	if r.kept {
		out.Notes = append(out.Notes, "{date} in a setting stands for the day on which it is used; today is "+r.ctx.Now.Format(time.DateOnly)+".")
	}
	if note := r.unset(); note != "" {
		out.Notes = append(out.Notes, note)
	}
	if note := r.uninstalledHelp(text); note != "" {
		out.Notes = append(out.Notes, note)
	}
	r.references(out, text)
	out.Open = r.open
	return out, nil
}

// prepared notes the configuration and the settings that the text of an item goes by.
func (r *resolver) prepared(out *Resolved, text string) {
	i := r.i
	for _, key := range keys {
		if v, ok := r.configValue(key); ok {
			out.Config = append(out.Config, Setting{key, r.nested(v, 1, false)})
		}
	}
	for _, table := range []string{"agent", "workflow"} {
		if t, ok := r.tables[table].(map[string]any); ok && (!i.Skill || !isRendered(i, text)) { // the text has them
			out.Settings = map[string]any{table: r.fillValue(t)}
			out.SettingsURI = Ref{Source: i.in.Name, Path: path.Join(i.Dir, customizeFile), Resolved: true}.String()
		}
	}
	if !slices.ContainsFunc(out.Config, func(s Setting) bool { return !slices.Contains(r.proposed, s.Key) }) && i.install.layout != LayoutV4 {
		note := "No configuration of the method was found: speak the person's language"
		if i.install.described[i.Module] == "" {
			note += ", and ask for what the text takes from a configuration"
		}
		out.Notes = append(out.Notes, note+".")
	}
}

// inYAML reports whether a workflow is described in YAML, as those of version 6 were at first.
func (i *Item) inYAML() bool {
	return i.Kind == Workflow && !i.Skill && i.install != nil && i.install.layout == LayoutV6 && path.Ext(i.Path) != ".md"
}

// enter takes the values that the file which begins the item gives to all of its files.
func (r *resolver) enter(text string) error {
	r.base = map[string]string{}
	r.own = r.base
	if !r.i.inYAML() {
		return r.fronted(text)
	}
	var values map[string]any
	if yaml.Unmarshal([]byte(text), &values) != nil {
		for key, value := range scalars(text) {
			r.own[key] = value
		}
	}
	for key, v := range values {
		if s, ok := v.(string); ok {
			r.own[key] = s
		}
	}
	r.dated()
	return r.configuredBy("config_source")
}

// filledText returns the text of a file of the item, filled in. It is the same whether the file
// is a part of the item or is read by itself.
func (r *resolver) filledText(name, text string) (string, error) {
	r.own = maps.Clone(r.base)
	r.filled = 0
	if name == r.i.Path && r.i.inYAML() {
		return r.fill(strings.ReplaceAll(text, "system-generated", cmp.Or(r.own["date"], "system-generated"))), nil
	}
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		for key, value := range scalars(text) {
			r.own[key] = value
		}
		r.dated()
	}
	if name != r.i.Path {
		if err := r.fronted(text); err != nil {
			return "", err
		}
	}
	return r.fill(text), nil
}

// part adds the text of a file to what the item consists of.
func (r *resolver) part(out *Resolved, f *found, name, text string) error {
	filled, err := r.filledText(name, text)
	out.Parts = append(out.Parts, Part{f.uri(name), filled, len(text)})
	return err
}

// Text returns a file with its placeholders filled in, as the item sees it that it belongs
// to.
func (c *Catalog) Text(ref Ref, ctx Context) (File, []string, error) {
	f, name, err := c.locate(ref)
	if err != nil {
		return File{}, nil, err
	}
	file, err := f.file(name)
	if err != nil {
		return File{}, nil, err
	}
	item := c.owning(f, name)
	r, err := c.resolver(item, ctx)
	if err != nil {
		return File{}, nil, err
	}
	_, defaults, err := r.layered()
	if err != nil {
		return File{}, nil, err
	}
	text := string(file.Data)
	switch {
	case item.Skill && name == path.Join(item.Dir, customizeFile) && len(r.tables) > 0:
		data, err := yaml.Marshal(r.fillValue(r.tables))
		if err != nil {
			return File{}, nil, fault.New(fault.InvalidArgument, "the settings %s cannot be shown: %w", name, err).WithHint("read the file as it is")
		}
		file.Data, file.MIMEType = data, MIMEType(".yaml")
		return file, r.open, nil
	case item.Skill && path.Ext(name) == ".md" && item.rendered():
		text, err = r.render(text, defaults)
	default:
		entry := text
		if name != item.Path && item.Kind != "" {
			if first, err := item.in.file(item.Path); err == nil {
				entry = string(first.Data)
			}
		}
		if item.Kind != "" {
			if err := r.enter(entry); err != nil {
				return File{}, nil, err
			}
		}
		text, err = r.filledText(name, text)
	}
	file.Data = []byte(text)
	return file, r.open, err
}

// owning returns the item that a file lies with; a bare one where there is none.
func (c *Catalog) owning(f *found, name string) *Item {
	var best *Item
	for _, i := range f.items {
		if i.Path == name {
			return i
		}
		if (i.Skill || i.Kind == Workflow && i.install.layout == LayoutV6) && strings.HasPrefix(name, i.Dir+"/") && (best == nil || len(i.Dir) > len(best.Dir)) {
			best = i
		}
	}
	if best != nil {
		return best
	}
	bare := &Item{in: f, Source: f.Name, Path: name, Dir: path.Dir(name)}
	for _, in := range f.installs {
		if in.dir == "." || strings.HasPrefix(name, in.dir+"/") {
			bare.install = in
			bare.Module = in.moduleOf(name)
		}
	}
	return bare
}

// resolver returns what fills in the texts of an item.
func (c *Catalog) resolver(i *Item, ctx Context) (*resolver, error) {
	r := &resolver{c: c, i: i, ctx: ctx, base: map[string]string{}, own: map[string]string{}, tables: map[string]any{}}
	return r, r.configure(i.Module)
}

// configure reads the configuration as a module sees it.
func (r *resolver) configure(module string) error {
	r.module, r.from = module, nil
	for _, in := range r.c.configured(r.i) {
		s, err := in.readSettings(module)
		if err != nil {
			return err
		}
		r.from = append(r.from, s)
	}
	r.proposals = nil
	for _, in := range r.c.proposing(r.i) {
		r.proposals = append(r.proposals, in.proposals(module), in.proposals("core"))
	}
	return nil
}

// layered merges the layers of a skill's customization: its own, the project's, the person's.
// A layer that is there and cannot be read is an error. It returns the addresses of the
// layers over the skill's own, and what its own says.
func (r *resolver) layered() (files []string, defaults map[string]any, err error) {
	i := r.i
	if !i.Skill {
		return nil, nil, nil
	}
	base, there, err := i.in.layer(path.Join(i.Dir, customizeFile))
	if fault.Is(err, fault.InvalidArgument) {
		err = fault.From(err).WithHint("install the module again")
	}
	if err != nil || !there {
		return nil, nil, err
	}
	all := []map[string]any{base}
	in, id := r.c.custom(i), path.Base(i.Dir)
	if in != nil && in.layout == LayoutV6 {
		for _, ending := range []string{".toml", ".user.toml"} {
			name := path.Join(in.dir, "custom", id+ending)
			values, there, err := in.in.layer(name)
			if err != nil {
				return nil, nil, err
			}
			if there {
				all, files = append(all, values), append(files, in.in.uri(name))
			}
		}
	}
	if r.tables, err = mergeLayers(all...); err != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "the customization of %s does not fit together: %w", id, err).
			WithHint("correct %s", strings.Join(files, ", "))
	}
	return files, base, nil
}

// skillParts reads the texts of a skill: SKILL.md and, where that only points to it or is to
// be rendered first, the workflow beside it.
func (r *resolver) skillParts(out *Resolved, text string, defaults map[string]any) error {
	i := r.i
	workflow := path.Join(i.Dir, "workflow.md")
	if isRendered(i, text) {
		if file, err := i.in.file(workflow); err == nil {
			out.Notes = append(out.Notes, "This skill is rendered before it is used. That is done: the text below is rendered, and the files it names are when you read them by these addresses. Run no render_skill.py.")
			rendered, err := r.render(string(file.Data), defaults)
			out.Parts = []Part{{Ref{Source: i.in.Name, Path: workflow, Resolved: true}.String(), rendered, len(file.Data)}}
			return err
		}
	}
	if err := r.part(out, i.in, i.Path, text); err != nil {
		return err
	}
	_, body, _ := frontMatter(text)
	if len(body) < 600 && strings.Contains(body, "workflow.md") {
		if file, err := i.in.file(workflow); err == nil {
			if err := r.part(out, i.in, workflow, string(file.Data)); err != nil {
				return err
			}
		}
	}
	if len(r.tables) > 0 && strings.Contains(text, "resolve_customization.py") || strings.Contains(text, "resolve_config.py") {
		out.Notes = append(out.Notes, "The text asks to run a script that resolves the customization of this skill, or the configuration. That is done: use what stands above, and run no script for it.")
	}
	return nil
}

// yamlParts reads a workflow of version 6 that is described in YAML, and its instructions.
func (r *resolver) yamlParts(out *Resolved, text string) error {
	var values map[string]any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		out.Notes = append(out.Notes, "The description of this workflow is not valid YAML ("+oneLine(err.Error())+"): it is shown as it is.")
	}
	if err := r.part(out, r.i.in, r.i.Path, text); err != nil {
		return err
	}
	for _, key := range []string{"instructions", "template", "validation", "data", "brain_techniques"} {
		r.own = r.base
		named := r.nested(r.own[key], 0, false)
		if named == "" || named == "false" {
			continue
		}
		f, name, ok := r.inSource(named)
		if !ok {
			out.Notes = append(out.Notes, "Its "+key+" file "+named+" is not there.")
			continue
		}
		if key != "instructions" {
			out.More = append(out.More, Reference{URI: f.uri(name), What: key})
			continue
		}
		file, err := f.file(name)
		if err != nil {
			out.Notes = append(out.Notes, "Its instructions cannot be read: "+err.Error()+".")
			continue
		}
		if err := r.part(out, f, name, string(file.Data)); err != nil {
			return err
		}
	}
	r.runner(out)
	return nil
}

// runner puts first what says how workflows in YAML are run.
func (r *resolver) runner(out *Resolved) {
	if f, name, err := r.c.locate(Ref{Path: "core/tasks/workflow.xml"}); err == nil {
		out.More = slices.Insert(out.More, 0, Reference{URI: f.uri(name), What: "how a workflow in YAML is run: read this before you run one"})
	}
}

// fronted takes the paths that front matter names, such as nextStep; its name and description
// are of the file and stand for nothing.
func (r *resolver) fronted(text string) error {
	front, _, _ := frontMatter(text)
	for key, value := range front.Values {
		if key != "name" && key != "description" {
			r.own[key] = value
		}
	}
	return r.configuredBy("main_config")
}

// configuredBy reads the configuration that one of a file's own values names: it may be that
// of another module than the file's.
func (r *resolver) configuredBy(key string) error {
	f, name, ok := r.inSource(r.nested(r.own[key], 0, false))
	if !ok || r.own[key] == "" {
		return nil
	}
	for _, in := range f.installs {
		if in.dir == "." || strings.HasPrefix(name, in.dir+"/") {
			return r.configure(in.moduleOf(name))
		}
	}
	return nil
}

// dated gives the date to a file that asks the system for it.
func (r *resolver) dated() {
	if strings.HasPrefix(r.own["date"], "system-generated") {
		r.own["date"], _ = r.named("current_date")
	}
}

// fillValue fills in the texts of settings, but for the date: in a setting it stands for that
// of whenever the setting is used.
func (r *resolver) fillValue(v any) any {
	switch v := v.(type) {
	case string:
		return r.dateless(func() string { return r.fill(unsecret(v)) })
	case []any:
		out := make([]any, len(v))
		for n, item := range v {
			out[n] = r.fillValue(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // in order: what is open is noted on the way
			if out[key] = any(Masked); !isSecret(key) {
				out[key] = r.fillValue(v[key])
			}
		}
		return out
	}
	return v
}

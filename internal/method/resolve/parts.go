package resolve

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// addSkillParts reads the texts of a skill: SKILL.md and, if SKILL.md only points to it or has to be
// rendered first, the workflow beside it.
func (r *resolver) addSkillParts(out *Resolved, text string, defaults map[string]any) error {
	i := r.i
	workflow := path.Join(i.Dir, "workflow.md")
	if isTemplate(i, text) {
		if file, err := i.Origin.File(workflow); err == nil {
			out.Notes = append(out.Notes, "This skill is rendered before it is used. That is done: the text below is "+
				"rendered, and the files it names are when you read them by these addresses. Run no render_skill.py.")
			rendered, err := r.render(format.Normalize(file.Data), defaults)
			out.Parts = []Part{{catalog.Ref{Source: i.Origin.Name, Path: workflow, Resolved: true}.String(), rendered, len(file.Data)}}
			return err
		}
	}
	if err := r.addPart(out, i.Origin, i.Path, text); err != nil {
		return err
	}
	_, body, _ := format.FrontMatter(text)
	if len(body) < 600 && strings.Contains(body, "workflow.md") {
		if file, err := i.Origin.File(workflow); err == nil {
			if err := r.addPart(out, i.Origin, workflow, format.Normalize(file.Data)); err != nil {
				return err
			}
		}
	}
	if len(r.tables) > 0 && strings.Contains(text, "resolve_customization.py") || strings.Contains(text, "resolve_config.py") {
		out.Notes = append(out.Notes, "The text asks to run a script that resolves the customization of this skill, or "+
			"the configuration. That is done: use what stands above, and run no script for it.")
	}
	return nil
}

// addYAMLParts reads a workflow of version 6 in YAML form, and the instructions.
func (r *resolver) addYAMLParts(out *Resolved, text string) error {
	var values map[string]any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		out.Notes = append(out.Notes, "The description of this workflow is not valid YAML ("+format.OneLine(err.Error())+"): it is shown as it is.")
	}
	if err := r.addPart(out, r.i.Origin, r.i.Path, text); err != nil {
		return err
	}
	for _, key := range []string{"instructions", "template", "validation", "data", "brain_techniques"} {
		r.own = r.base
		named := r.fillNested(r.own[key], 0, false)
		if named == "" || named == "false" {
			continue
		}
		f, name, ok := r.inSource(named)
		if !ok {
			out.Notes = append(out.Notes, "Its "+key+" file "+named+" is not there.")
			continue
		}
		if key != "instructions" {
			out.More = append(out.More, Reference{URI: f.URI(name), What: key})
			continue
		}
		file, err := f.File(name)
		if err != nil {
			out.Notes = append(out.Notes, "Its instructions cannot be read: "+err.Error()+".")
			continue
		}
		if err := r.addPart(out, f, name, format.Normalize(file.Data)); err != nil {
			return err
		}
	}
	r.addRunner(out)
	return nil
}

// addRunner puts the instructions for running workflows in YAML first.
func (r *resolver) addRunner(out *Resolved) {
	if f, name, err := r.c.Locate(catalog.Ref{Path: "core/tasks/workflow.xml"}); err == nil {
		out.More = slices.Insert(out.More, 0, Reference{URI: f.URI(name), What: "how a workflow in YAML is run: read this before you run one"})
	}
}

// addPart adds the text of a file to the item's parts.
func (r *resolver) addPart(out *Resolved, f *catalog.Origin, name, text string) error {
	filled, err := r.filledText(name, text)
	out.Parts = append(out.Parts, Part{f.URI(name), filled, len(text)})
	return err
}

// filledText returns the text of a file of the item, filled in. It is the same whether the file
// is a part of the item or is read by itself.
func (r *resolver) filledText(name, text string) (string, error) {
	text = maskSettings(name, text)
	r.own = maps.Clone(r.base)
	r.filled = 0
	if name == r.i.Path && inYAML(r.i) {
		return r.fill(strings.ReplaceAll(text, "system-generated", cmp.Or(r.own["date"], "system-generated"))), nil
	}
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		maps.Copy(r.own, format.Scalars(text))
		r.fillDate()
	}
	if name != r.i.Path {
		if err := r.takeFrontMatter(text); err != nil {
			return "", err
		}
	}
	return r.fill(text), nil
}

// readEntryValues reads the values from the entry file for all files of the item.
func (r *resolver) readEntryValues(text string) error {
	r.base = map[string]string{}
	r.own = r.base
	if !inYAML(r.i) {
		return r.takeFrontMatter(text)
	}
	var values map[string]any
	if yaml.Unmarshal([]byte(text), &values) != nil {
		maps.Copy(r.own, format.Scalars(text))
	}
	for key, v := range values {
		if s, ok := v.(string); ok {
			r.own[key] = s
		}
	}
	r.fillDate()
	return r.configureFrom("config_source")
}

// takeFrontMatter reads the values of front matter, for example the path nextStep; name and description
// describe the file and are not placeholders.
func (r *resolver) takeFrontMatter(text string) error {
	front, _, _ := format.FrontMatter(text)
	for key, value := range front.Values {
		if key != "name" && key != "description" {
			r.own[key] = value
		}
	}
	return r.configureFrom("main_config")
}

// configureFrom reads the configuration named by one of a file's own values, possibly of another module.
func (r *resolver) configureFrom(key string) error {
	f, name, ok := r.inSource(r.fillNested(r.own[key], 0, false))
	if !ok || r.own[key] == "" {
		return nil
	}
	for _, in := range f.Installations {
		if in.Dir == "." || strings.HasPrefix(name, in.Dir+"/") {
			return r.configure(in.ModuleOf(name))
		}
	}
	return nil
}

// fillDate sets the date in a file that takes it from the system.
func (r *resolver) fillDate() {
	if strings.HasPrefix(r.own["date"], "system-generated") {
		r.own["date"], _ = r.lookUpName("current_date")
	}
}

// addSettings adds the configuration and the settings used in the text of an item.
func (r *resolver) addSettings(out *Resolved, text string) {
	i := r.i
	shown := slices.Clone(keys)
	for _, s := range r.from {
		shown = format.AppendNew(shown, s.ownKeys(r.module)...)
	}
	for _, key := range shown[:min(len(shown), maxKeys)] {
		if v, ok := r.configValue(key); ok {
			out.Config = append(out.Config, Setting{key, r.fillNested(v, 1, false)})
		}
	}
	for _, table := range []string{"agent", "workflow"} {
		if t, ok := r.tables[table].(map[string]any); ok && (!i.Skill || !isTemplate(i, text)) { // the text has them
			out.Settings = map[string]any{table: r.fillValue(t)}
			out.SettingsURI = catalog.Ref{Source: i.Origin.Name, Path: path.Join(i.Dir, catalog.CustomizeFile), Resolved: true}.String()
		}
	}
	if !slices.ContainsFunc(out.Config, func(s Setting) bool { return !slices.Contains(r.usedProposals, s.Key) }) && i.Installation.Layout != catalog.LayoutV4 {
		note := "No configuration of the method was found: speak the person's language"
		if i.Installation.Described[i.Module] == "" {
			note += ", and ask for what the text takes from a configuration"
		}
		out.Notes = append(out.Notes, note+".")
	}
}

// fillValue fills in the texts of settings, except the date: in a setting it means the day on which
// the setting is used.
func (r *resolver) fillValue(v any) any {
	switch v := v.(type) {
	case string:
		return r.keepingDate(func() string { return r.fill(maskText(v)) })
	case []any:
		out := make([]any, len(v))
		for n, item := range v {
			out[n] = r.fillValue(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // in order, since open placeholders are recorded
			if out[key] = any(Masked); !isSecret(key) {
				out[key] = r.fillValue(v[key])
			}
		}
		return out
	}
	return v
}

// inYAML reports whether a workflow is described in YAML, as in the first releases of version 6.
func inYAML(i *catalog.Item) bool {
	return i.Kind == catalog.Workflow && !i.Skill && i.Installation != nil && i.Installation.Layout == catalog.LayoutV6 && path.Ext(i.Path) != ".md"
}

// maxKeys bounds the shown settings of the configuration.
const maxKeys = 40

// keys are the settings needed by every role. The module's own follow them; others are found by their
// placeholders.
var keys = []string{
	"user_name", "communication_language", "document_output_language", "user_skill_level", "project_name", "output_folder",
	"planning_artifacts", "implementation_artifacts", "project_knowledge",
}

// unsetNote names the file in place of the configuration of a module nobody has configured.
func (r *resolver) unsetNote() string {
	note := ""
	if name := r.i.Installation.Described[r.i.Module]; name != "" && !slices.ContainsFunc(r.from, func(s settings) bool { return s.hasModule(r.i.Module) }) {
		note = "Nobody has configured the module " + r.i.Module + " here: where the text loads its configuration, go by what the module proposes, " + r.i.Origin.URI(name) + "."
	}
	if len(r.usedProposals) > 0 {
		slices.Sort(r.usedProposals)
		note += " What nobody has set is filled in as the module proposes it: " + strings.Join(r.usedProposals, ", ") + "."
	}
	return strings.TrimSpace(note)
}

// helpNote names the files whose rows an installer would gather in one.
func (r *resolver) helpNote(text string) string {
	if !strings.Contains(text, "bmad-help.csv") {
		return ""
	}
	if _, _, ok := r.c.LookUp(catalog.Ref{Path: "_bmad/_config/bmad-help.csv"}); ok {
		return ""
	}
	var parts []string
	for _, in := range r.i.Origin.Installations {
		for _, name := range in.Helps {
			parts = append(parts, r.i.Origin.URI(name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "The file bmad-help.csv, which an installer creates, is missing. Its content is in " + strings.Join(parts, ", ") + "."
}

package resolve

import (
	"cmp"
	"html"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// readPersona reads an agent's persona from the agent's file and the project's customization; defaults are
// a skill's own settings. It returns the addresses of the customization of an agent other than a skill.
func (r *resolver) readPersona(text string, defaults map[string]any) (*Persona, []string, error) {
	i := r.i
	p := &Persona{Name: i.DisplayName, Title: i.Title, Icon: i.Icon}
	switch {
	case i.Path == "":
		p.Identity = i.Description
		return p, nil, nil
	case i.Skill:
		if agent, ok := r.tables["agent"].(map[string]any); ok {
			p.fromTable(agent)
			if own, ok := defaults["agent"].(map[string]any); ok { // the text uses this name, whatever the layers say
				p.Name, p.Title = cmp.Or(format.PlainString(own["name"]), p.Name), cmp.Or(format.PlainString(own["title"]), p.Title)
			}
			return p, nil, nil
		}
		return p, nil, p.fromManifest(i)
	case i.Installation.Layout == catalog.LayoutV4:
		return p, nil, p.fromBlock(i, text)
	}
	if strings.HasSuffix(i.Path, format.SourceAgentSuffix) {
		var file format.SourceAgent
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "the agent %s is not valid YAML: %w", i.Path, err).WithHint("correct it, or take another version of its repository")
		}
		file.Agent.Agent.Metadata.Name = file.Agent.Metadata.Name
		p.applyCustomization(file.Agent.Customization)
	} else {
		p.fromXML(text)
	}
	return r.customizePersona(p)
}

// fromTable reads the persona of a skill since 6.4.
func (p *Persona) fromTable(t map[string]any) {
	p.Name, p.Title, p.Icon = cmp.Or(format.PlainString(t["name"]), p.Name), cmp.Or(format.PlainString(t["title"]), p.Title), cmp.Or(format.PlainString(t["icon"]), p.Icon)
	p.Role, p.Identity = multiline(t["role"]), multiline(t["identity"])
	p.Style = multiline(t["communication_style"])
	p.Principles, p.Facts = textList(t["principles"]), textList(t["persistent_facts"])
	menu, _ := t["menu"].([]any)
	for _, v := range menu {
		if m, ok := v.(map[string]any); ok {
			p.Menu = append(p.Menu, MenuItem{
				Code: format.PlainString(m["code"]), Description: format.PlainString(m["description"]),
				Does: cmp.Or(format.PlainString(m["skill"]), format.PlainString(m["prompt"])),
			})
		}
	}
}

// fromManifest reads the persona of a skill of 6.3.
func (p *Persona) fromManifest(i *catalog.Item) error {
	name := path.Join(i.Dir, catalog.SkillManifest)
	text, err := settingsText(i.Origin, name)
	if err != nil || text == "" {
		return err
	}
	var m struct {
		Role         string `yaml:"role"`
		Identity     string `yaml:"identity"`
		Style        string `yaml:"communicationStyle"`
		Principles   any    `yaml:"principles"`
		Capabilities any    `yaml:"capabilities"`
	}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return fault.New(fault.InvalidArgument, "the agent's %s is not valid YAML: %w", name, err).WithHint("install the module again, or correct it")
	}
	p.Role, p.Identity, p.Style, p.Principles = m.Role, m.Identity, m.Style, textList(m.Principles)
	return nil
}

var (
	menuItem = pattern.New(`(?s)<item\b([^>]*)>(.*?)</item>`)
	menuCode = pattern.New(`^\[([A-Za-z0-9-]+)\]\s*`)
)

// menuTargets are the attributes of a menu's item with the task to carry out.
var menuTargets = []string{"workflow", "exec", "action", "validate-workflow", "tmpl", "data", "run-workflow", "prompt"}

// newMenuItem returns a menu item. Brackets before the description hold the code.
func newMenuItem(code, description string, at func(target string) string) MenuItem {
	item := MenuItem{Code: code, Description: description}
	if m := menuCode.FindStringSubmatch(description); m != nil {
		item.Code, item.Description = m[1], description[len(m[0]):]
	}
	for _, target := range menuTargets {
		item.Does = cmp.Or(item.Does, at(target))
	}
	return item
}

// fromXML reads the persona of a compiled agent of version 6 by tags, as models read it: much of it is not
// valid XML.
func (p *Persona) fromXML(text string) {
	_, persona, ok := strings.Cut(text, "<persona>")
	if !ok {
		persona = text
	}
	persona, _, _ = strings.Cut(persona, "</persona>")
	part := func(tag string) string {
		_, after, _ := strings.Cut(persona, "<"+tag+">")
		inner, _, closed := strings.Cut(after, "</"+tag+">")
		if !closed {
			return ""
		}
		return format.OneLine(html.UnescapeString(inner))
	}
	p.Role, p.Identity, p.Style = part("role"), part("identity"), part("communication_style")
	p.Principles = splitSentences(part("principles"))
	for _, m := range menuItem.FindAllStringSubmatch(text, -1) {
		a := format.Attributes(m[1])
		item := newMenuItem(a["cmd"], format.OneLine(html.UnescapeString(m[2])), func(target string) string { return a[target] })
		if data := a["data"]; data != item.Does {
			item.Data = data
		}
		p.Menu = append(p.Menu, item)
	}
}

// splitSentences splits a list on one line. After a dash within a sentence the text goes on in lower case.
func splitSentences(line string) []string {
	var out []string
	for n, part := range strings.Split(strings.TrimPrefix(line, "- "), " - ") {
		if first, _ := utf8.DecodeRuneInString(part); n > 0 && unicode.IsLower(first) {
			out[len(out)-1] += " - " + part
		} else if part = strings.TrimSpace(part); part != "" || n == 0 {
			out = append(out, part)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" || s == "-" })
}

// customizePersona applies the project's customization to a persona: a persona there replaces the whole persona,
// in the alphas part by part; the rest is added. The installer may have written it into the agent's file
// already, so nothing is added twice.
func (r *resolver) customizePersona(p *Persona) (*Persona, []string, error) {
	i, in := r.i, r.customizingInstallation()
	for _, folder := range []string{"_config", "_cfg"} {
		name := path.Join(in.Dir, folder, "agents", i.Module+"-"+format.Stem(i.Path)+".customize.yaml")
		text, err := settingsText(in.Origin, name)
		if err != nil {
			return nil, nil, err
		}
		if text == "" {
			continue
		}
		var custom format.Customization
		if err := yaml.Unmarshal([]byte(text), &custom); err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "the customization %s cannot be used: %w", name,
				format.YAMLError(err)).WithHint("correct that line; without it the agent would not be the one you have made")
		}
		if says := custom.Persona; folder == "_config" && (says.Role+says.Identity+says.Style != "" || len(textList(says.Principles)) > 0) {
			p.Role, p.Identity, p.Style, p.Principles = "", "", "", nil
		}
		if p.applyCustomization(custom) {
			return p, []string{in.Origin.URI(name)}, nil
		}
		return p, nil, nil
	}
	return p, nil, nil
}

// applyCustomization applies a customization and reports whether it changed anything.
func (p *Persona) applyCustomization(c format.Customization) bool {
	changed := false
	set := func(field *string, value string) {
		if value = strings.TrimSpace(value); value != "" {
			*field, changed = value, true
		}
	}
	set(&p.Name, c.Agent.Metadata.Name)
	set(&p.Title, c.Agent.Metadata.Title)
	set(&p.Icon, c.Agent.Metadata.Icon)
	set(&p.Role, c.Persona.Role)
	set(&p.Identity, c.Persona.Identity)
	set(&p.Style, c.Persona.Style)
	if principles := textList(c.Persona.Principles); len(principles) > 0 {
		p.Principles, changed = principles, true
	}
	critical, memories := textList(c.Critical), textList(c.Memories)
	p.Critical, p.Facts = format.AppendNew(p.Critical, critical...), format.AppendNew(p.Facts, memories...)
	changed = changed || len(critical)+len(memories)+len(c.Menu)+len(c.Prompts) > 0
	for _, m := range c.Menu {
		item := newMenuItem(format.PlainString(m["trigger"]), format.PlainString(m["description"]), func(target string) string { return format.PlainString(m[target]) })
		known := false
		for _, have := range p.Menu {
			same := have.Description == item.Description && have.Does == item.Does
			known = known || same || strings.TrimPrefix(have.Code, "*") == item.Code
		}
		if !known {
			p.Menu = append(p.Menu, item)
		}
	}
	for _, prompt := range c.Prompts {
		p.Prompts = append(p.Prompts, CustomPrompt{ID: prompt.ID, Content: strings.TrimSpace(prompt.Content)})
	}
	return changed
}

// fillPersona fills in the texts of a persona.
func (r *resolver) fillPersona(p *Persona) {
	for _, field := range []*string{&p.Role, &p.Identity, &p.Style, &p.Focus, &p.Custom} {
		*field = r.fill(*field)
	}
	for _, list := range [][]string{p.Principles, p.Facts, p.Critical} {
		for n := range list {
			list[n] = r.fill(list[n])
		}
	}
	for n := range p.Menu {
		p.Menu[n].Description, p.Menu[n].Does, p.Menu[n].Data = r.fill(p.Menu[n].Description), r.fill(p.Menu[n].Does), r.fill(p.Menu[n].Data)
	}
	for n := range p.Prompts {
		p.Prompts[n].Content = r.fill(p.Prompts[n].Content)
	}
}

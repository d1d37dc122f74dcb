package catalog

import (
	"cmp"
	"html"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// Persona is who an agent is, with the customization of the project.
type Persona struct {
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Icon  string `json:"icon,omitempty"`

	Role       string   `json:"role,omitempty"`
	Identity   string   `json:"identity,omitempty"`
	Style      string   `json:"communication_style,omitempty"`
	Focus      string   `json:"focus,omitempty"`
	Principles []string `json:"principles,omitempty"`
	// Facts are what it always knows, Critical what it does before all else.
	Facts    []string `json:"facts,omitempty"`
	Critical []string `json:"critical_actions,omitempty"`
	// Custom is what people have written for it in words.
	Custom  string         `json:"customization,omitempty"`
	Menu    []MenuItem     `json:"menu,omitempty"`
	Prompts []CustomPrompt `json:"prompts,omitempty"`
}

// MenuItem is something that an agent offers.
type MenuItem struct {
	Code        string `json:"code"`
	Description string `json:"description"`
	// Does is the skill, file or words that carry it out; Data is a file that goes with it.
	Does string `json:"does,omitempty"`
	Data string `json:"data,omitempty"`
}

// CustomPrompt is a text that an item of the menu may name by its id.
type CustomPrompt struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

// persona reads who an agent is, from its file and the customization of the project: tables are
// what that comes to for a skill, defaults what the skill itself says. It returns the addresses
// of the customization of an agent that is no skill.
func (c *Catalog) persona(i *Item, text string, tables, defaults map[string]any) (*Persona, []string, error) {
	p := &Persona{Name: i.DisplayName, Title: i.Title, Icon: i.Icon}
	switch {
	case i.Path == "":
		p.Identity = i.Description
		return p, nil, nil
	case i.Skill:
		if agent, ok := tables["agent"].(map[string]any); ok {
			p.fromTable(agent)
			if own, ok := defaults["agent"].(map[string]any); ok { // its text calls it so, whatever is laid over that
				p.Name, p.Title = cmp.Or(plainString(own["name"]), p.Name), cmp.Or(plainString(own["title"]), p.Title)
			}
			return p, nil, nil
		}
		return p, nil, p.fromManifest(i)
	case i.install.layout == LayoutV4:
		return p, nil, p.fromBlock(i, text)
	}
	if strings.HasSuffix(i.Path, sourceAgent) {
		var file sourceFile
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "the agent %s is not valid YAML: %w", i.Path, err).WithHint("correct it, or take another version of its repository")
		}
		file.Agent.Agent.Metadata.Name = file.Agent.Metadata.Name
		p.apply(file.Agent.customization)
	} else {
		p.fromXML(text)
	}
	return c.customized(p, i)
}

// fromTable takes the persona of a skill since 6.4.
func (p *Persona) fromTable(t map[string]any) {
	p.Name, p.Title, p.Icon = cmp.Or(plainString(t["name"]), p.Name), cmp.Or(plainString(t["title"]), p.Title), cmp.Or(plainString(t["icon"]), p.Icon)
	p.Role, p.Identity = multiline(t["role"]), multiline(t["identity"])
	p.Style = multiline(t["communication_style"])
	p.Principles, p.Facts = texts(t["principles"]), texts(t["persistent_facts"])
	menu, _ := t["menu"].([]any)
	for _, v := range menu {
		if m, ok := v.(map[string]any); ok {
			p.Menu = append(p.Menu, MenuItem{
				Code: plainString(m["code"]), Description: plainString(m["description"]),
				Does: cmp.Or(plainString(m["skill"]), plainString(m["prompt"])),
			})
		}
	}
}

// texts returns a list of texts, or the one text. What is written as a table there, because of
// a colon in it, is a text too.
func texts(v any) []string {
	var out []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	switch v := v.(type) {
	case string:
		for part := range strings.SplitSeq("\n"+v, "\n- ") { // a list, written as a text
			add(part)
		}
	case []any:
		for _, item := range v {
			if s, ok := plainText(item); ok {
				add(s)
				continue
			}
			table, _ := item.(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(table)) {
				if s, ok := plainText(table[key]); ok {
					add(key + ": " + s)
				}
			}
		}
	}
	return out
}

// fromManifest takes the persona of a skill of 6.3.
func (p *Persona) fromManifest(i *Item) error {
	name := path.Join(i.Dir, skillManifest)
	text, err := i.in.settingsText(name)
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
	p.Role, p.Identity, p.Style, p.Principles = m.Role, m.Identity, m.Style, texts(m.Principles)
	return nil
}

// classicAgent is the block of an agent's file in version 4.
type classicAgent struct {
	classicIdentity `yaml:",inline"`
	Persona         struct {
		Role       string `yaml:"role"`
		Style      string `yaml:"style"`
		Identity   string `yaml:"identity"`
		Focus      string `yaml:"focus"`
		Principles any    `yaml:"core_principles"`
	} `yaml:"persona"`
	Principles   any                 `yaml:"core_principles"`
	Commands     yaml.Node           `yaml:"commands"`
	Dependencies map[string][]string `yaml:"dependencies"`
}

// readClassic reads the block of an agent's file in version 4. Its parts are read one by
// one: people's edits break one of them, and the others still hold.
func readClassic(text string) (a classicAgent, err error) {
	block := classicBlock(text)
	for _, key := range []string{"agent", "persona", "core_principles", "commands", "dependencies"} {
		if e := yaml.Unmarshal([]byte(section(block, key)), &a); e != nil {
			err = cmp.Or(err, e)
		}
	}
	return a, err
}

func (p *Persona) fromBlock(i *Item, text string) error {
	if classicBlock(text) == "" {
		return nil // the file says it in words
	}
	a, err := readClassic(text)
	if err != nil && a.Persona.Role == "" {
		return fault.New(fault.InvalidArgument, "the block that describes the agent in %s is not valid YAML: %w", i.Path, err).WithHint("correct it, or install the agent again")
	}
	p.Role, p.Identity, p.Style, p.Focus = a.Persona.Role, a.Persona.Identity, a.Persona.Style, a.Persona.Focus
	p.Principles = append(texts(a.Persona.Principles), texts(a.Principles)...)
	p.Custom = strings.TrimSpace(a.Agent.Customization)
	p.Menu = commands(a.Commands)
	return nil
}

// commands returns the commands of an agent of version 4: a list of texts or of tables with
// one entry, or one table.
func commands(node yaml.Node) []MenuItem {
	var out []MenuItem
	add := func(name, text string) {
		name = "*" + strings.TrimPrefix(strings.TrimSpace(name), "*") // packs write the mark of one before it
		out = append(out, MenuItem{Code: name, Description: oneLine(text)})
	}
	described := func(table yaml.Node) {
		for n := 0; n+1 < len(table.Content); n += 2 {
			text := "As the instructions describe it, under commands"
			if value := table.Content[n+1]; value.Tag == "!!null" {
				text = ""
			} else if value.Kind == yaml.ScalarNode {
				text = value.Value
			}
			add(table.Content[n].Value, text)
		}
	}
	if node.Kind == yaml.MappingNode {
		described(node)
		return out
	}
	for _, item := range node.Content {
		switch {
		case item.Tag == "!!null":
		case item.Kind == yaml.ScalarNode:
			if m := wordsOfCommand.FindStringSubmatch(item.Value); m != nil {
				add(m[1], m[2])
			}
		case item.Kind == yaml.MappingNode:
			described(*item)
		}
	}
	return out
}

// wordsOfCommand parts a command that is written as one text, *name: what it does. Some have a
// dash there, and a quotation mark that lost its other.
var wordsOfCommand = regexp.MustCompile(`(?s)^\s*"?(.+?)"?(?:(?::\s*| -\s+)(.*))?$`)

var (
	menuItem = regexp.MustCompile(`(?s)<item\b([^>]*)>(.*?)</item>`)
	menuCode = regexp.MustCompile(`^\[([A-Za-z0-9-]+)\]\s*`)
)

// menuTargets are the attributes of a menu's item that carry it out.
var menuTargets = []string{"workflow", "exec", "action", "validate-workflow", "tmpl", "data", "run-workflow", "prompt"}

// offer makes an item of a menu. A code in brackets before its description is its code.
func offer(code, description string, at func(target string) string) MenuItem {
	item := MenuItem{Code: code, Description: description}
	if m := menuCode.FindStringSubmatch(description); m != nil {
		item.Code, item.Description = m[1], description[len(m[0]):]
	}
	for _, target := range menuTargets {
		item.Does = cmp.Or(item.Does, at(target))
	}
	return item
}

// fromXML takes the persona of a compiled agent of version 6. It is read as the models read
// it, by its tags: much of it is no valid XML.
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
		return oneLine(html.UnescapeString(inner))
	}
	p.Role, p.Identity, p.Style = part("role"), part("identity"), part("communication_style")
	p.Principles = sentences(part("principles"))
	for _, m := range menuItem.FindAllStringSubmatch(text, -1) {
		a := attributes(m[1])
		item := offer(a["cmd"], oneLine(html.UnescapeString(m[2])), func(target string) string { return a[target] })
		if data := a["data"]; data != item.Does {
			item.Data = data
		}
		p.Menu = append(p.Menu, item)
	}
}

// sentences parts a list that stands in one line. A dash within a sentence goes on in lower
// case.
func sentences(line string) []string {
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

// customization is a file of the project that changes an agent of version 6.
type customization struct {
	Agent struct {
		Metadata struct {
			Name  string `yaml:"name"`
			Title string `yaml:"title"`
			Icon  string `yaml:"icon"`
		} `yaml:"metadata"`
	} `yaml:"agent"`
	Persona struct {
		Role       string `yaml:"role"`
		Identity   string `yaml:"identity"`
		Style      string `yaml:"communication_style"`
		Principles any    `yaml:"principles"`
	} `yaml:"persona"`
	Critical any              `yaml:"critical_actions"`
	Memories any              `yaml:"memories"`
	Menu     []map[string]any `yaml:"menu"`
	Prompts  []struct {
		ID      string `yaml:"id"`
		Content string `yaml:"content"`
	} `yaml:"prompts"`
}

// customized puts the project's customization over a persona: what it says of the persona
// replaces all of it, in the alphas part by part, the rest is added. The installer may have
// written it into the agent's file already, so what is there is not added again.
func (c *Catalog) customized(p *Persona, i *Item) (*Persona, []string, error) {
	in := c.custom(i)
	for _, folder := range []string{"_config", "_cfg"} {
		name := path.Join(in.dir, folder, "agents", i.Module+"-"+stem(i.Path)+".customize.yaml")
		text, err := in.in.settingsText(name)
		if err != nil {
			return nil, nil, err
		}
		if text == "" {
			continue
		}
		var custom customization
		if err := yaml.Unmarshal([]byte(text), &custom); err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "the customization %s cannot be used: %w", name, yamlError(err)).WithHint("correct that line; without it the agent would not be the one you have made")
		}
		if says := custom.Persona; folder == "_config" && (says.Role+says.Identity+says.Style != "" || len(texts(says.Principles)) > 0) {
			p.Role, p.Identity, p.Style, p.Principles = "", "", "", nil
		}
		if p.apply(custom) {
			return p, []string{in.in.uri(name)}, nil
		}
		return p, nil, nil
	}
	return p, nil, nil
}

// apply reports whether the customization says anything.
func (p *Persona) apply(c customization) bool {
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
	if principles := texts(c.Persona.Principles); len(principles) > 0 {
		p.Principles, changed = principles, true
	}
	critical, memories := texts(c.Critical), texts(c.Memories)
	p.Critical, p.Facts = appendNew(p.Critical, critical...), appendNew(p.Facts, memories...)
	changed = changed || len(critical)+len(memories)+len(c.Menu)+len(c.Prompts) > 0
	for _, m := range c.Menu {
		item := offer(plainString(m["trigger"]), plainString(m["description"]), func(target string) string { return plainString(m[target]) })
		known := false
		for _, have := range p.Menu {
			known = known || strings.TrimPrefix(have.Code, "*") == item.Code || have.Description == item.Description && have.Does == item.Does
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

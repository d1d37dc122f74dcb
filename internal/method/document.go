package method

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// ToolNames are the calls by which the reader of a document reaches the things it names.
type ToolNames struct {
	// Read reads a file by address, Workflow begins a workflow, task or skill by name, Agent takes on an
	// agent. List lists files by a pattern; it may be empty.
	Read, Workflow, Agent, List string
	// Whole is true if the reader gets the person's words from the document alone: they are
	// never cut then.
	Whole bool
}

// Agent returns the document for an assistant in the role of an agent. message is the person's; it may be
// empty.
func (s *Snapshot) Agent(name, message string, w ToolNames) (string, error) {
	i, r, err := s.openItem(name, catalog.Agent)
	if err != nil {
		return "", err
	}
	p := r.Persona
	d := &briefing{tools: w, others: s.AlsoNamed(i, name)}
	d.addLine("# %s", agentHeading(p, i))
	d.addLine("")
	d.addLine("You act as this agent of the BMAD method from now on, until the person dismisses it: %s. %s", describeOrigin(i), roleRule(p))
	parts := d.withoutPersona(p, r.Parts)
	d.addPersona(withoutRepeated(r, parts))
	d.addMenu(p, s.Project)
	d.addResolved(r)
	said := d.quotePerson("The person's message", message, "Greet the person in this role, and show the menu.",
		"Answer it in this role. If it means an item of the menu, carry that out; else go by the instructions above.")
	return d.assemble(parts, d.closingPart(r), said), nil
}

// Workflow returns the document for an assistant to run a workflow. words are the person's about it; they
// may be empty. For want of a workflow of this name, a task or a plain skill is taken: people confuse them.
func (s *Snapshot) Workflow(name, words string, w ToolNames) (string, error) {
	return s.workDocument(name, words, w, catalog.Workflow, catalog.Task)
}

// Task returns the document for an assistant to do a task; a workflow of this name is taken too.
func (s *Snapshot) Task(name, words string, w ToolNames) (string, error) {
	return s.workDocument(name, words, w, catalog.Task, catalog.Workflow)
}

// openItem reads the named item for the project, of the first kind with one.
func (s *Snapshot) openItem(name string, kinds ...catalog.Kind) (catalog.Item, *resolve.Resolved, error) {
	if s.Empty() {
		return catalog.Item{}, nil, s.noInstallation()
	}
	i, err := s.Find(kinds[0], name)
	for _, kind := range kinds[1:] {
		if !fault.Is(err, fault.NotFound) {
			break
		}
		if other, e := s.Find(kind, name); !fault.Is(e, fault.NotFound) {
			i, err = other, e
		}
	}
	if err != nil {
		return catalog.Item{}, nil, err
	}
	r, err := s.resolveItem(i)
	return i, r, err
}

func (s *Snapshot) workDocument(asked, words string, w ToolNames, kinds ...catalog.Kind) (string, error) {
	i, r, err := s.openItem(asked, kinds...)
	if err != nil {
		return "", err
	}
	d := &briefing{tools: w, others: s.AlsoNamed(i, asked)}
	d.addLine("# %s", cmp.Or(i.Title, i.Name))
	d.addLine("")
	d.addLine("Carry out this %s of the BMAD method, in the role that you have: %s. Follow its instructions in their "+
		"order, and stop wherever they wait for the person.", i.Kind, describeOrigin(i))
	if i.Description != "" {
		d.addLine("")
		d.addLine("%s", i.Description)
	}
	if intent := i.Intent(asked); intent != "" {
		d.addLine("\nIt was asked for as `%s`: go by its %s.", format.OneLine(asked), intent)
	}
	d.addResolved(r)
	said := d.quotePerson("What the person says", words, "Begin now. Ask the person for what the instructions need and "+
		"nothing here says.", "Begin now, with these words as what the person wants of it.")
	return d.assemble(r.Parts, d.closingPart(r), said), nil
}

// agentHeading returns the heading of an agent.
func agentHeading(p *resolve.Persona, i catalog.Item) string {
	name := cmp.Or(p.Name, i.Name)
	if p.Title != "" {
		name += ", " + p.Title
	}
	return strings.TrimSpace(name + " " + p.Icon)
}

// roleRule returns the rule of a role.
func roleRule(p *resolve.Persona) string {
	if p.Name == "" {
		return "Stay in the role."
	}
	return "Stay in the role of " + p.Name + "."
}

// describeOrigin names an item and the source.
func describeOrigin(i catalog.Item) string {
	from := map[string]string{catalog.Project: "the project", "user": "the person's home", "root": "BMAD_ROOT"}[i.Source]
	if from == "" {
		from = "the repository " + i.Source
	}
	return "`" + i.Full() + "`, from " + from
}

// briefing builds a document.
type briefing struct {
	text  strings.Builder
	tools ToolNames
	// others are further items with the asked name.
	others []string
	// removed has the pieces missing in the texts, by their addresses.
	removed map[string]removal
}

func (d *briefing) addLine(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

func (d *briefing) addPersona(r *resolve.Resolved) {
	p := r.Persona
	d.addLine("\n## Persona\n")
	for _, f := range []struct{ name, text string }{
		{"Role", p.Role}, {"Identity", p.Identity}, {"Communication style", p.Style}, {"Focus", p.Focus},
	} {
		if f.text != "" {
			d.addLine("- **%s:** %s", f.name, format.OneLine(f.text))
		}
	}
	for _, f := range []struct {
		name string
		list []string
	}{{"Principles", p.Principles}, {"Before all else", p.Critical}, {"Always true", p.Facts}} {
		if len(f.list) > 0 {
			d.addLine("- **%s:**", f.name)
			for _, item := range f.list {
				d.addLine("  - %s", format.OneLine(item))
			}
		}
	}
	if p.Custom != "" {
		d.addLine("- **Customization, which takes precedence over everything else:** %s", format.OneLine(p.Custom))
	}
	for _, prompt := range p.Prompts {
		d.addLine("- **Prompt #%s:** %s", prompt.ID, strings.ReplaceAll(strings.TrimSpace(prompt.Content), "\n", "\n  "))
	}
	if len(r.Custom) > 0 {
		d.addLine("\nThe project's customization is merged into this: %s. Where the instructions below say otherwise, this counts.", strings.Join(r.Custom, ", "))
	}
}

// leastRepeated is the least length in bytes of a text that counts as repeated: a role of one word is a word of many
// texts.
const leastRepeated = 40

// withoutRepeated returns an agent without the parts of the persona that the beginning of the instructions has
// word for word, as the skills since 6.3 do.
func withoutRepeated(r *resolve.Resolved, parts []resolve.Part) *resolve.Resolved {
	said := ""
	for _, part := range parts {
		said += format.OneLine(cutToFit(part.Text, maxOpening)) + "\n"
	}
	p, left := *r.Persona, false
	repeated := func(text string) bool {
		again := len(text) >= leastRepeated && strings.Contains(said, format.OneLine(text))
		left = left || again
		return again
	}
	for _, field := range []*string{&p.Role, &p.Identity, &p.Style, &p.Focus} {
		if repeated(*field) {
			*field = ""
		}
	}
	p.Principles = slices.DeleteFunc(slices.Clone(p.Principles), repeated)
	if left {
		p.Critical = append(slices.Clone(p.Critical), "Take on the persona of the instructions below.")
	}
	out := *r
	out.Persona = &p
	return &out
}

// personaForms are the persona in the file of an agent: of version 6 between tags, of version 4 in a block.
// name finds the names of the fields.
var personaForms = sync.OnceValue(func() []personaForm {
	return []personaForm{
		{regexp.MustCompile(`(?s)<persona>(.*?)</persona>`), regexp.MustCompile(`<([a-z_]+)>`), "<persona>see Persona above</persona>"},
		{regexp.MustCompile(`(?m)^persona:[ \t]*\n((?:[ \t]+\S.*\n|[ \t]*\n)+)`), regexp.MustCompile(`(?m)^  ([A-Za-z_]+):`), "persona: see Persona above\n"},
	}
})

type personaForm struct {
	whole, name *regexp.Regexp
	instead     string
}

// personaFields are the fields shown in a briefing.
var personaFields = []string{"role", "identity", "communication_style", "principles", "style", "focus", "core_principles"}

// withoutPersona returns the texts of an agent without the persona in them, which stands above
// them already, with the customization merged. One with more than is shown stays as it is.
func (d *briefing) withoutPersona(p *resolve.Persona, parts []resolve.Part) []resolve.Part {
	if p.Role == "" && p.Identity == "" {
		return parts
	}
	shown := func(names [][]string) bool {
		return !slices.ContainsFunc(names, func(m []string) bool { return !slices.Contains(personaFields, m[1]) })
	}
	parts = slices.Clone(parts)
	d.removed = map[string]removal{}
	for n, part := range parts {
		for _, form := range personaForms() {
			at := form.whole.FindStringSubmatchIndex(part.Text)
			if at == nil || !shown(form.name.FindAllStringSubmatch(part.Text[at[2]:at[3]], -1)) {
				continue
			}
			parts[n].Text = part.Text[:at[0]] + form.instead + part.Text[at[1]:]
			d.removed[part.URI] = removal{at[0] + len(form.instead), at[1] - at[0] - len(form.instead)}
			break
		}
	}
	return parts
}

// removal is a piece taken out of a text: end is the place at which the text goes on behind it.
type removal struct{ end, bytes int }

func (d *briefing) addMenu(p *resolve.Persona, project string) {
	if len(p.Menu) == 0 {
		return
	}
	does := slices.ContainsFunc(p.Menu, func(m resolve.MenuItem) bool { return m.Does != "" })
	d.addLine("\n## Menu\n\n| Code | What it does |%s\n|---|---|%s", map[bool]string{true: " Carried out by |"}[does], map[bool]string{true: "---|"}[does])
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	for _, m := range p.Menu {
		row := "| " + cell.Replace(m.Code) + " | " + cell.Replace(m.Description) + " |"
		if does {
			row += " " + cell.Replace(cmp.Or(m.Item, strings.TrimPrefix(m.Does, filepath.ToSlash(project)+"/"))) + " |"
		}
		d.addLine("%s", row)
	}
}

// personaKeys are the settings of an agent shown in the persona.
var personaKeys = []string{"name", "title", "icon", "role", "identity", "communication_style", "principles", "persistent_facts", "menu"}

// addResolved adds the configuration and settings already filled in.
func (d *briefing) addResolved(r *resolve.Resolved) {
	if len(r.Config) > 0 {
		d.addLine("\n## Configuration, loaded\n")
		for _, c := range r.Config {
			d.addLine("- %s: %s", c.Key, visible.Fit(format.OneLine(c.Value), maxDescription))
		}
	}
	settings := map[string]any{}
	for table, v := range r.Settings {
		for key, value := range v.(map[string]any) {
			if isEmpty(value) || r.Persona != nil && slices.Contains(personaKeys, key) {
				continue
			}
			settings[table+"."+key] = value
		}
	}
	if len(settings) > 0 {
		d.addSettings(r, settings)
	}
	if len(r.Custom) > 0 && r.Persona == nil {
		d.addLine("\nThe project's customization is merged: %s.", strings.Join(r.Custom, ", "))
	}
	if len(d.others) > 0 {
		d.addLine("\nOther modules have this name too: %s. If the person means one of them, ask for it with its module.", strings.Join(d.others, ", "))
	}
	for _, note := range r.Notes {
		d.addLine("\n%s", note)
	}
}

// maxSettings bounds the settings of a skill, in bytes.
const maxSettings = 3500

// addSettings adds a skill's merged settings or, if they are long, their address.
func (d *briefing) addSettings(r *resolve.Resolved, settings map[string]any) {
	text, err := yaml.Marshal(settings)
	switch {
	case err != nil:
		d.addLine("\nThe settings cannot be shown: %v.", err)
	case len(text) <= maxSettings:
		d.addLine("\n## Settings, merged\n\nThose that are not named here are empty.\n\n```yaml\n%s```", text)
	default:
		d.addLine("\n## Settings, merged\n\nThey are long (%s): before you need them, read %s with %s.",
			strings.Join(slices.Sorted(maps.Keys(settings)), ", "), r.SettingsURI, d.tools.Read)
	}
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// maxOpen bounds how many open placeholders are named.
const maxOpen = 20

// The bounds on the parts of a document besides the instructions, in bytes.
const (
	maxOpening = 8000
	maxFiles   = 4000
	maxWords   = 3000
	// maxOpenNames bounds the names of open placeholders.
	maxOpenNames = 1000
	// least is the minimum for the instructions.
	least = 2000
)

// closingPart returns the part after the instructions: open placeholders, and files.
func (d *briefing) closingPart(r *resolve.Resolved) string {
	c := &briefing{}
	if len(r.Open) > 0 {
		names, more := r.Open, ""
		if len(names) > maxOpen {
			more = fmt.Sprintf(" and %d more", len(names)-maxOpen)
			names = names[:maxOpen]
		}
		named := strings.Join(names, ", ")
		if fits := cutToFit(named, maxOpenNames); len(fits) < len(named) {
			named = fits + "…"
		}
		c.addLine("\n## Left open\n\nThese are not filled in: %s%s. Where the instructions say what one stands for, go by them; else fill it as you go, or ask the person.", named, more)
	}
	if len(r.More) > 0 {
		c.addLine("\n## Files, to be read one by one when they are needed\n\nRead one with %s. On the disk their placeholders are not filled in.\n", d.tools.Read)
	}
	room := maxFiles
	for n, m := range r.More {
		line := fmt.Sprintf("- %s (about %d bytes", m.URI, m.Size)
		if m.What != "" {
			line += ", " + m.What
		}
		if room -= encodedSize(line); room < 0 {
			c.addLine("- and %d more, beside these.%s", len(r.More)-n, d.listHint(r.Item))
			break
		}
		c.addLine("%s)", line)
	}
	c.addLine("\nA workflow, task or skill that is named here is begun with %s, an agent taken on with %s.", d.tools.Workflow, d.tools.Agent)
	return c.text.String()
}

// listHint names the call to list the files beside an item.
func (d *briefing) listHint(i catalog.Item) string {
	if d.tools.List == "" || i.URI == "" {
		return ""
	}
	return " List them with " + fmt.Sprintf(d.tools.List, i.URI[:strings.LastIndexByte(i.URI, '/')]+"/**") + "."
}

// quotePerson repeats the person's words under a heading, followed by the instruction with; without is
// the instruction if there are none.
func (d *briefing) quotePerson(heading, words, without, with string) string {
	words = strings.TrimSpace(words)
	if words == "" {
		return fmt.Sprintf("\n## %s\n\nNone yet. %s\n", heading, without)
	}
	cutShort := ""
	if fits := cutToFit(words, maxWords); len(fits) < len(words) && !d.tools.Whole {
		cutShort = fmt.Sprintf("\n[these are the first %d of %d bytes: go by all that was said, in the call that brought this]\n", len(fits), len(words))
		words = strings.TrimRight(fits, "\n")
	}
	return fmt.Sprintf("\n## %s\n\n> %s\n%s\n%s\n", heading, strings.ReplaceAll(words, "\n", "\n> "), cutShort, with)
}

// assemble puts the texts of an item between the opening and the closing, and cuts them if the whole would
// be too large; the rest can be read by address.
func (d *briefing) assemble(parts []resolve.Part, closing, said string) string {
	opening := cutWithNote(d.text.String(), maxOpening)
	room := max(MaxReply-encodedSize(opening)-encodedSize(closing)-min(encodedSize(said), 2*maxWords)-300*(len(parts)+1), least)
	var b strings.Builder
	b.WriteString(opening)
	for _, p := range parts {
		text := cutToFit(p.Text, room)
		room -= encodedSize(text)
		fmt.Fprintf(&b, "\n## Instructions: %s\n\n%s\n", p.URI, strings.TrimRight(text, "\n"))
		if rest := len(p.Text) - len(text); rest > 0 {
			uri := p.URI
			if ref, err := catalog.ParseRef(p.URI); err == nil {
				ref.Resolved, ref.Offset = true, len(text)
				if gone := d.removed[p.URI]; ref.Offset >= gone.end {
					ref.Offset += gone.bytes
				}
				uri = ref.String()
			}
			fmt.Fprintf(&b, "\n[%d more bytes of this file: go on reading with %s, %s, before you act on it]\n", rest, d.tools.Read, uri)
		}
	}
	b.WriteString(closing)
	b.WriteString(said)
	return b.String()
}

// encodedSize returns the size of a text in an answer, in bytes: as JSON, with markup escaped as well.
func encodedSize(text string) int {
	n := 0
	for _, r := range text {
		n += runeSize(r)
	}
	return n
}

func runeSize(r rune) int {
	switch r {
	case '"', '\\', '\n', '\r', '\t':
		return 2
	case '<', '>', '&', '\u2028', '\u2029':
		return 6
	}
	if r < ' ' || r == utf8.RuneError {
		return 6
	}
	return utf8.RuneLen(r)
}

// cutToFit returns the longest beginning of a text with at most room bytes when sent, up to the end of a line if
// there is one.
func cutToFit(text string, room int) string {
	line, end := 0, 0
	for at, r := range text {
		if room -= runeSize(r); room < 0 {
			if line > at/2 {
				return text[:line]
			}
			return text[:end]
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		if end = at + size; r == '\n' {
			line = end
		}
	}
	return text
}

// cutWithNote cuts a text that is too long, and adds a note.
func cutWithNote(text string, most int) string {
	fits := cutToFit(text, most)
	if len(fits) == len(text) {
		return text
	}
	return fits + "\n[this is cut short: the file has all of it]\n"
}

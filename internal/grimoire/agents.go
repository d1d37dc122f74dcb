package grimoire

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/format"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// stem returns a file's name without its ending.
func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// manifest reads the table of the installed agents.
func (r *reader) manifest(file string) {
	rows, err := format.Rows(file)
	for _, row := range rows {
		m := map[string]any{}
		for name, value := range row {
			m[name] = value
		}
		r.agent(Agent{ID: field(m, "name"), Name: field(m, "displayName"), Icon: field(m, "icon"), Domain: field(m, "title", "role")})
	}
	if err != nil {
		r.problem(0, "the rest of the file is not read: %v", err)
	}
}

var (
	// wiring matches the names of an agent in the steps of its persona.
	wiring = pattern.New(`(AGENT_TAG|AGENT_NAME|LEARNINGS_FILE)[ \t]*=[ \t]*["']?([^"'|\n<{}]+)`)
	// opening matches the tag that the persona begins with, attribute one of its attributes.
	opening   = pattern.New(`<agent[ \t][^>]*>`)
	attribute = pattern.New(`(name|title|icon)="([^"]*)"`)
)

// persona reads the names of an agent from the file that describes it.
func (r *reader) persona(file string) {
	found := map[string]string{}
	for _, m := range append(attribute.FindAllStringSubmatch(opening.FindString(file), 3), wiring.FindAllStringSubmatch(file, 20)...) {
		if found[m[1]] == "" {
			found[m[1]] = strings.Trim(m[2], "` \t\r")
		}
	}
	r.agent(Agent{
		ID: stem(r.path), Tag: agentName(found["AGENT_TAG"]), Learnings: agentName(strings.TrimSuffix(found["LEARNINGS_FILE"], ".md")),
		Name: cmp.Or(found["name"], found["AGENT_NAME"]), Icon: found["icon"], Domain: found["title"],
	})
}

// meet adds an agent to the known ones, or its names to the agent if it is one of them.
func meet(known []Agent, a Agent) []Agent {
	for i := range known {
		k := &known[i]
		byOtherName := a.Tag == "" && (a.ID == k.Learnings || a.ID == k.Tag)
		if byOtherName || a.ID == k.ID {
			k.Tag, k.Learnings, k.Name = cmp.Or(k.Tag, a.Tag), cmp.Or(k.Learnings, a.Learnings), cmp.Or(k.Name, a.Name)
			k.Icon, k.Domain = cmp.Or(k.Icon, a.Icon), cmp.Or(k.Domain, a.Domain)
			return known
		}
	}
	return append(known, a)
}

// Names returns the names under which the notes of the agent are kept, in lower case.
func (a Agent) Names() (out []string) {
	for _, name := range []string{a.ID, a.Tag, a.Learnings, agentName(a.Name)} {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Aliases returns the names under which the notes of an agent may be kept: those of every agent
// that has the name, and the name itself. known is false if no agent has it.
func (c Content) Aliases(name string) (names []string, known bool) {
	name = agentName(name)
	names = []string{name}
	for _, a := range c.Agents {
		own := a.Names()
		if !slices.Contains(own, name) {
			continue
		}
		known = true
		for _, n := range own {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names, known
}

package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// roster is what a configuration says of an agent.
type roster struct {
	Module, Name, Title, Icon, Description string
	// file is where it was said first.
	file string
	// own is true for one that people have added or changed, and says is what they describe it
	// by; "" where they do not.
	own  bool
	says string
}

// describe takes over the agents that a file describes.
func (in *installation) describe(values map[string]any, file string, own bool) {
	agents, _ := values["agents"].(map[string]any)
	for id, v := range agents {
		if t, ok := v.(map[string]any); ok {
			in.describeAgent(id, t, file, own)
		}
	}
}

func (in *installation) describeAgent(id string, t map[string]any, file string, own bool) {
	known := in.agents[id]
	says := known.says
	if own {
		says = cmp.Or(plainString(t["description"]), says)
	}
	in.agents[id] = roster{
		Module: cmp.Or(plainString(t["module"]), known.Module),
		Name:   cmp.Or(plainString(t["name"]), known.Name), Title: cmp.Or(plainString(t["title"]), known.Title),
		Icon: cmp.Or(plainString(t["icon"]), known.Icon), Description: cmp.Or(plainString(t["description"]), known.Description),
		file: cmp.Or(known.file, file), own: own || known.own, says: says,
	}
}

// members takes over the agents of a module's roster, a list of tables that each name a skill.
func (in *installation) members(values map[string]any, file, module string) {
	members, _ := values["members"].([]any)
	for _, v := range members {
		t, ok := v.(map[string]any)
		if id := plainString(t["skill"]); ok && id != "" {
			in.describeAgent(id, t, file, false)
			known := in.agents[id]
			known.Module = cmp.Or(known.Module, module)
			in.agents[id] = known
		}
	}
}

// centralFiles are the layers of the configuration since 6.4, the later over the earlier.
var centralFiles = []string{"config.toml", "config.user.toml", "custom/config.toml", "custom/config.user.toml"}

// called takes over what a configuration says of an agent that has a skill. What the skill calls
// it stays one of its names: the person speaks to it by either.
func (i *Item) called(a roster) {
	if a.Name != "" && i.DisplayName != "" && a.Name != i.DisplayName {
		i.others = appendNew(i.others, i.DisplayName)
	}
	i.DisplayName, i.Title, i.Icon = cmp.Or(a.Name, i.DisplayName), cmp.Or(a.Title, i.Title), cmp.Or(a.Icon, i.Icon)
	i.Description = cmp.Or(a.says, i.Description)
}

// central reads the agents that the configuration describes.
func (f *found) central(in *installation) {
	for _, layer := range centralFiles {
		name := path.Join(in.dir, layer)
		in.describe(f.toml(name), name, strings.HasPrefix(layer, "custom/"))
	}
}

// finish does what takes all of a source to be known: it settles the rows of manifests that have
// no file, adds the agents that people have described and that have no skill, gives items their
// earlier names, and notes what is named and not there.
func (f *found) finish() {
	for _, in := range f.installs {
		for _, s := range in.stale {
			f.settle(in, s)
		}
		for _, id := range slices.Sorted(maps.Keys(in.ids)) {
			if f.skills[id] == nil && in.layout == LayoutV6 && !f.launched(id) {
				f.missing = append(f.missing, missing{id, in.manifestOf("skill-manifest.csv"), fmt.Sprintf("the skill %q of module %q is listed and is in no folder of skills", id, in.ids[id])})
			}
		}
		for _, id := range slices.Sorted(maps.Keys(in.agents)) {
			a := in.agents[id]
			switch {
			case f.skills[id] != nil:
			case a.own:
				f.add(&Item{
					Kind: Agent, Name: id, Module: a.Module, Title: a.Title, DisplayName: a.Name, Icon: a.Icon,
					Description: a.Description, install: in,
				})
			default:
				f.missing = append(f.missing, missing{id, a.file, fmt.Sprintf("the agent %q is described and has no skill", id)})
			}
		}
		for old, now := range in.old {
			i := f.skills[now.now]
			if i == nil || f.skills[old] != nil {
				continue
			}
			i.Aliases = appendNew(i.Aliases, old)
			if now.intent != "" {
				i.intend(old, now.intent)
			}
		}
	}
	for _, i := range f.items {
		slices.Sort(i.Aliases)
	}
}

func (in *installation) manifestOf(name string) string { return path.Join(in.dir, "_config", name) }

// launched reports whether a name is that of an agent that has its own file.
func (f *found) launched(id string) bool {
	return slices.ContainsFunc(f.byShort[itemKey{Agent, short(id)}], func(i *Item) bool { return !i.Skill })
}

// settle gives a row without a file to the skill that it is about, or reports it.
func (f *found) settle(in *installation, s staleRow) {
	for _, id := range []string{s.row["canonicalId"], s.row["name"]} {
		i := f.skills[id]
		if i == nil || id == "" {
			continue
		}
		if s.kind == Agent && i.Kind != Agent {
			i.Kind = Agent // before 6.4 the manifest says which skills are agents
		}
		told := *i
		told.told(s.row)
		description := i.Description
		i.enrich(&told)
		i.Description = cmp.Or(description, told.Description)
		i.Module = cmp.Or(i.Module, s.row["module"])
		return
	}
	for _, i := range f.byShort[itemKey{s.kind, short(s.row["name"])}] { // moved, or a row that is cut short
		if i.install == in && (s.row["module"] == "" || s.row["module"] == i.Module) {
			told := &Item{Name: i.Name, Path: i.Path}
			if told.Description = s.row.plain("description"); s.kind == Agent {
				told.told(s.row)
			}
			i.enrich(told)
			return
		}
	}
	f.problem(s.manifest, "the %s %q is listed, and its file %q is not there", s.kind, s.row["name"], s.row["path"])
}

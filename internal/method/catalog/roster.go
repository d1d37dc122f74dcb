package catalog

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// finishSource does the steps after the scan of the whole source: it assigns the rows of manifests without a
// file, adds the agents described by people without a skill, gives items their earlier names, and records
// named skills without a folder.
func (s *scan) finishSource() {
	for _, in := range s.origin.Installations {
		for _, row := range in.stale {
			s.assignRow(in, row)
		}
		for _, id := range slices.Sorted(maps.Keys(in.ids)) {
			if s.origin.Skills[id] == nil && in.Layout == LayoutV6 && !s.hasAgentFile(id) {
				s.origin.missing = append(s.origin.missing, missing{id, in.manifestOf("skill-manifest.csv"),
					lang.T("the skill %q of module %q is listed and is in no folder of skills", id, in.ids[id])})
			}
		}
		for _, id := range slices.Sorted(maps.Keys(in.agents)) {
			a := in.agents[id]
			switch {
			case s.origin.Skills[id] != nil:
			case a.own:
				s.addItem(&Item{
					Kind: Agent, Name: id, Module: a.Module, Title: a.Title, DisplayName: a.Name, Icon: a.Icon,
					Description: a.Description, Installation: in,
				})
			default:
				s.origin.missing = append(s.origin.missing, missing{id, a.file, lang.T("the agent %q is described and has no skill", id)})
			}
		}
		for old, now := range in.old {
			i := s.origin.Skills[now.now]
			if i == nil || s.origin.Skills[old] != nil {
				continue
			}
			i.Aliases = format.AppendNew(i.Aliases, old)
			if now.intent != "" {
				i.setIntent(old, now.intent)
			}
		}
	}
	for _, i := range s.origin.Items {
		slices.Sort(i.Aliases)
	}
}

// hasAgentFile reports whether an agent has a file.
func (s *scan) hasAgentFile(id string) bool {
	return slices.ContainsFunc(s.byShort[itemKey{Agent, withoutPrefix(id)}], func(i *Item) bool { return !i.Skill })
}

// assignRow assigns a row without a file to a skill, or reports it.
func (s *scan) assignRow(in *Installation, r staleRow) {
	for _, id := range []string{r.row["canonicalId"], r.row["name"]} {
		i := s.origin.Skills[id]
		if i == nil || id == "" {
			continue
		}
		if r.kind == Agent && i.Kind != Agent {
			i.Kind = Agent // before 6.4 the manifest says which skills are agents
		}
		i.listed = true
		told := *i
		told.applyRow(r.row)
		description := i.Description
		i.enrich(&told)
		i.Description = cmp.Or(description, told.Description)
		i.Module = cmp.Or(i.Module, r.row["module"])
		return
	}
	for _, i := range s.byShort[itemKey{r.kind, withoutPrefix(r.row["name"])}] { // moved, or a truncated row
		if i.Installation == in && (r.row["module"] == "" || r.row["module"] == i.Module) {
			told := &Item{Name: i.Name, Path: i.Path}
			if told.Description = r.row.Plain("description"); r.kind == Agent {
				told.applyRow(r.row)
			}
			i.enrich(told)
			return
		}
	}
	s.origin.addProblem(r.manifest, "the %s %q is listed, and its file %q is not there", r.kind.Text(), r.row["name"], r.row["path"])
}

// CentralFiles are the layers of the configuration since 6.4, the later over the earlier.
var CentralFiles = []string{"config.toml", "config.user.toml", "custom/config.toml", "custom/config.user.toml"}

// readCentral reads the agents in the configuration.
func (s *scan) readCentral(in *Installation) {
	for _, layer := range CentralFiles {
		name := path.Join(in.Dir, layer)
		in.addDescribedAgents(s.origin.readTOML(name), name, strings.HasPrefix(layer, "custom/"))
	}
}

package catalog

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// maxParts bounds the rows about one item: of the method's own, bmad-agent-tech-writer has most, 5.
const maxParts = 100

// applyHelp gives items the codes, phases and commands from the method's help.
func (s *scan) applyHelp(in *Installation) {
	parts := map[*Item][]helpPart{}
	byPath := map[string]*Item{}
	for _, i := range s.origin.Items {
		byPath[i.Path] = i
	}
	for _, r := range s.helpRows(in) {
		i := s.helpTarget(in, r, byPath)
		if i == nil || len(parts[i]) == maxParts {
			continue
		}
		parts[i] = append(parts[i], helpPart{cmp.Or(r["menu-code"], r["code"]), cmp.Or(r["display-name"], r["name"]), modeOf(r)})
		i.Codes = format.AppendNew(i.Codes, r["menu-code"], r["code"])
		if i.Phase == "" || i.Phase == "anytime" {
			i.Phase = cmp.Or(phaseIn(r["phase"]), i.Phase)
		}
		if command := r["command"]; command != i.Name {
			i.Aliases = format.AppendNew(i.Aliases, command)
		}
	}
	for i, parts := range parts {
		if i.Kind != Agent {
			i.applyParts(parts)
		}
	}
}

// helpRows returns the rows of an installation's help: from the common file, or else from each module's.
// From 6.3 to 6.5 the rows have the later fields under the earlier header.
func (s *scan) helpRows(in *Installation) []format.Row {
	var rows []format.Row
	if name := in.manifestOf("bmad-help.csv"); in.Layout == LayoutV6 && s.origin.isFile(name) {
		rows = s.origin.readTable(name)
	} else {
		for _, name := range in.Helps {
			rows = append(rows, s.origin.readTable(name)...)
		}
	}
	for n, r := range rows {
		if id := r["phase"]; r["skill"] == "" && s.origin.Skills[id] != nil {
			// module,phase,name,code,sequence,workflow-file,command,required,… holds
			// module,skill,display-name,menu-code,description,action,args,phase,…
			// under it; rows that leave out an empty field have the phase one column earlier.
			rows[n] = format.Row{"skill": id, "menu-code": r["code"],
				"phase": cmp.Or(phaseIn(r["command"]), phaseIn(r["required"])), "display-name": r["name"],
				"action": r["workflow-file"]}
		}
	}
	return rows
}

// helpTarget returns the item described by a row, which names a file up to 6.2 and a skill from 6.6 on.
func (s *scan) helpTarget(in *Installation, r format.Row, byPath map[string]*Item) *Item {
	i, file := s.origin.Skills[r["skill"]], r["workflow-file"]
	if i != nil || file == "" {
		return i
	}
	if id, ok := strings.CutPrefix(file, "skill:"); ok {
		return s.origin.Skills[id]
	}
	places, _ := in.Places(file)
	for _, p := range places {
		i = cmp.Or(i, byPath[p])
	}
	return i
}

var action = pattern.New(`^[a-z]+(-[a-z]+)*$`)

// modeOf returns the part of an item meant by a row of the method's help; "" is the main purpose.
func modeOf(r format.Row) string {
	if action.MatchString(r["action"]) && r["action"] != "create" {
		return r["action"] + " action"
	}
	if mode := strings.ToLower(r["options"]); strings.HasSuffix(mode, " mode") && mode != "create mode" {
		return mode
	}
	return ""
}

package catalog

import (
	"cmp"
	"regexp"
	"strings"
)

// part is one of the things that an item does, with the code and the name it is asked for by.
// mode says which; it is "" for what the item is for.
type part struct{ code, name, mode string }

// maxParts bounds how many rows tell of one item: of the method's own, bmad-agent-tech-writer
// has most, 5.
const maxParts = 100

// helped reads what the method's help says of items: their codes, phases and commands.
func (f *found) helped(in *installation) {
	parts := map[*Item][]part{}
	byPath := map[string]*Item{}
	for _, i := range f.items {
		byPath[i.Path] = i
	}
	for _, r := range f.helpRows(in) {
		i := f.helpedItem(in, r, byPath)
		if i == nil || len(parts[i]) == maxParts {
			continue
		}
		parts[i] = append(parts[i], part{cmp.Or(r["menu-code"], r["code"]), cmp.Or(r["display-name"], r["name"]), modeOf(r)})
		i.Codes = appendNew(i.Codes, r["menu-code"], r["code"])
		if i.Phase == "" || i.Phase == "anytime" {
			i.Phase = cmp.Or(phase(r["phase"]), i.Phase)
		}
		if command := r["command"]; command != i.Name {
			i.Aliases = appendNew(i.Aliases, command)
		}
	}
	for i, parts := range parts {
		if i.Kind != Agent {
			i.does(parts)
		}
	}
}

// helpRows returns the rows of the help of an installation, which has it in one file; where
// there is none, each module's own has it. From 6.3 to 6.5 they have the fields of the later
// kind under the header of the earlier.
func (f *found) helpRows(in *installation) []row {
	var rows []row
	if name := in.manifestOf("bmad-help.csv"); in.layout == LayoutV6 && f.isFile(name) {
		rows = f.manifest(name)
	} else {
		for _, name := range in.helps {
			rows = append(rows, f.manifest(name)...)
		}
	}
	for n, r := range rows {
		if id := r["phase"]; r["skill"] == "" && f.skills[id] != nil {
			// module,phase,name,code,sequence,workflow-file,command,required,… holds
			// module,skill,display-name,menu-code,description,action,args,phase,…
			// under it; rows that leave out an empty field have the phase one column earlier.
			rows[n] = row{"skill": id, "menu-code": r["code"], "phase": cmp.Or(phase(r["command"]), phase(r["required"])), "display-name": r["name"], "action": r["workflow-file"]}
		}
	}
	return rows
}

// helpedItem returns the item that a row tells of: up to 6.2 it names a file, from 6.6 on a
// skill.
func (f *found) helpedItem(in *installation, r row, byPath map[string]*Item) *Item {
	i, file := f.skills[r["skill"]], r["workflow-file"]
	if i != nil || file == "" {
		return i
	}
	if id, ok := strings.CutPrefix(file, "skill:"); ok {
		return f.skills[id]
	}
	places, _ := in.places(file)
	for _, p := range places {
		i = cmp.Or(i, byPath[p])
	}
	return i
}

// does takes over what an item does: it is called as what it is for, and found by the names of
// the rest, such as the status of a sprint.
func (i *Item) does(parts []part) {
	title := parts[0].name
	for _, p := range parts {
		if p.mode == "" {
			title = p.name
			break
		}
	}
	i.Title = cmp.Or(title, i.Title)
	for _, p := range parts {
		if len(parts) == 1 || p.mode == "" {
			continue
		}
		i.intend(p.code, p.mode)
		if p.name != i.Title {
			i.intend(p.name, p.mode)
			i.others = appendNew(i.others, p.name)
		}
	}
}

var action = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// modeOf returns which part of an item a row of the method's help means; "" where it is what
// the item is for.
func modeOf(r row) string {
	if action.MatchString(r["action"]) && r["action"] != "create" {
		return r["action"] + " action"
	}
	if mode := strings.ToLower(r["options"]); strings.HasSuffix(mode, " mode") && mode != "create mode" {
		return mode
	}
	return ""
}

package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// indexNames builds the names by which items are found.
func (c *Catalog) indexNames() {
	c.names = map[Kind]map[string][]namedItem{Agent: {}, Workflow: {}, Task: {}}
	for _, i := range c.items {
		names := c.names[i.Kind]
		put := func(name string, level int) {
			if name = normalName(name); name != "" && !slices.ContainsFunc(names[name], func(m namedItem) bool { return m.item == i }) {
				names[name] = append(names[name], namedItem{i, level})
			}
		}
		put(i.Name, byName)
		put(withoutPrefix(i.Name), byName)
		for _, a := range i.Aliases {
			put(a, byAlias)
			put(withoutPrefix(a), byAlias)
		}
		for _, code := range i.Codes {
			put(code, byCode)
		}
		put(i.DisplayName, byPerson)
		put(i.Title, byTitle)
		put(roleNames[i.Short()], byOther)
		for _, name := range i.others {
			put(name, byOther)
		}
	}
}

// roleNames are the names of roles that the method shortens.
var roleNames = map[string]string{"dev": "developer", "pm": "product-manager", "po": "product-owner", "qa": "tester", "sm": "scrum-master", "tea": "test-architect"}

// plainName returns a name without the marks that people and texts of the method put around it: quotation marks,
// the kind of the item, and the parts of a command, /bmad:bmm:agents:pm.
func plainName(name string) string {
	name = strings.Trim(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"), "`'\"@*")
	for _, mark := range []string{"the ", "skill:", "agent:", "workflow:", "task:"} {
		if len(name) > len(mark) && strings.EqualFold(name[:len(mark)], mark) {
			name = name[len(mark):]
		}
	}
	if parts := strings.Split(strings.TrimPrefix(name, "/"), ":"); len(parts) > 2 && parts[0] == "bmad" {
		return parts[1] + "/" + parts[len(parts)-1]
	}
	return name
}

// AlsoNamed returns the other modules' items of a kind with a name, in full.
func (c *Catalog) AlsoNamed(i Item, name string) (out []string) {
	for _, m := range c.names[i.Kind][normalName(plainName(name))] {
		if m.level <= byAlias && m.item.Module != i.Module {
			out = format.AppendNew(out, m.item.Full())
		}
	}
	return out
}

// Find returns the item of a kind by its name, id, alias, code, person or title, with or without the module
// in front ("bmm/analyst", "bmm-analyst", "bmm.analyst"), or by the address or path of the file. A name in
// several modules is a conflict; the error for an unknown name suggests similar ones.
func (c *Catalog) Find(kind Kind, name string) (Item, error) {
	if c.Empty() {
		return Item{}, NoInstallation()
	}
	if strings.TrimSpace(name) == "" {
		return Item{}, fault.New(fault.InvalidArgument, "no %s is named", kind.Text()).WithHint("name one: %s", c.someNames(kind))
	}
	found := c.lookUpName(kind, name)
	switch len(found) {
	case 0:
		return Item{}, c.notFound(kind, name)
	case 1:
		return *found[0], nil
	}
	full := make([]string, len(found))
	for i, item := range found {
		full[i] = item.Full()
	}
	return Item{}, fault.New(fault.Conflict, "there are %d %s %q", len(found), kind.plural(), format.OneLine(name)).
		WithHint("name its module: %s", strings.Join(full, ", "))
}

// lookUpName returns the items of a kind that a name means.
func (c *Catalog) lookUpName(kind Kind, name string) []*Item {
	name = plainName(name)
	if ref, ok := c.RefTo(name); ok || strings.Contains(name, "/") {
		if i := c.itemAt(kind, name, ref, ok); i != nil {
			return []*Item{i}
		}
	}
	module, rest := "", name
	for _, mark := range []string{"/", ":", "."} {
		if before, after, ok := strings.Cut(strings.TrimSpace(name), mark); ok && before != "" && (mark == "/" || !strings.Contains(after, mark)) {
			module, rest = before, after
			break
		}
	}
	bare := withoutPrefix(normalName(name))
	for _, look := range []func() []*Item{
		func() []*Item { return c.bestMatches(kind, rest, module) },
		func() []*Item { return c.bestMatches(kind, name, "") },
		func() []*Item { return c.findJoined(kind, normalName(name)) },
		func() []*Item { return c.bestMatches(kind, bare, module) },
		func() []*Item { return c.findJoined(kind, bare) },
	} {
		if found := look(); len(found) > 0 {
			return found
		}
	}
	return nil
}

// Named returns the work that a menu names: a workflow, a task or an agent.
func (c *Catalog) Named(name string) (Item, bool) {
	for _, kind := range []Kind{Workflow, Task, Agent} {
		if found := c.lookUpName(kind, name); len(found) > 0 {
			return *found[0], true
		}
	}
	return Item{}, false
}

// itemAt returns the item with a given entry file, by the file's address or path.
func (c *Catalog) itemAt(kind Kind, name string, ref Ref, known bool) *Item {
	var err error
	if !known {
		if ref, err = ParseRef(name); err != nil {
			return nil
		}
	}
	f, file, ok := c.LookUp(ref)
	for _, i := range c.items {
		if i.Kind == kind && i.Origin == f && i.Path == file {
			return i
		}
	}
	// Menus name files of another version: of workflows that have become skills, and of agents.
	called := format.Stem(ref.Path)
	switch base := path.Base(ref.Path); {
	case base == "workflow.md" || base == "workflow.yaml" || base == "SKILL.md":
		called = path.Base(path.Dir(ref.Path))
	case ok || path.Ext(base) == "":
		return nil
	}
	if found := c.bestMatches(kind, strings.TrimPrefix(withoutPrefix(called), "workflow-"), ""); len(found) == 1 {
		return found[0]
	}
	return nil
}

// RefTo returns the address of a system path in a source: resolved texts name files by such paths.
func (c *Catalog) RefTo(name string) (Ref, bool) {
	name = filepath.ToSlash(strings.TrimSpace(name))
	plain, query, _ := strings.Cut(name, "?")
	for _, f := range c.origins {
		rest, ok := strings.CutPrefix(plain, filepath.ToSlash(f.Dir)+"/")
		if f.Dir == "" || !ok || !fs.ValidPath(rest) {
			continue
		}
		ref, err := ParseRef(Address(f.Name, rest) + "?" + query)
		return ref, err == nil
	}
	return Ref{}, false
}

// findJoined returns the items meant by {module}-{name}, the form of tools and commands. The name of a
// module can contain a - itself.
func (c *Catalog) findJoined(kind Kind, name string) []*Item {
	for at, r := range name {
		if r != '-' {
			continue
		}
		if found := c.bestMatches(kind, name[at+1:], name[:at]); len(found) > 0 && at > 0 {
			return found
		}
	}
	return nil
}

// bestMatches returns the items with a name, from the best level with any.
func (c *Catalog) bestMatches(kind Kind, name, module string) []*Item {
	var out []*Item
	var least [3]int
	for _, m := range c.names[kind][normalName(name)] {
		if module != "" && !strings.EqualFold(m.item.Module, module) {
			continue
		}
		rank := [3]int{m.item.Origin.order, m.level}
		if module == "" && !m.item.listed { // a file left behind, beside the installed one
			rank[2] = 1
		}
		if m.level > byAlias {
			rank[0] += len(c.origins)
		}
		switch order := slices.Compare(rank[:], least[:]); {
		case len(out) == 0 || order < 0:
			out, least = []*Item{m.item}, rank
		case order == 0:
			out = append(out, m.item)
		}
	}
	return out
}

func (c *Catalog) notFound(kind Kind, name string) error {
	err := fault.New(fault.NotFound, "there is no %s %q", kind.Text(), shorten(name))
	name = plainName(name)
	bare := name[strings.IndexAny(name, "/:")+1:]
	if bare != name { // of another module
		if elsewhere := c.bestMatches(kind, bare, ""); len(elsewhere) > 0 {
			return err.Offer([]string{elsewhere[0].Full()})
		}
	}
	near := c.similarNames(kind, name)
	alike := map[Kind]Kind{Workflow: Task, Task: Workflow}[kind] // people confuse them
	if len(near) == 0 && alike != "" {
		near = c.similarNames(alike, name)
	}
	for _, other := range kinds {
		if found := c.bestMatches(other, bare, ""); other != kind && len(found) > 0 {
			err = err.WithHint("there is one among the %s: %s", other.plural(), found[0].Full())
			if len(near) > 0 {
				err.AddHint("; or did you mean %s?", strings.Join(near, ", "))
			}
			err.Suggestions = append([]string{found[0].Full()}, near...)
			return err
		}
	}
	if len(near) > 0 {
		return err.Offer(near)
	}
	if alike != "" {
		return err.WithHint("the %s are: %s; the %s: %s", kind.plural(), c.someNames(kind), alike.plural(), c.someNames(alike))
	}
	if len(c.names[kind]) == 0 {
		return err.WithHint("%s", NoneInstalled(kind))
	}
	return err.WithHint("there are: %s", c.someNames(kind))
}

// NoneInstalled says that a catalog has no item of a kind.
func NoneInstalled(kind Kind) lang.Text {
	return lang.T("no %s is installed; the list of modules names what could not be used", kind.Text())
}

// someNames lists the names of a few items of a kind.
func (c *Catalog) someNames(kind Kind) lang.Text {
	const few = 12
	var names []string
	for _, i := range c.items {
		if i.Kind == kind {
			names = format.AppendNew(names, i.Name)
		}
	}
	switch {
	case len(names) == 0:
		return lang.T("none")
	case len(names) > few:
		return lang.T("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return lang.T("%s", strings.Join(names, ", "))
}

// similarNames returns the names of items similar to a name, the most similar first.
func (c *Catalog) similarNames(kind Kind, name string) []string {
	want := normalName(shorten(name))
	type near struct {
		name     string
		distance int
	}
	var all []near
	for known, matches := range c.names[kind] {
		d, similar := fault.Distance(want, known)
		if last := want[strings.LastIndexByte(want, '-')+1:]; !similar && len(last) >= 3 && slices.Contains(strings.Split(known, "-"), last) {
			d, similar = 2+len(want)-len(last), true // a word of the name, prd of create-prd
		}
		if !similar {
			continue
		}
		for _, m := range matches {
			all = append(all, near{m.item.Name, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name)) })
	var out []string
	for _, n := range all {
		if out = format.AppendNew(out, n.name); len(out) == 3 {
			break
		}
	}
	return out
}

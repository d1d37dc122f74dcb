package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lithammer/fuzzysearch/fuzzy"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// match is an item under one of its names. A lower level is a better one; among the names
// that are its own the source counts first, so that nothing added later goes before what the
// project has.
type match struct {
	item  *Item
	level int
}

// The levels at which a name tells an item.
const (
	byName = iota // with or without what only says that it is of the method
	byAlias
	byCode
	byPerson
	byTitle
	byOther
)

// index makes the names by which items are found.
func (c *Catalog) index() {
	c.names = map[Kind]map[string][]match{Agent: {}, Workflow: {}, Task: {}}
	for _, i := range c.items {
		names := c.names[i.Kind]
		put := func(name string, level int) {
			if name = normal(name); name != "" && !slices.ContainsFunc(names[name], func(m match) bool { return m.item == i }) {
				names[name] = append(names[name], match{i, level})
			}
		}
		put(i.Name, byName)
		put(short(i.Name), byName)
		for _, a := range i.Aliases {
			put(a, byAlias)
			put(short(a), byAlias)
		}
		for _, code := range i.Codes {
			put(code, byCode)
		}
		put(i.DisplayName, byPerson)
		put(i.Title, byTitle)
		for _, name := range i.others {
			put(name, byOther)
		}
	}
}

// normal returns a name as it is compared: people write it with spaces, capitals, and the
// mark of a command; menus with that of a skill, and texts as the name of a file.
func normal(name string) string {
	name = strings.TrimPrefix(strings.Trim(dashes.Replace(strings.ToLower(oneLine(name))), "*/-"), "skill:")
	for _, ext := range []string{".md", ".xml", ".yaml"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

var dashes = strings.NewReplacer(" ", "-", "_", "-")

// Find returns the item of a kind that a name means: its name, id, alias, code, person or
// title, with or without its module before it ("bmm/analyst", "bmm-analyst"), or the address or
// path of its file. Several modules with the same name are a conflict; a name of nobody is told
// which are near.
func (c *Catalog) Find(kind Kind, name string) (Item, error) {
	if c.Empty() {
		return Item{}, NoInstallation()
	}
	if strings.TrimSpace(name) == "" {
		return Item{}, fault.New(fault.InvalidArgument, "no %s is named", kind).WithHint("name one: %s", c.some(kind))
	}
	if ref, ok := c.RefTo(name); ok || strings.Contains(name, "://") {
		if i := c.at(kind, name, ref, ok); i != nil {
			return *i, nil
		}
	}
	module, rest := "", name
	for _, mark := range []string{"/", ":"} {
		if before, after, ok := strings.Cut(strings.TrimSpace(name), mark); ok && before != "" && (mark == "/" || !strings.Contains(after, mark)) {
			module, rest = before, after
			break
		}
	}
	found := c.best(kind, rest, module)
	if len(found) == 0 && module != "" {
		found = c.best(kind, name, "")
	}
	if len(found) == 0 {
		found = c.joined(kind, normal(name))
	}
	if len(found) == 0 {
		found = c.best(kind, short(normal(name)), module)
	}
	if len(found) == 0 {
		found = c.joined(kind, short(normal(name)))
	}
	switch len(found) {
	case 0:
		return Item{}, c.unknown(kind, name)
	case 1:
		return *found[0], nil
	}
	full := make([]string, len(found))
	for i, item := range found {
		full[i] = item.Full()
	}
	return Item{}, fault.New(fault.Conflict, "there are %d %ss %q", len(found), kind, oneLine(name)).
		WithHint("name its module: %s", strings.Join(full, ", "))
}

// knows reports whether anything has a name.
func (c *Catalog) knows(name string) bool {
	return slices.ContainsFunc([]Kind{Agent, Workflow, Task}, func(kind Kind) bool { return len(c.best(kind, name, "")) > 0 })
}

// at returns the item that a file begins, by its address or path.
func (c *Catalog) at(kind Kind, name string, ref Ref, known bool) *Item {
	var err error
	if !known {
		if ref, err = ParseRef(name); err != nil {
			return nil
		}
	}
	f, file, ok := c.lookUp(ref)
	if !ok {
		return nil
	}
	for _, i := range c.items {
		if i.Kind == kind && i.in == f && i.Path == file {
			return i
		}
	}
	// In 6.2 menus name the files of workflows that are found as skills.
	if base := path.Base(file); base == "workflow.md" || base == "workflow.yaml" || base == "SKILL.md" {
		if found := c.best(kind, path.Base(path.Dir(file)), ""); len(found) == 1 {
			return found[0]
		}
	}
	return nil
}

// RefTo returns the address of a path of the system that lies in a source. Texts of the
// method that are filled in name files by such paths.
func (c *Catalog) RefTo(name string) (Ref, bool) {
	name = filepath.ToSlash(strings.TrimSpace(name))
	plain, query, _ := strings.Cut(name, "?")
	for _, f := range c.sources {
		rest, ok := strings.CutPrefix(plain, filepath.ToSlash(f.Dir)+"/")
		if f.Dir == "" || !ok || !fs.ValidPath(rest) {
			continue
		}
		ref, err := ParseRef(Address(f.Name, rest) + "?" + query)
		return ref, err == nil
	}
	return Ref{}, false
}

// joined returns the items that {module}-{name} means, as tools and commands are called. The
// name of a module can have a - itself.
func (c *Catalog) joined(kind Kind, name string) []*Item {
	for at, r := range name {
		if r != '-' {
			continue
		}
		if found := c.best(kind, name[at+1:], name[:at]); len(found) > 0 && at > 0 {
			return found
		}
	}
	return nil
}

// best returns the items that a name means at the best level at which it means any.
func (c *Catalog) best(kind Kind, name, module string) []*Item {
	var out []*Item
	var least [2]int
	for _, m := range c.names[kind][normal(name)] {
		if module != "" && !strings.EqualFold(m.item.Module, module) {
			continue
		}
		rank := [2]int{m.item.in.order, m.level}
		if m.level > byAlias {
			rank[0] += len(c.sources)
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

func (c *Catalog) unknown(kind Kind, name string) error {
	err := fault.New(fault.NotFound, "there is no %s %q", kind, clipped(name))
	if at := strings.IndexAny(name, "/:"); at >= 0 { // of another module
		if elsewhere := c.best(kind, name[at+1:], ""); len(elsewhere) > 0 {
			return err.WithHint("did you mean %s?", elsewhere[0].Full())
		}
	}
	near := strings.Join(c.near(kind, name), ", ")
	alike := map[Kind]Kind{Workflow: Task, Task: Workflow}[kind] // people do not tell them apart
	if near == "" && alike != "" {
		near = strings.Join(c.near(alike, name), ", ")
	}
	for _, other := range []Kind{Agent, Workflow, Task} {
		if found := c.best(other, name, ""); other != kind && len(found) > 0 {
			hint := fmt.Sprintf("there is one among the %ss: %s", other, found[0].Full())
			if near != "" {
				hint += "; or did you mean " + near + "?"
			}
			return err.WithHint("%s", hint)
		}
	}
	if near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	if alike != "" {
		return err.WithHint("the %ss are: %s; the %ss: %s", kind, c.some(kind), alike, c.some(alike))
	}
	return err.WithHint("there are: %s", c.some(kind))
}

func clipped(name string) string { return cutText(oneLine(name), 100) }

// some names a few items of a kind.
func (c *Catalog) some(kind Kind) string {
	const few = 12
	var names []string
	for _, i := range c.items {
		if i.Kind == kind {
			names = appendNew(names, i.Name)
		}
	}
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > few:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// near returns the names of items that are like one, the likest first.
func (c *Catalog) near(kind Kind, name string) []string {
	want := normal(clipped(name))
	type near struct {
		name     string
		distance int
	}
	var all []near
	for known, matches := range c.names[kind] {
		if len(known) < 3 && len(want) >= 3 || len(want) < 4 && !strings.HasPrefix(known, want) { // what is short is near to everything
			continue
		}
		d := fuzzy.LevenshteinDistance(want, known)
		switch {
		case len(want) >= 3 && (strings.HasPrefix(known, want) || strings.HasPrefix(want, known)):
			d = 1
		case len(want) >= 4 && strings.Contains(known, want):
			d = 2
		}
		if d > max(1, min(len(want), len(known))/4) {
			continue
		}
		for _, m := range matches {
			all = append(all, near{m.item.Name, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name)) })
	var out []string
	for _, n := range all {
		if out = appendNew(out, n.name); len(out) == 3 {
			break
		}
	}
	return out
}

// Hit is an item that a search has found.
type Hit struct {
	Item
	// Score says how well it fits: 100 a name, 80 the beginning of one, 60 words of a name
	// or title, 40 of a description, less where only some of the words are there.
	Score int `json:"score"`
}

// Search returns the items that have the words of a query, the best first.
func (c *Catalog) Search(query string, kinds ...Kind) []Hit {
	words := significant(query)
	if len(words) == 0 {
		return nil
	}
	whole := normal(query)
	var out []Hit
	for _, i := range c.Items(kinds...) {
		if score := i.score(whole, words); score > 0 {
			out = append(out, Hit{i, score})
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int {
		return cmp.Or(b.Score-a.Score, cmp.Compare(rank(a.Kind), rank(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return out
}

// fillers are words of questions that are in nearly every description.
var fillers = strings.Fields("a an the i me my we us you your it is are be do does how what which when who can could should want need needs help with for from to of on in at by and or not some something about up this that use user")

// significant returns the words of a query that say what is looked for, without their
// endings; all of them where none does.
func significant(query string) []string {
	var out []string
	all := strings.Fields(strings.ToLower(query))
	for _, w := range all {
		w = strings.Trim(w, ".,;:!?\"'()")
		if w == "" || slices.Contains(fillers, w) {
			continue
		}
		for _, ending := range []string{"ing", "es", "s"} {
			if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) > 3 {
				w = rest
				break
			}
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func (i Item) score(whole string, words []string) int {
	names := append([]string{i.Name, short(i.Name), i.DisplayName, i.Title}, i.Aliases...)
	names = append(names, i.Codes...)
	prefix := false
	for _, n := range names {
		n = normal(n)
		if n == whole && n != "" {
			return 100
		}
		prefix = prefix || n != "" && strings.HasPrefix(n, whole)
	}
	if prefix {
		return 80
	}
	title := strings.ToLower(strings.Join(names, " ") + " " + i.Module + " " + i.Phase)
	all := title + " " + strings.ToLower(i.Description)
	inTitle, inAll := 0, 0
	for _, w := range words {
		if strings.Contains(title, w) {
			inTitle++
		}
		if strings.Contains(all, w) {
			inAll++
		}
	}
	switch {
	case inTitle == len(words):
		return 60
	case inAll == len(words):
		return 40
	case inAll*2 >= len(words) && inAll > 0: // at least half of a question
		return 10 + 20*inAll/len(words)
	}
	return 0
}

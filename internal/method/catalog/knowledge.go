package catalog

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Fragment is a piece of knowledge: a file of reference, of a module or a skill.
type Fragment struct {
	Name        string   `json:"name"`
	Domain      string   `json:"domain"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	URI         string   `json:"uri"`
	Size        int64    `json:"size"`

	module string
}

// Domain is a field of knowledge.
type Domain struct {
	Name      string `json:"name"`
	Fragments int    `json:"fragments"`
	Size      int64  `json:"size"`
}

// knowledgeFolders are the folders in which installations keep knowledge.
var knowledgeFolders = []string{"knowledge", "data", "references", "resources", "help", "types"}

// Knowledge returns the pieces of knowledge of a domain: the name of a folder of knowledge,
// of a skill, a module, a tag or a piece. An empty one means all. They are searched
// for on demand: nothing else needs them.
func (c *Catalog) Knowledge(domain string) []Fragment {
	out := c.knowledgeAbout(normalName(domain))
	if other := otherDomain[normalName(domain)]; len(out) == 0 && other != "" {
		return c.knowledgeAbout(other)
	}
	return out
}

// otherDomain has the other name of a domain: versions of the method name it differently.
var otherDomain = map[string]string{"testarch": "tea", "tea": "testarch"}

func (c *Catalog) knowledgeAbout(want string) []Fragment {
	var out []Fragment
	known := map[[3]any]bool{}
	for _, f := range c.origins {
		for _, piece := range f.findKnowledge() {
			same := [3]any{piece.module, piece.Name, piece.Size} // also the copy of another skill
			if want == "" {                                      // to count by domains
				same[2] = piece.Domain
			}
			if !known[same] && (want == "" || piece.isAbout(want)) {
				known[same] = true
				out = append(out, piece)
			}
		}
	}
	return out
}

// isAbout reports whether a piece belongs to a domain, under any of the domain's names.
func (p Fragment) isAbout(domain string) bool {
	names := append([]string{p.Domain, withoutPrefix(p.Domain), p.module, p.Name}, p.Tags...)
	for part := range strings.SplitSeq(path.Dir(p.URI), "/") {
		names = append(names, part)
	}
	return slices.ContainsFunc(names, func(name string) bool { return normalName(name) == domain })
}

// Domains returns the fields of knowledge.
func (c *Catalog) Domains() []Domain {
	var out []Domain
	for _, p := range c.Knowledge("") {
		at := slices.IndexFunc(out, func(d Domain) bool { return d.Name == p.Domain })
		if at < 0 {
			at = len(out)
			out = append(out, Domain{Name: p.Domain})
		}
		out[at].Fragments++
		out[at].Size += p.Size
	}
	slices.SortFunc(out, func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Near returns the domains with similar names.
func (c *Catalog) Near(domain string) []string {
	var out, names []string
	want := normalName(domain)
	for _, d := range c.Domains() {
		names = append(names, d.Name)
		if name := normalName(d.Name); strings.Contains(name, want) || strings.Contains(want, name) {
			out = append(out, d.Name)
		}
	}
	if len(out) == 0 {
		return fault.Near(domain, names)
	}
	return out
}

// pieces are the pieces of knowledge of a source.
type pieces struct {
	list []Fragment
	// at has the place of a piece in the list, by the path, and by the file's name.
	at map[string]int
}

// findKnowledge finds the pieces of a source, with their details from the indexes.
func (f *Origin) findKnowledge() []Fragment {
	found := pieces{at: map[string]int{}}
	var indexes []string
	for _, tree := range f.outermostTrees() {
		entries := 0
		f.EachFile(tree, &entries, func(name string, size int64) {
			if strings.HasSuffix(name, "-index.csv") {
				indexes = append(indexes, name)
				return
			}
			domain, ok := f.domainOf(name)
			if !ok {
				return
			}
			at := len(found.list)
			found.list = append(found.list, Fragment{Name: format.Stem(name), Domain: domain, URI: f.URI(name), Size: size, module: f.moduleOf(name)})
			found.at[name] = at
			if _, named := found.at[path.Base(name)]; !named {
				found.at[path.Base(name)] = at
			}
		})
	}
	for _, index := range indexes {
		f.applyIndex(index, found)
	}
	return found.list
}

// domainOf returns the field of knowledge of a file, if any.
func (f *Origin) domainOf(name string) (string, bool) {
	if ext := path.Ext(name); ext != ".md" && ext != ".csv" && ext != ".txt" && ext != ".yaml" && ext != ".json" {
		return "", false
	}
	folders := strings.Split(path.Dir(name), "/")
	at := -1
	for i, folder := range folders {
		if slices.Contains(knowledgeFolders, folder) {
			at = i
			break
		}
	}
	if at < 0 || path.Base(name) == "SKILL.md" {
		return "", false
	}
	first := at
	for at+1 < len(folders) && slices.Contains(knowledgeFolders, folders[at+1]) { // resources/knowledge/x.md
		at++
	}
	switch {
	case at+1 < len(folders): // knowledge/tea/x.md
		return folders[at+1], true
	case first == 0:
		return folders[0], true
	}
	above := folders[first-1]
	for _, in := range f.Installations {
		if in.Layout == LayoutV4 && path.Join(in.Dir, folders[at]) == path.Dir(name) {
			return folders[at], true
		}
	}
	return strings.TrimLeft(above, "._"), true
}

func (f *Origin) moduleOf(name string) string {
	for _, in := range f.Installations {
		if in.Layout == LayoutV6 && strings.HasPrefix(name, in.Dir+"/") {
			return in.ModuleOf(name)
		}
		if in.Layout == LayoutV4 && strings.HasPrefix(name, in.Dir+"/") {
			for module := range in.Modules {
				return module
			}
		}
	}
	if tree, ok := f.treeOf(name); ok { // the tree of the skill, or of a copy for another assistant
		if i := f.Skills[path.Base(tree)]; i != nil {
			return i.Module
		}
		if code, ok := strings.CutPrefix(path.Base(tree), "bmod-"); ok { // the record of a module
			return code
		}
	}
	return ""
}

// applyIndex adds the details of pieces from an index. Indexes name files relative to themselves; the name
// alone identifies a moved file.
func (f *Origin) applyIndex(index string, found pieces) {
	file, err := f.File(index)
	if err != nil {
		return
	}
	rows, _ := format.Rows(format.Normalize(file.Data)) // rows before a broken one are usable
	field := strings.TrimSuffix(path.Base(index), "-index.csv")
	for _, r := range rows {
		named := cmp.Or(r["fragment_file"], r["file"], r["path"])
		at, known := found.at[path.Join(path.Dir(index), named)]
		if !known {
			at, known = found.at[path.Base(named)]
		}
		if named == "" || !known {
			continue
		}
		p := &found.list[at]
		p.Name, p.Description = cmp.Or(r["id"], p.Name), cmp.Or(r.Plain("description"), r.Plain("name"))
		for _, tag := range strings.FieldsFunc(r["tags"], func(c rune) bool { return c == ',' || c == ';' }) {
			p.Tags = format.AppendNew(p.Tags, strings.TrimSpace(tag))
		}
		p.Tags = format.AppendNew(p.Tags, field)
	}
}

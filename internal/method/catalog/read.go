package catalog

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// Read returns the bytes of a file, as they are.
func (c *Catalog) Read(r Ref) (TextFile, error) {
	f, name, err := c.Locate(r)
	if err != nil {
		return TextFile{}, err
	}
	return f.File(name)
}

// written is the author of a workflow, and the version of the file with the name.
type written struct {
	stamp
	by string
}

// WrittenBy returns the author of a workflow from the file. Only lists need the author, so nothing else
// reads the file for it.
func (i Item) WrittenBy() string {
	if ext := path.Ext(i.Path); i.Kind != Workflow || ext != ".yaml" && ext != ".yml" {
		return ""
	}
	info, err := i.Origin.stat(i.Path)
	if err != nil {
		return ""
	}
	out := written{stamp: stampOf(info)}
	if known, ok := i.Origin.authors.Load(i.Path); ok && known.(written).stamp == out.stamp {
		return known.(written).by
	}
	real, stays := i.Origin.resolveInTree(i.Path)
	if !stays {
		return ""
	}
	data, err := readLimited(i.Origin.FS, real, maxHead)
	if err != nil && !errors.Is(err, errTooLarge) {
		return ""
	}
	out.by = visible.Fit(format.OneLine(format.Scalars(format.Normalize(data))["author"]), maxName)
	i.Origin.authors.Store(i.Path, out)
	return out.by
}

// LookUp finds the file of an address: by its path in a source, else in an installation.
func (c *Catalog) LookUp(r Ref) (*Origin, string, bool) {
	for _, f := range c.origins {
		if (r.Source == "" || f.Name == r.Source) && f.Has(r.Path) {
			return f, r.Path, true
		}
	}
	for _, f := range c.origins {
		if r.Source != "" && f.Name != r.Source {
			continue
		}
		if script, ok := f.scriptPath(r.Path); ok {
			return f, script, true
		}
		for _, in := range f.Installations {
			if in.Layout == LayoutSkills {
				continue
			}
			places, _ := in.Places(r.Path)
			for _, name := range places {
				if f.Has(name) {
					return f, name, true
				}
			}
		}
	}
	return nil, "", false
}

// Locate is LookUp with an error that explains why an address leads nowhere.
func (c *Catalog) Locate(r Ref) (*Origin, string, error) {
	if len(c.origins) == 0 || c.Empty() && len(c.items) == 0 {
		return nil, "", NoInstallation()
	}
	if f, name, ok := c.LookUp(r); ok {
		return f, name, nil
	}
	if names := c.sourceNames(); r.Source != "" && !slices.Contains(names, r.Source) {
		return nil, "", fault.New(fault.NotFound, "unknown source %q", r.Source).WithHint("the sources are: %s", strings.Join(names, ", ")).Suggest(r.Source, names)
	}
	err := fault.New(fault.NotFound, "no installation has a file %q", r.Path)
	near := c.itemsWithFileName(r.Path)
	for _, uri := range c.addressesAround(r, fault.NearPath) {
		near = format.AppendNew(near, uri)
	}
	if len(near) > 0 {
		return nil, "", err.Offer(near[:min(few, len(near))])
	}
	if beside := c.addressesAround(r, siblings); len(beside) > 0 {
		beside = beside[:min(few, len(beside))]
		err.Suggestions = beside
		return nil, "", err.WithHint("its folder has, among others: %s", strings.Join(beside, ", "))
	}
	return nil, "", err.WithHint("list the agents, workflows, tasks or files: lists give their addresses")
}

// few is how many addresses a refusal has.
const few = 3

// addressesAround returns the addresses of the files found by a rule for a path, in each source and each
// installation. list gives the rule the names in a folder.
func (c *Catalog) addressesAround(r Ref, rule func(name string, list func(folder string) []string) []string) []string {
	var out []string
	for _, f := range c.origins {
		if r.Source != "" && f.Name != r.Source {
			continue
		}
		for _, root := range f.startFolders() {
			for _, name := range rule(r.Path, func(folder string) []string { return f.servedIn(path.Join(root, folder)) }) {
				if name = path.Join(root, name); f.Has(name) {
					out = format.AppendNew(out, f.URI(name))
				}
			}
		}
	}
	return out
}

// siblings returns the files in the same folder, with files of the same type first.
func siblings(name string, list func(folder string) []string) []string {
	var same, other []string
	for _, n := range list(path.Dir(name)) {
		switch full := path.Join(path.Dir(name), n); {
		case strings.HasSuffix(n, "/") || path.Dir(name) == ".":
		case path.Ext(n) == path.Ext(name):
			same = append(same, full)
		default:
			other = append(other, full)
		}
	}
	return append(same, other...)
}

// startFolders returns the start folders of paths in addresses.
func (f *Origin) startFolders() []string {
	out := []string{"."}
	for _, in := range f.Installations {
		if in.Layout != LayoutSkills {
			out = format.AppendNew(out, in.Dir)
		}
	}
	return out
}

// servedIn returns the names in a folder that may be served or lead to such files; names of folders end
// with a slash.
func (f *Origin) servedIn(folder string) []string {
	entries, err := fs.ReadDir(f.FS, folder)
	if err != nil || len(entries) > maxEntries {
		return nil
	}
	var out []string
	trees := f.outermostTrees()
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		_, served := f.treeOf(name)
		leads := slices.ContainsFunc(trees, func(tree string) bool { return strings.HasPrefix(tree+"/", name+"/") })
		switch {
		case !served && !leads, isPrivate(e.Name()), noText[strings.ToLower(path.Ext(name))]:
		case e.IsDir():
			out = append(out, e.Name()+"/")
		case served && e.Type().IsRegular():
			out = append(out, e.Name())
		}
	}
	return out
}

func (c *Catalog) sourceNames() []string {
	var out []string
	for _, f := range c.origins {
		out = append(out, f.Name)
	}
	return out
}

// itemsWithFileName returns the addresses of items whose file or folder has the same name.
func (c *Catalog) itemsWithFileName(name string) []string {
	var out []string
	want := strings.ToLower(path.Base(name))
	for _, i := range c.items {
		if i.Path == "" || len(out) == 3 {
			continue
		}
		sameFolder := path.Dir(name) != "." && path.Base(i.Dir) == path.Base(path.Dir(name))
		// Every skill and every workflow has a file of these names.
		common := format.Stem(want) == "skill" || format.Stem(want) == "workflow"
		sameName := !common && format.Stem(strings.ToLower(path.Base(i.Path))) == format.Stem(want)
		if sameName || sameFolder {
			out = format.AppendNew(out, i.URI)
		}
	}
	return out
}

// Listed is a file in a list.
type Listed struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size"`
}

// Files lists the files of the installations whose path matches a pattern, in order; an
// empty pattern matches all. The error names the mistake in the pattern.
func (c *Catalog) Files(pattern string) ([]Listed, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	pattern, source := patternOf(pattern)
	var out []Listed
	for _, f := range c.origins {
		if source != "" && f.Name != source {
			continue
		}
		first := len(out)
		for _, tree := range f.outermostTrees() {
			entries := 0
			f.EachFile(tree, &entries, func(name string, size int64) {
				if !f.matchesGlob(pattern, name) {
					return
				}
				out = append(out, Listed{URI: f.URI(name), MIMEType: MIMEType(name), Size: size})
			})
		}
		slices.SortFunc(out[first:], func(a, b Listed) int { return strings.Compare(a.URI, b.URI) })
	}
	return out, nil
}

// matchesGlob matchesGlob a path in the source, or in an installation of it.
func (f *Origin) matchesGlob(glob, name string) bool {
	if glob == "" || pattern.MatchPath(glob, name) {
		return true
	}
	for _, in := range f.Installations {
		if rest, ok := strings.CutPrefix(name, in.Dir+"/"); ok && pattern.MatchPath(glob, rest) {
			return true
		}
	}
	return false
}

// checkPattern refuses a malformed pattern, which would match nothing.
func checkPattern(pattern string) error {
	if _, err := path.Match(strings.ReplaceAll(pattern, "**", "*"), "x"); err != nil || len(pattern) > maxAddress || strings.Count(pattern, "**") > 4 {
		return fault.New(fault.InvalidArgument, "the pattern %.200q is malformed", pattern).
			WithHint("* stands for anything within a name, ** for any folders, such as core/workflows/**/*.yaml")
	}
	return nil
}

// patternOf returns the pattern of paths, and the source if it names one, as an address does.
func patternOf(pattern string) (paths, source string) {
	paths, address := strings.CutPrefix(pattern, Scheme+"://")
	if plain, err := url.PathUnescape(paths); address && err == nil {
		paths = plain
	}
	paths = strings.TrimPrefix(paths, "/")
	if named, ok := strings.CutPrefix(paths, "~"); ok {
		if source, rest, ok := strings.Cut(named, "/"); ok {
			return rest, source
		}
	}
	return paths, ""
}

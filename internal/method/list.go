package method

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// maxDescription bounds a description in a list, in bytes.
const maxDescription = 400

// pageOf returns as many values of a list as fit into room bytes of JSON, starting after the value named by
// the cursor, and the cursor for the next page; "" at the end.
func pageOf[T any](all []T, cursor string, room int, key func(T) string) (values []T, next string, err error) {
	from := 0
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			return nil, "", badCursor()
		}
		if from = 1 + slices.IndexFunc(all, func(v T) bool { return key(v) == string(last) }); from == 0 {
			return nil, "", badCursor()
		}
	}
	values = []T{}
	for n, v := range all[from:] {
		data, err := Encode(v)
		if err != nil {
			return nil, "", err
		}
		if room -= encodedSize(string(data)) + 1; room < 0 && n > 0 {
			return values, cursorAt(key(all[from+n-1])), nil
		}
		values = append(values, v)
	}
	return values, "", nil
}

func cursorAt(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

func badCursor() error {
	return fault.New(fault.InvalidArgument, "the cursor is not one of this list, or the list has changed").WithHint("begin again without a cursor")
}

// Page is a page of a list.
type Page struct {
	// Total is how many there are on all pages.
	Total      int    `json:"total"`
	NextCursor string `json:"next_cursor,omitempty"`
	Hint       string `json:"hint,omitempty"`
}

// ItemPage is a page of items, in the list of their kind.
type ItemPage struct {
	Agents    []catalog.Item `json:"agents,omitzero"`
	Workflows []catalog.Item `json:"workflows,omitzero"`
	Tasks     []catalog.Item `json:"tasks,omitzero"`
	Page
}

// room is the space for the values of a list.
const room = MaxReply - 800

// Items lists the items of a kind. category and module, if they are not empty, leave out other phases and
// modules.
func (s *Snapshot) Items(kind catalog.Kind, category, module, cursor string) (ItemPage, error) {
	all, err := s.All(kind, category, module)
	if err != nil {
		return ItemPage{}, err
	}
	for n := range all {
		all[n] = shortenItem(all[n])
	}
	values, next, err := pageOf(all, cursor, room, catalog.Item.Full)
	for n := range values {
		values[n] = s.withPeople(values[n])
	}
	// The people of these few make the page longer.
	if fit, rest, e := pageOf(values, "", room, catalog.Item.Full); err == nil && e == nil && rest != "" {
		values, next = fit, rest
	}
	out := ItemPage{Page: Page{Total: len(all), NextCursor: next}}
	if len(all) == 0 {
		out.Hint = s.noneOf(kind, category, module).In(s.language())
	}
	switch kind {
	case catalog.Agent:
		out.Agents = values
	case catalog.Workflow:
		out.Workflows = values
	case catalog.Task:
		out.Tasks = values
	}
	return out, err
}

// withPeople returns an item with the author and the agents that offer it.
func (s *Snapshot) withPeople(i catalog.Item) catalog.Item {
	i.Author = i.WrittenBy()
	if i.Kind != catalog.Agent {
		i.OfferedBy = s.offeredBy(i)
	}
	return i
}

// noneOf explains an empty list, with the existing phases and modules.
func (s *Snapshot) noneOf(kind catalog.Kind, category, module string) lang.Text {
	if category == "" && module == "" {
		return catalog.NoneInstalled(kind)
	}
	none := lang.T("no %s matches; leave out category and module to list all", kind.Text())
	phases, modules := map[string]bool{}, map[string]bool{}
	for _, i := range s.Catalog.Items(kind) {
		phases[i.Category], modules[i.Module] = true, true
	}
	if known := slices.Sorted(maps.Keys(phases)); category != "" && len(known) > 0 {
		none = lang.T("%s; the categories are: %s", none, strings.Join(known, ", "))
	}
	if known := slices.Sorted(maps.Keys(modules)); module != "" && len(known) > 0 {
		none = lang.T("%s; the modules are: %s", none, strings.Join(known, ", "))
	}
	return none
}

// maxNames bounds the other names of an item in a list.
const maxNames = 20

// shortenItem shortens an item for a list.
func shortenItem(i catalog.Item) catalog.Item {
	i.Codes, i.Aliases = i.Codes[:min(len(i.Codes), maxNames)], i.Aliases[:min(len(i.Aliases), maxNames)]
	i.Description = visible.Fit(i.Description, maxDescription)
	return i
}

// maxBrief bounds a description in a brief list, in bytes.
const maxBrief = 200

// BriefItem returns an item without what its address, its category and the details say too.
func BriefItem(i catalog.Item) catalog.Item {
	if i.Source == catalog.Project {
		i.Source = ""
	}
	i.Path, i.Phase, i.Aliases, i.Description = "", "", nil, visible.Fit(i.Description, maxBrief)
	return i
}

// Brief returns a page with brief items.
func (p ItemPage) Brief() ItemPage {
	for _, list := range [][]catalog.Item{p.Agents, p.Workflows, p.Tasks} {
		for n := range list {
			list[n] = BriefItem(list[n])
			list[n].Kind = "" // the list has its name
		}
	}
	return p
}

// HitPage is a page of search results, the best first.
type HitPage struct {
	Query   string        `json:"query"`
	Results []catalog.Hit `json:"results"`
	Page
}

// Search finds items by words. module, if it is not empty, leaves out other modules.
func (s *Snapshot) Search(query, module, cursor string, kinds ...catalog.Kind) (HitPage, error) {
	if s.Empty() {
		return HitPage{}, s.noInstallation()
	}
	if strings.TrimSpace(query) == "" {
		return HitPage{}, fault.New(fault.InvalidArgument, "query is missing").WithHint(`pass the words to look for, such as {"operation": "search", "query": "product manager"}`)
	}
	all := slices.DeleteFunc(s.Catalog.Search(query, kinds...), func(h catalog.Hit) bool { return !isOfPhaseAndModule(h.Item, "", module) })
	for n := range all {
		all[n].Item = shortenItem(all[n].Item)
	}
	query = visible.Fit(query, maxDescription)
	values, next, err := pageOf(all, cursor, room-len(query), func(h catalog.Hit) string { return string(h.Kind) + " " + h.Full() })
	out := HitPage{Query: query, Results: values, Page: Page{Total: len(all), NextCursor: next}}
	if len(all) == 0 {
		out.Hint = s.language().Say("nothing has these words; try fewer or others, or list the agents and workflows")
	}
	return out, err
}

// FilePage is a page of files.
type FilePage struct {
	Files []catalog.Listed `json:"files"`
	Page
}

// Files lists the files matched by a pattern.
func (s *Snapshot) Files(pattern, cursor string) (FilePage, error) {
	if s.Empty() {
		return FilePage{}, s.noInstallation()
	}
	all, err := s.Catalog.Files(pattern)
	if err != nil {
		return FilePage{}, err
	}
	values, next, err := pageOf(all, cursor, room, func(l catalog.Listed) string { return l.URI })
	out := FilePage{Files: values, Page: Page{Total: len(all), NextCursor: next}}
	if len(all) == 0 {
		out.Hint = s.language().Say("no file matches; * stands for anything within a name, ** for any folders, such as **/workflows/**/*.yaml")
	}
	return out, err
}

// ModulePage lists the installed modules, and the unusable parts.
type ModulePage struct {
	Modules []catalog.Module `json:"modules"`
	Sources []SearchedSource `json:"sources"`
	// Problems are the first ones; ProblemCount is the number of all.
	Problems     []catalog.Problem `json:"problems,omitempty"`
	ProblemCount int               `json:"problem_count,omitempty"`
	Page
}

// Modules lists the installed modules.
func (s *Snapshot) Modules(cursor string) (ModulePage, error) {
	problems := s.Check()
	if s.Empty() && len(problems) == 0 {
		return ModulePage{}, s.noInstallation()
	}
	all := s.Catalog.Modules()
	values, next, err := pageOf(all, cursor, room/2, func(m catalog.Module) string { return m.Source + " " + m.Installation + " " + m.Name })
	out := ModulePage{Modules: values, Sources: s.Searched(), ProblemCount: len(problems), Page: Page{Total: len(all), NextCursor: next}}
	if err == nil {
		out.Problems, _, err = pageOf(problems, "", room/4, func(p catalog.Problem) string { return p.Path })
	}
	return out, err
}

// Searched returns the sources with their problems in the reader's language.
func (s *Snapshot) Searched() []SearchedSource {
	out := slices.Clone(s.Sources)
	for n, src := range out {
		if src.Problem != "" {
			out[n].Problem = src.problem.In(s.language())
		}
	}
	return out
}

// Excerpt is a file, or a part of one.
type Excerpt struct {
	catalog.TextFile
	// Next is the address of the rest; "" if there is none.
	Next string
	// Open are the placeholders left in a resolved text.
	Open []string
}

// The names of generated documents.
const (
	manifests = "manifests/"
	current   = "config/current"
)

// Read returns the file at an address, or a generated document: bmad://manifests/… and
// bmad://config/current. limit bounds it, in bytes; 0 is unlimited.
func (s *Snapshot) Read(uri string, limit int) (Excerpt, error) {
	ref, known := s.RefTo(uri) // texts of the method, filled in, name files by their paths
	if !known {
		var err error
		if ref, err = catalog.ParseRef(uri); err != nil {
			return Excerpt{}, err
		}
	}
	var err error
	out := Excerpt{}
	switch {
	case ref.Source == "" && strings.HasPrefix(ref.Path, manifests):
		out.TextFile, err = s.manifestFile(strings.TrimPrefix(ref.Path, manifests), ref.Offset)
		ref.Offset = 0
	case ref.Source == "" && ref.Path == current:
		out.TextFile, err = s.configFile()
	case ref.Resolved:
		out.TextFile, out.Open, err = resolve.Text(s.Catalog, ref, s.target())
	default:
		out.TextFile, err = s.Catalog.Read(ref)
	}
	if fault.Is(err, fault.NotFound) && s.Empty() {
		return out, s.noInstallation()
	}
	if err != nil {
		return out, err
	}
	if ref.Offset > len(out.Data) {
		return out, fault.New(fault.InvalidArgument, "the file has %d bytes; the offset is %d", len(out.Data), ref.Offset).WithHint("read it from the beginning")
	}
	for ref.Offset < len(out.Data) && !utf8.RuneStart(out.Data[ref.Offset]) {
		ref.Offset++ // into the middle of a character
	}
	text := string(out.Data[ref.Offset:])
	if limit > 0 {
		piece := cutToFit(text, limit)
		if len(piece) < len(text) {
			ref.Offset += len(piece)
			out.Next = ref.String()
		}
		text = piece
	}
	out.Data = []byte(text)
	return out, nil
}

// ManifestPage is the list of a kind as a file. A list too long for one reply continues at Next.
type ManifestPage struct {
	ItemPage
	Next string `json:"next,omitempty"`
}

// manifestFile returns the list of a kind, from the item at offset on.
func (s *Snapshot) manifestFile(name string, offset int) (catalog.TextFile, error) {
	kinds := map[string]catalog.Kind{"agents": catalog.Agent, "workflows": catalog.Workflow, "tasks": catalog.Task}
	kind, ok := kinds[name]
	if !ok {
		return catalog.TextFile{}, fault.New(fault.NotFound, "unknown manifest %q",
			name).WithHint("there are: bmad://manifests/agents, bmad://manifests/workflows, bmad://manifests/tasks").
			Suggest(name, slices.Sorted(maps.Keys(kinds)))
	}
	cursor := ""
	if all := s.Catalog.Items(kind); offset > 0 && offset <= len(all) {
		cursor = cursorAt(all[offset-1].Full())
	}
	items, err := s.Items(kind, "", "", cursor)
	if err != nil {
		return catalog.TextFile{}, err
	}
	out := ManifestPage{ItemPage: items}
	if out.NextCursor != "" {
		out.NextCursor = ""
		out.Next = catalog.Ref{Path: manifests + name, Offset: offset + len(items.Agents) + len(items.Workflows) + len(items.Tasks)}.String()
	}
	out.Hint = ""
	return jsonFile(manifests+name, out)
}

// configFile returns the configuration in force, without secrets.
func (s *Snapshot) configFile() (catalog.TextFile, error) {
	views, err := resolve.Config(s.Catalog)
	if err != nil {
		return catalog.TextFile{}, err
	}
	return jsonFile(current, map[string]any{"project": s.Project, "installations": views})
}

func jsonFile(name string, v any) (catalog.TextFile, error) {
	data, err := Encode(v)
	return catalog.TextFile{URI: catalog.Address(catalog.Project, name), MIMEType: "application/json", Path: name, Data: data}, err
}

// Encode returns a value as compact JSON.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// All returns every item of a kind, whole; category and module leave out other phases and modules.
func (s *Snapshot) All(kind catalog.Kind, category, module string) ([]catalog.Item, error) {
	if s.Empty() {
		return nil, s.noInstallation()
	}
	out := []catalog.Item{}
	for _, i := range s.Catalog.Items(kind) {
		if isOfPhaseAndModule(i, category, module) {
			out = append(out, i)
		}
	}
	return out, nil
}

// isOfPhaseAndModule reports whether an item is of a phase and a module; empty ones are all.
func isOfPhaseAndModule(i catalog.Item, category, module string) bool {
	if module != "" && !strings.EqualFold(i.Module, module) {
		return false
	}
	return strings.Contains(i.Category+" "+i.Path, strings.ToLower(category))
}

// Count counts the agents, workflows and tasks in a folder.
func Count(folder string) (n [3]int, err error) {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return n, err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	c := catalog.Open(catalog.Source{Name: "git", Dir: folder, FS: dir.Tree()})
	for at, kind := range []catalog.Kind{catalog.Agent, catalog.Workflow, catalog.Task} {
		n[at] = len(c.Items(kind))
	}
	return n, nil
}

package method

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// MaxReply is the greatest size in bytes of any list or document, except for the person's words if
// ToolNames.Whole is set: encoded, an answer stays below 20 kB. Claude Code puts a result of more than
// about 25,000 tokens into a file and shows the model only the beginning.
const MaxReply = 18_500

const (
	// freshFor is how long a snapshot is valid without looking at the disk.
	freshFor = time.Second
	// maxSnapshots bounds the projects kept in memory.
	maxSnapshots = 16
)

// Copy is a git repository with installations, as far as it was fetched.
type Copy struct {
	// Name is the source's name, Place the address, From the owner of the setting with the name, for
	// people.
	Name, Place, From string
	// Dir has the files, of a commit; "" if there are none.
	Dir, Commit string
	// Fetching is true if there are none yet, but will be.
	Fetching bool
	Problem  lang.Text
}

// Options name the places of installations.
type Options struct {
	// Home is the person's home folder; "" searches none.
	Home string
	// Root is a folder with an installation in place of the caller's project, or the installation itself
	// (BMAD_ROOT).
	Root string
	// Open opens a project's folder; nil opens any.
	Open func(name string) (*durable.Dir, error)
	// Above opens a folder above a project, possibly with the project's installation; nil is Open.
	Above func(name string) (*durable.Dir, error)
	// Copies returns the git repositories of a project, in order, and the problems of others. It never
	// waits for the network, and calls changed after a change from there; nil for none.
	Copies func(project string, changed func()) ([]Copy, []lang.Text)
	// Settings returns the folders whose files decide which repositories count for a project;
	// nil for none.
	Settings func(project string) []string
	// Folders are further places with agents, absolute: installations, packages with a folder
	// "agents", or folders of agent files.
	Folders []string
	// Close ends the background work for the copies; nil if there is none.
	Close func()
	// Changed is called when a repository has changed.
	Changed func()
	// Now is the clock; it is required.
	Now func() time.Time
}

// Library reads installations. It is safe for concurrent use.
type Library struct {
	o Options

	mu        sync.Mutex
	snapshots *recent.Map[string, *Snapshot] // by project
	// rechecks counts the calls of Recheck.
	rechecks int
}

// New returns a library.
func New(o Options) *Library {
	if o.Open == nil {
		o.Open = durable.OpenDir
	}
	if o.Above == nil {
		o.Above = o.Open
	}
	return &Library{o: o, snapshots: recent.New[string, *Snapshot](maxSnapshots)}
}

// SetChanged sets the function to call when a repository has changed.
func (l *Library) SetChanged(changed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.o.Changed = changed
}

// Snapshot is a library's content for one project. The open folders close when it is garbage collected.
type Snapshot struct {
	*catalog.Catalog
	// Project is the absolute folder of the caller's project: the nearest one upwards with an installation,
	// else the requested one; "" if there is none.
	Project string
	// Sources are the searched places, in order.
	Sources []SearchedSource

	now       func() time.Time
	settings  func(project string) []string
	requested string
	checked   time.Time
	rechecks  int      // of the library, at that time
	copies    []string // identifies the state of the repositories
	spoken    func() lang.Language
	menus     *sync.Map // of agents, by their sources and names
}

// Speaking returns the snapshot with hints and problems in a language. The language is asked for only if
// there are any.
func (s *Snapshot) Speaking(language func() lang.Language) *Snapshot {
	if s == nil {
		return nil
	}
	out := *s
	out.spoken = sync.OnceValue(language)
	return &out
}

func (s *Snapshot) language() lang.Language {
	if s.spoken == nil {
		return lang.English
	}
	return s.spoken()
}

// Folders returns the folders whose changes can change the snapshot.
func (s *Snapshot) Folders() []string {
	out := s.Catalog.Folders()
	if s.settings != nil {
		out = append(out, s.settings(s.requested)...)
	}
	return out
}

// SearchedSource is a place searched for installations.
type SearchedSource struct {
	Name string `json:"name"`
	// Place is a folder, or the address of a repository.
	Place string `json:"place"`
	// State is "found", "none" if it holds no installation, "fetching" or "failed".
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	Commit  string `json:"commit,omitempty"`
	From    string `json:"from,omitempty"`

	problem lang.Text
}

// withProblem returns the place with a problem.
func (s SearchedSource) withProblem(problem lang.Text) SearchedSource {
	s.State, s.Problem, s.problem = "failed", problem.String(), problem
	return s
}

// At returns the snapshot for a project; "" if the caller has none. It reads the disk after a change there,
// and never waits for the network.
func (l *Library) At(project string) *Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.o.Now()
	s, _ := l.snapshots.Get(project)
	if s != nil && s.rechecks == l.rechecks && now.Sub(s.checked) >= 0 && now.Sub(s.checked) < freshFor {
		return s
	}
	copies, problems := l.copiesOf(project)
	if s == nil || !slices.Equal(s.copies, copyStates(copies, problems)) || !s.Fresh() || l.movedUp(s) {
		s = l.openSources(project, copies, problems)
		l.snapshots.Put(project, s)
	}
	s.checked, s.rechecks = now, l.rechecks
	return s
}

// Recheck makes the next call of At look at the disk, which is known to have changed.
func (l *Library) Recheck() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rechecks++
}

// copyStates identifies the state of the repositories.
func copyStates(list []Copy, problems []lang.Text) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	for _, c := range list {
		out = append(out, c.Place+" "+c.Dir+" "+c.Problem.String())
	}
	return out
}

// copiesOf returns the repositories of a project.
func (l *Library) copiesOf(project string) ([]Copy, []lang.Text) {
	if l.o.Copies == nil {
		return nil, nil
	}
	return l.o.Copies(project, func() {
		l.mu.Lock()
		changed := l.o.Changed
		l.mu.Unlock()
		if changed != nil {
			changed()
		}
	})
}

// openSources scans every source.
func (l *Library) openSources(project string, copies []Copy, problems []lang.Text) *Snapshot {
	own := project
	if own != "" && l.tooWide(own) {
		own = "" // the content does not belong to one project
	}
	s := &Snapshot{requested: project, Project: own, now: l.o.Now, settings: l.o.Settings, copies: copyStates(copies, problems), menus: &sync.Map{}}
	var sources []catalog.Source
	add := func(src catalog.Source, place, from string) {
		sources = append(sources, src)
		s.Sources = append(s.Sources, SearchedSource{Name: src.Name, Place: place, State: "none", From: from})
	}
	if l.o.Root != "" {
		src, err := openRoot(l.o.Root)
		if err != nil {
			s.Sources = append(s.Sources, SearchedSource{Name: "root", Place: l.o.Root, From: "BMAD_ROOT"}.withProblem(lang.Of(err)))
		} else {
			add(src, l.o.Root, "BMAD_ROOT")
		}
	} else if dir, err := l.openProject(project); err == nil && dir != nil {
		s.Project = dir.Path()
		add(catalog.Source{Name: catalog.Project, Dir: dir.Path(), FS: dir.Tree(), Main: true}, dir.Path(), "")
	} else if err != nil {
		s.Sources = append(s.Sources, SearchedSource{Name: catalog.Project, Place: project}.withProblem(lang.Of(err)))
	}
	if l.o.Home != "" {
		if dir, err := durable.OpenDir(l.o.Home); err == nil {
			add(catalog.Source{Name: "user", Dir: l.o.Home, FS: dir.Tree(), Home: true}, l.o.Home, "")
		}
	}
	for _, folder := range l.o.Folders {
		if src, err := openPackage(folder); err == nil {
			add(src, folder, "")
		} else {
			s.Sources = append(s.Sources, SearchedSource{Name: filepath.Base(folder), Place: folder}.withProblem(lang.Of(err)))
		}
	}
	for _, folder := range l.packages(s.Project) {
		if src, err := openPackage(folder); err == nil {
			add(src, folder, "")
		}
	}
	for _, c := range copies {
		s.addCopy(&sources, c)
	}
	for _, p := range problems {
		s.Sources = append(s.Sources, SearchedSource{Name: "git"}.withProblem(p))
	}
	s.Catalog = catalog.Open(sources...)
	for n := range s.Sources {
		src := &s.Sources[n]
		problems := slices.DeleteFunc(s.Problems(), func(p catalog.Problem) bool { return p.Source != src.Name })
		switch {
		case src.State != "none":
		case s.Holds(src.Name):
			src.State = "found"
		case len(problems) > 0:
			src.problem = problems[0].Whole()
			src.Problem = src.problem.String()
		}
	}
	return s
}

func (s *Snapshot) addCopy(sources *[]catalog.Source, c Copy) {
	out := SearchedSource{Name: c.Name, Place: c.Place, Commit: c.Commit, From: c.From}
	if !c.Problem.Empty() {
		out = out.withProblem(c.Problem)
	}
	out.State = "none"
	if c.Dir == "" {
		out.State = "failed"
		if c.Fetching {
			out.State = "fetching"
		}
	} else if dir, err := durable.OpenDir(c.Dir); err != nil {
		out = out.withProblem(lang.Of(err))
	} else {
		*sources = append(*sources, catalog.Source{Name: c.Name, Dir: c.Dir, FS: dir.Tree()})
	}
	s.Sources = append(s.Sources, out)
}

// openRoot opens the folder named by BMAD_ROOT: an installation, or the folder around one.
func openRoot(root string) (catalog.Source, error) {
	if !filepath.IsAbs(root) {
		return catalog.Source{}, lang.Errorf("BMAD_ROOT has to be an absolute path")
	}
	root = filepath.Clean(root)
	dir, err := durable.OpenDir(root)
	if err != nil {
		return catalog.Source{}, err
	}
	src := catalog.Source{Name: "root", Dir: root, FS: dir.Tree(), Main: true}
	if !catalog.IsInstallation(dir.Tree(), root) || root == filepath.Dir(root) {
		return src, nil
	}
	// Skills, and the paths in files, start at the folder around the installation.
	around, err := durable.OpenDir(filepath.Dir(root))
	if err != nil {
		return src, nil //nolint:nilerr // the installation itself can still be read
	}
	_ = dir.Close()
	return catalog.Source{Name: "root", Dir: filepath.Dir(root), FS: around.Tree(), Only: filepath.Base(root), Main: true}, nil
}

// openProject opens the folder of a project with a possible installation: the requested one, else the nearest
// above it with an installation of the usual name. The root of the disk and the home folder, which hold
// everything else too, are not projects.
func (l *Library) openProject(name string) (*durable.Dir, error) {
	if name == "" || l.tooWide(name) {
		return nil, nil
	}
	dir, err := l.o.Open(name)
	if err != nil {
		return nil, err
	}
	if above := l.installationAbove(name, dir); above != nil {
		_ = dir.Close()
		return above, nil
	}
	return dir, nil
}

func (l *Library) tooWide(name string) bool {
	name = filepath.Clean(name)
	return name == filepath.Dir(name) || l.o.Home != "" && name == filepath.Clean(l.o.Home)
}

// installationAbove returns the nearest folder with an installation above a project without one. World-writable folders
// do not count: files in /tmp are not the person's own.
func (l *Library) installationAbove(name string, dir *durable.Dir) *durable.Dir {
	if catalog.MayHold(dir.Tree()) || !catalog.IsInstallation(dir.Tree(), name) && !catalog.Open(catalog.Source{Name: catalog.Project, FS: dir.Tree()}).Empty() {
		return nil
	}
	return l.folderAbove(name)
}

// folderAbove returns the nearest folder above a project that seems to have an installation.
func (l *Library) folderAbove(name string) *durable.Dir {
	for at := filepath.Dir(filepath.Clean(name)); !l.tooWide(at); at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
			return nil
		}
		up, err := l.o.Above(at)
		if errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil // outside the served folders
		}
		if catalog.MayHold(up.Tree()) {
			return up
		}
		_ = up.Close()
	}
	return nil
}

// movedUp reports whether a project without an installation, which has not changed, would now be served one
// from above.
func (l *Library) movedUp(s *Snapshot) bool {
	if s.requested == "" || s.Project != s.requested || l.o.Root != "" || l.tooWide(s.requested) || s.Holds(catalog.Project) {
		return false
	}
	own := slices.IndexFunc(s.Origins(), func(o *catalog.Origin) bool { return o.Name == catalog.Project })
	if _, err := os.Stat(s.requested); err != nil || own < 0 || catalog.MayHold(s.Origins()[own].FS) {
		return false
	}
	up := l.folderAbove(s.requested)
	if up != nil {
		_ = up.Close()
	}
	return up != nil
}

// Close ends the background work.
func (l *Library) Close() {
	if l.o.Close != nil {
		l.o.Close()
	}
}

// resolveItem reads an item for the project.
func (s *Snapshot) resolveItem(i catalog.Item) (*resolve.Resolved, error) {
	return resolve.Item(s.Catalog, i, s.target())
}

func (s *Snapshot) target() resolve.Target {
	return resolve.Target{Project: s.Project, Now: s.now()}
}

// Check returns the skipped files, and the unusable parts of the customization.
func (s *Snapshot) Check() []catalog.Problem {
	problems := slices.Clone(resolve.Check(s.Catalog))
	for n := range problems {
		problems[n] = problems[n].Said(s.language())
	}
	return problems
}

// noInstallation returns the error for searched places without any installation.
func (s *Snapshot) noInstallation() error {
	err := fault.From(catalog.NoInstallation())
	var looked []lang.Text
	for _, src := range s.Sources {
		switch {
		case src.Place == "":
			looked = append(looked, src.problem)
		case src.Problem != "":
			looked = append(looked, lang.T("%s (%s)", src.Place, src.problem))
		case src.State == "fetching":
			looked = append(looked, lang.T("%s (being fetched: ask again in a moment)", src.Place))
		default:
			looked = append(looked, lang.T("%s", src.Place))
		}
	}
	advice := err.Advice()
	if len(looked) > 0 {
		err = fault.New(err.Code, "no installation of the BMAD method was found in %s", lang.Join(looked, ", "))
	}
	if s.Project == "" {
		return err.WithHint("pass cwd, the absolute path of the project; or %s", advice)
	}
	return err.WithHint("%s", advice)
}

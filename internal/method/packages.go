package method

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// packageScope begins the names of npm packages with agents, for example @bmad-method/agents.
const packageScope = "@bmad-"

// maxPackages bounds the searched npm packages of a project.
const maxPackages = 20

// packages returns the npm packages of a project with agents.
func (l *Library) packages(project string) []string {
	if project == "" {
		return nil
	}
	dir, err := l.o.Open(project)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	scopes, err := dir.ReadDir("node_modules")
	if err != nil {
		return nil
	}
	var out []string
	add := func(name string) {
		if info, err := dir.Stat(name + "/agents"); err == nil && info.IsDir() && len(out) < maxPackages {
			out = append(out, dir.Join(name))
		}
	}
	for _, scope := range scopes {
		if !strings.HasPrefix(scope.Name(), packageScope) {
			continue
		}
		name := "node_modules/" + scope.Name()
		add(name)
		packages, err := dir.ReadDir(name)
		if err != nil {
			continue
		}
		for _, p := range packages {
			if p.Name() != "agents" {
				add(name + "/" + p.Name())
			}
		}
	}
	return out
}

// openPackage opens a folder with agents. If it is not an installation, the agents are read from a made-up
// folder .bmad-core of the method's version 4, whose files they have.
func openPackage(folder string) (catalog.Source, error) {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return catalog.Source{}, err
	}
	tree := dir.Tree()
	src := catalog.Source{Name: packageName(folder), Dir: folder, FS: tree}
	switch info, err := fs.Stat(tree, "agents"); {
	case catalog.IsInstallation(tree, folder) || catalog.MayHold(tree) || !catalog.Open(src).Empty():
	case err == nil && info.IsDir():
		src.FS, src.Dir = below{tree, ".bmad-core"}, ""
	default:
		src.FS, src.Dir = below{tree, ".bmad-core/agents"}, ""
	}
	return src, nil
}

// packageName names a folder, with the scope of an npm package.
func packageName(folder string) string {
	name, above := filepath.Base(folder), filepath.Base(filepath.Dir(folder))
	if strings.HasPrefix(above, packageScope) {
		name = strings.TrimPrefix(above, "@") + "-" + name
	}
	return strings.TrimPrefix(name, "@")
}

// below is a file system with nothing but another one at a folder.
type below struct {
	fs.FS
	at string
}

// Open implements fs.FS.
func (b below) Open(name string) (fs.File, error) {
	if inner, ok := b.innerName(name); ok {
		return b.FS.Open(inner)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat implements fs.StatFS.
func (b below) Stat(name string) (fs.FileInfo, error) {
	if inner, ok := b.innerName(name); ok {
		return fs.Stat(b.FS, inner)
	}
	if b.leadsInside(name) {
		return fs.Stat(b.FS, ".")
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (b below) ReadDir(name string) ([]fs.DirEntry, error) {
	if inner, ok := b.innerName(name); ok {
		return fs.ReadDir(b.FS, inner)
	}
	if !b.leadsInside(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	rest := strings.Split(b.at, "/")
	if name != "." {
		rest = rest[len(strings.Split(name, "/")):]
	}
	info, err := fs.Stat(b.FS, ".")
	return []fs.DirEntry{entry{fs.FileInfoToDirEntry(info), rest[0]}}, err
}

// innerName returns the name in the inner file system.
func (b below) innerName(name string) (string, bool) {
	if name == b.at {
		return ".", true
	}
	return strings.CutPrefix(name, b.at+"/")
}

// leadsInside reports whether a folder leads to the inner file system.
func (b below) leadsInside(name string) bool {
	return name == "." || strings.HasPrefix(b.at, name+"/")
}

// entry is a folder under another name.
type entry struct {
	fs.DirEntry
	name string
}

func (e entry) Name() string { return e.name }

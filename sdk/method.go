package sdk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// methodFiles are the files of the installations, read only, at their own paths: those of the
// project if they lie in it, those of other sources there too unless the project has a file of
// that name, and then below the source's name.
type methodFiles struct {
	snapshot *library.Snapshot
	// infos are the files and folders, by path; uris the address of each file.
	infos   map[string]vfs.Info
	uris    map[string]string
	paths   map[string]string
	folders map[string][]string
}

func newMethodFiles(snapshot *library.Snapshot) *methodFiles {
	m := &methodFiles{snapshot: snapshot, infos: map[string]vfs.Info{"/": {Path: "/", Dir: true, Given: true}},
		uris: map[string]string{}, paths: map[string]string{}, folders: map[string][]string{}}
	if snapshot.Catalog == nil {
		return m
	}
	listed, err := snapshot.Catalog.Files("")
	if err != nil {
		return m
	}
	for _, f := range listed {
		ref, err := catalog.ParseRef(f.URI)
		if err != nil {
			continue
		}
		name := path.Clean("/" + ref.Path)
		if _, taken := m.infos[name]; taken {
			name = path.Clean("/" + ref.Source + "/" + ref.Path)
		}
		m.infos[name] = vfs.Info{Path: name, Size: f.Size, Given: true}
		m.uris[name], m.paths[f.URI] = f.URI, name
		m.addFolders(name)
	}
	for dir := range m.folders {
		slices.Sort(m.folders[dir])
	}
	return m
}

// addFolders adds a path to its folder, and that to the one above.
func (m *methodFiles) addFolders(name string) {
	for name != "/" {
		dir := path.Dir(name)
		m.folders[dir] = append(m.folders[dir], name)
		if _, known := m.infos[dir]; known {
			return
		}
		m.infos[dir] = vfs.Info{Path: dir, Dir: true, Given: true}
		name = dir
	}
}

// path returns the path of the file of an address.
func (m *methodFiles) path(uri string) (string, bool) {
	uri, _, _ = strings.Cut(uri, "?")
	name, ok := m.paths[uri]
	return name, ok
}

var addresses = pattern.New(`bmad://[^\s)\]>"'` + "`" + `,;|]+`)

// withPaths replaces the addresses in a text by the paths of the files, and the project's folder on
// the disk by /.
func (m *methodFiles) withPaths(text string) string {
	if m == nil {
		return text
	}
	if project := m.snapshot.Project; project != "" {
		text = strings.ReplaceAll(text, filepath.ToSlash(project)+"/", "/")
	}
	return addresses.ReplaceAllStringFunc(text, func(uri string) string {
		plain := strings.TrimRight(uri, ".:")
		if name, ok := m.path(plain); ok {
			return name + uri[len(plain):]
		}
		return uri
	})
}

var errMethodFile = errors.New("the files of the method are for reading")

// Read implements vfs.FS.
func (m *methodFiles) Read(name string) ([]byte, error) {
	name = path.Clean("/" + name)
	uri, ok := m.uris[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	ref, err := catalog.ParseRef(uri)
	if err != nil {
		return nil, err
	}
	f, err := m.snapshot.Catalog.Read(ref)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, plainError(err))
	}
	return f.Data, nil
}

// Write implements vfs.FS.
func (m *methodFiles) Write(string, []byte) error { return errMethodFile }

// Mkdir implements vfs.FS.
func (m *methodFiles) Mkdir(string) error { return errMethodFile }

// Stat implements vfs.FS.
func (m *methodFiles) Stat(name string) (vfs.Info, error) {
	info, ok := m.infos[path.Clean("/"+name)]
	if !ok {
		return vfs.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return info, nil
}

// List implements vfs.FS.
func (m *methodFiles) List(name string) ([]vfs.Info, error) {
	names, ok := m.folders[path.Clean("/"+name)]
	if !ok {
		return nil, &fs.PathError{Op: "list", Path: name, Err: fs.ErrNotExist}
	}
	out := make([]vfs.Info, 0, len(names))
	for _, n := range names {
		out = append(out, m.infos[n])
	}
	return out, nil
}

// plainError returns an error of the catalog in English, without the types of this program.
func plainError(err error) error {
	f := fault.From(err).Translated(lang.English)
	if f.Hint == "" {
		return errors.New(f.Message)
	}
	return fmt.Errorf("%s (%s)", f.Message, f.Hint)
}

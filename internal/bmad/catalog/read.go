package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// File is a file of an installation.
type File struct {
	// URI is its address.
	URI      string
	MIMEType string
	// Path is that in its source, and Source the source's name.
	Path   string
	Source string
	Data   []byte
}

// mimeTypes has the types of the files that installations consist of.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml", ".json": "application/json",
	".xml": "application/xml", ".csv": "text/csv", ".toml": "application/toml", ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".py": "text/x-python", ".sh": "application/x-sh", ".svg": "image/svg+xml",
}

// noText are the endings of files that are no texts, and so are neither listed nor served.
var noText = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".ico": true, ".bmp": true, ".pdf": true, ".zip": true, ".gz": true, ".tgz": true,
	".docx": true, ".xlsx": true, ".pptx": true, ".woff": true, ".woff2": true, ".ttf": true, ".mp3": true, ".mp4": true, ".webm": true, ".pyc": true, ".exe": true,
}

// MIMEType returns the type of a file by its name.
func MIMEType(name string) string {
	return cmp.Or(mimeTypes[strings.ToLower(path.Ext(name))], "text/plain")
}

// Read returns the bytes of a file, as they are.
func (c *Catalog) Read(r Ref) (File, error) {
	f, name, err := c.locate(r)
	if err != nil {
		return File{}, err
	}
	return f.file(name)
}

// lookUp finds the file of an address: by its path in a source, else in an installation.
func (c *Catalog) lookUp(r Ref) (*found, string, bool) {
	for _, f := range c.sources {
		if (r.Source == "" || f.Name == r.Source) && f.has(r.Path) {
			return f, r.Path, true
		}
	}
	for _, f := range c.sources {
		if r.Source != "" && f.Name != r.Source {
			continue
		}
		if script, ok := f.script(r.Path); ok {
			return f, script, true
		}
		for _, in := range f.installs {
			if in.layout == LayoutSkills {
				continue
			}
			places, _ := in.places(r.Path)
			for _, name := range places {
				if f.has(name) {
					return f, name, true
				}
			}
		}
	}
	return nil, "", false
}

// script returns where a repository has a script that is named as if it were installed.
func (f *found) script(name string) (string, bool) {
	first, rest, _ := strings.Cut(name, "/")
	rest, ok := strings.CutPrefix(rest, "scripts/")
	name = path.Join(f.scripts, rest)
	return name, ok && f.scripts != "" && isNamed(first, "bmad") && f.has(name)
}

// locate does what lookUp does, and says what is wrong with an address that leads nowhere.
func (c *Catalog) locate(r Ref) (*found, string, error) {
	if len(c.sources) == 0 || c.Empty() && len(c.items) == 0 {
		return nil, "", NoInstallation()
	}
	if f, name, ok := c.lookUp(r); ok {
		return f, name, nil
	}
	if names := c.sourceNames(); r.Source != "" && !slices.Contains(names, r.Source) {
		return nil, "", fault.New(fault.NotFound, "there is no source %q", r.Source).WithHint("the sources are: %s", strings.Join(names, ", "))
	}
	err := fault.New(fault.NotFound, "no installation has a file %q", r.Path)
	if like := c.like(r.Path); len(like) > 0 {
		return nil, "", err.WithHint("did you mean %s?", strings.Join(like, ", "))
	}
	return nil, "", err.WithHint("list what there is: agents, workflows, tasks and files are listed with their addresses")
}

func (c *Catalog) sourceNames() []string {
	var out []string
	for _, f := range c.sources {
		out = append(out, f.Name)
	}
	return out
}

// like returns the addresses of items whose files have the same name, or lie in a folder of
// the same name.
func (c *Catalog) like(name string) []string {
	var out []string
	want := strings.ToLower(path.Base(name))
	for _, i := range c.items {
		if i.Path == "" || len(out) == 3 {
			continue
		}
		if base := strings.ToLower(path.Base(i.Path)); base == want && want != "skill.md" && want != "workflow.md" && want != "workflow.yaml" ||
			stem(base) == stem(want) && stem(want) != "skill" && stem(want) != "workflow" || path.Base(i.Dir) == path.Base(path.Dir(name)) && path.Dir(name) != "." {
			out = appendNew(out, i.URI)
		}
	}
	return out
}

// has reports whether a path leads to something in a tree of the source.
func (f *found) has(name string) bool {
	_, served := f.tree(name)
	if !served {
		return false
	}
	_, err := fs.Lstat(f.FS, name)
	return err == nil
}

// file reads a file of the source, if it may be served.
func (f *found) file(name string) (File, error) {
	tree, served := f.tree(name)
	real, stays := inside(f.FS, tree, name)
	if !served || !stays || versioned(real) {
		return File{}, fault.New(fault.NotAllowed, "%q leads out of the installation, by a symbolic link", name).
			WithHint("only files of the installation are served; read it yourself if you may")
	}
	info, err := fs.Stat(f.FS, real) // before it is opened: to open a pipe is to wait for its writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return File{}, fault.New(fault.NotFound, "the file %q is not there", name).WithHint("the installation may have changed: list it again")
	case err != nil:
		return File{}, fault.New(fault.Storage, "the file %q cannot be looked at: %w", name, err).WithHint("check its permissions, and that no symbolic link leads out of the folder")
	case info.IsDir():
		return File{}, fault.New(fault.InvalidArgument, "%q is a folder", name).WithHint("list it: bmad-resources {operation: \"list\", pattern: %q}", name+"/**")
	case !info.Mode().IsRegular():
		return File{}, fault.New(fault.NotAllowed, "%q is no regular file", name).WithHint("only regular files of the installation are served")
	case info.Size() > MaxFile:
		return File{}, tooLarge(name, info.Size())
	}
	data, err := readLimited(f.FS, real, MaxFile)
	switch {
	case errors.Is(err, errTooLarge):
		return File{}, tooLarge(name, MaxFile+1)
	case err != nil:
		return File{}, fault.New(fault.Storage, "the file %q cannot be read: %w", name, err).WithHint("check its permissions")
	case binary(data):
		return File{}, fault.New(fault.NotAllowed, "%q is not a text file", name).WithHint("only text is served; open it with a program for its kind")
	}
	return File{URI: f.uri(name), MIMEType: MIMEType(name), Path: name, Source: f.Name, Data: data}, nil
}

func tooLarge(name string, size int64) error {
	return fault.New(fault.NotAllowed, "%q has %d bytes or more; at most %d are served", name, size, MaxFile).WithHint("read it in your editor, or take out the part you need")
}

// binary reports whether bytes are no text.
func binary(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// Listed is a file in a list.
type Listed struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size"`
}

// Files lists the files of the installations whose path matches a pattern, in order; an
// empty pattern matches all. The error says what is wrong with the pattern.
func (c *Catalog) Files(pattern string) ([]Listed, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	pattern, source := patternOf(pattern)
	var out []Listed
	for _, f := range c.sources {
		if source != "" && f.Name != source {
			continue
		}
		first := len(out)
		for _, tree := range f.outermost() {
			entries := 0
			f.filesIn(tree, &entries, func(name string, size int64) {
				if !f.matches(pattern, name) {
					return
				}
				out = append(out, Listed{URI: f.uri(name), MIMEType: MIMEType(name), Size: size})
			})
		}
		slices.SortFunc(out[first:], func(a, b Listed) int { return strings.Compare(a.URI, b.URI) })
	}
	return out, nil
}

// filesIn calls visit for each regular file of a tree that may be served.
func (f *found) filesIn(dir string, entries *int, visit func(name string, size int64)) {
	names, err := fs.ReadDir(f.FS, dir)
	if err != nil {
		return // it has gone
	}
	for _, e := range names {
		if *entries++; *entries > maxEntries {
			return
		}
		name := path.Join(dir, e.Name())
		switch {
		case versioned(e.Name()), e.Name() == "__pycache__", noText[strings.ToLower(path.Ext(name))]: // nor could they be read
		case e.IsDir():
			f.filesIn(name, entries, visit)
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil && info.Size() <= MaxFile {
				visit(name, info.Size())
			}
		}
	}
}

// matches matches a path in the source, or in an installation of it.
func (f *found) matches(pattern, name string) bool {
	if pattern == "" || globbed(pattern, name) {
		return true
	}
	for _, in := range f.installs {
		if rest, ok := strings.CutPrefix(name, in.dir+"/"); ok && globbed(pattern, rest) {
			return true
		}
	}
	return false
}

// checkPattern refuses a pattern that matches nothing because it is malformed.
func checkPattern(pattern string) error {
	if _, err := path.Match(strings.ReplaceAll(pattern, "**", "*"), "x"); err != nil || len(pattern) > maxAddress || strings.Count(pattern, "**") > 4 {
		return fault.New(fault.InvalidArgument, "the pattern %.200q is malformed", pattern).
			WithHint("* stands for anything within a name, ** for any folders, such as core/workflows/**/*.yaml")
	}
	return nil
}

// patternOf returns the paths that a pattern means, and the source where it names one, as an
// address does.
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

// globbed matches a path with a pattern in which ** stands for any number of folders.
func globbed(pattern, name string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matchParts matches part by part; there are as many steps as parts of one times parts of the
// other, whatever the pattern.
func matchParts(pattern, name []string) bool {
	// reach[j] is true where the pattern so far matches the first j parts of the name.
	reach := make([]bool, len(name)+1)
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(name)+1)
		for j := range next {
			switch {
			case p == "**":
				next[j] = reach[j] || j > 0 && next[j-1]
			case j > 0 && reach[j-1]:
				ok, err := path.Match(p, name[j-1])
				next[j] = ok && err == nil
			}
		}
		reach = next
	}
	return reach[len(name)]
}

// NoInstallation is the answer where there is none.
func NoInstallation() error {
	return fault.New(fault.NotFound, "no installation of the BMAD method was found").
		WithHint("install it into the project (npx bmad-method install), point BMAD_ROOT at the folder of an installation, or add a git repository: bmad-mcp sources add git+https://…")
}

package catalog

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

const (
	// MaxFile is the size of the largest readable file, in bytes.
	MaxFile = 2 << 20
	// maxHead is the size of the part read for a file's front matter, in bytes.
	maxHead = 8 << 10
	// maxEntries bounds the files of one installation: with more, it is probably a whole disk.
	maxEntries = 100_000
	// maxDepth bounds how deep an installation is searched.
	maxDepth = 10
	// maxLinks bounds how many symbolic links are followed for one path.
	maxLinks = 20
)

type stamp struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), changed: info.ModTime(), mode: info.Mode()}
}

// stat describes a file of a source, to notice a change. In a folder of the system it takes the path alone:
// stat is called for each file of a large installation, and shows nothing of the file's contents.
func (s Source) stat(name string) (fs.FileInfo, error) {
	if s.Dir != "" {
		return os.Stat(filepath.Join(s.Dir, filepath.FromSlash(name)))
	}
	return fs.Stat(s.FS, name)
}

// skipped are folders of a project without an installation, but possibly large.
var skipped = []string{".git", ".bmad-task", "node_modules", "vendor", "_bmad-output"}

// topNames are the names in the folder of a source, in lower case, because some systems tell no case. The
// value is true for a possible folder of an installation. nil means unknown. Most looked-up paths begin
// with another name: one look at the folder saves some forty at files.
type topNames map[string]bool

func (s Source) topFolderNames() topNames {
	entries, err := fs.ReadDir(s.FS, ".")
	if err != nil {
		return nil
	}
	out := topNames{}
	for _, e := range entries {
		out[strings.ToLower(e.Name())] = !e.Type().IsRegular() && !slices.Contains(skipped, e.Name())
	}
	return out
}

// mayHold reports whether a path can exist in the folder.
func (t topNames) mayHold(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	_, there := t[strings.ToLower(first)]
	return t == nil || first == "." || there
}

// sameFolders reports whether two looks at a folder have found the same folders in it.
func (t topNames) sameFolders(other topNames) bool {
	has := func(a, b topNames) bool { // whether a has the folders of b
		for name, folder := range b {
			if folder && !a[name] {
				return false
			}
		}
		return true
	}
	return has(t, other) && has(other, t)
}

// followInside follows the symbolic links of a path in a tree and reports whether it stays in the tree.
func followInside(fsys fs.FS, tree, name string) (string, bool) {
	rest := strings.Split(strings.TrimPrefix(strings.TrimPrefix(name, tree), "/"), "/")
	if tree == "." {
		rest = strings.Split(name, "/")
	}
	at := tree
	links := 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if at == tree {
				return "", false
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := fs.Lstat(fsys, next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			at = next // a missing file fails when it is opened
			continue
		}
		target, err := fs.ReadLink(fsys, next)
		if links++; err != nil || links > maxLinks || path.IsAbs(target) || strings.Contains(target, `\`) {
			return "", false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, at == tree || tree == "." || strings.HasPrefix(at, tree+"/")
}

// isPrivate reports whether a path lies in a folder of version control, or names the
// environment of a program: both can hold passwords.
func isPrivate(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		part = strings.ToLower(part)
		return part == ".git" || part == "git~1" /* as Windows calls it too */ || part == ".env" || strings.HasPrefix(part, ".env.")
	})
}

// Source is a folder with installations in or under it.
type Source struct {
	// Name identifies the source: "project", "user", "git-…". Addresses of files outside the project begin
	// with it.
	Name string
	// Dir is the absolute path of FS, for placeholders; it may be empty.
	Dir string
	FS  fs.FS
	// Home is true for a home folder: only the method's places for the person's own files are
	// searched.
	Home bool
	// Main reports whether the source stands in for the caller's project: its configuration and
	// customization apply to the items of every source.
	Main bool
	// Only names the one folder to search, besides the folders of skills; if "", all are searched.
	Only string
}

// Problem is a part of a source left out of the catalog, with the reason.
type Problem struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Text   string `json:"problem"`

	text lang.Text
}

// NewProblem names a file left out of the catalog.
func NewProblem(source, path string, text lang.Text) Problem {
	return Problem{Source: source, Path: path, Text: text.String(), text: text}
}

// Whole returns the problem with the path.
func (p Problem) Whole() lang.Text { return lang.T("%s: %s", p.Path, p.text) }

// Said returns the problem in a language.
func (p Problem) Said(l lang.Language) Problem {
	p.Text = p.text.In(l)
	return p
}

var errTooLarge = lang.Errorf("it is too large")

// readLimited returns at most limit bytes of a file, and errTooLarge if there are more.
func readLimited(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, more, err := durable.ReadHead(fsys, name, limit)
	if err == nil && more {
		err = errTooLarge
	}
	return data, err
}

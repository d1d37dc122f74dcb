package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// TextFile is a file of an installation.
type TextFile struct {
	// URI is the address of the file.
	URI      string
	MIMEType string
	// Path is the path in the source, and Source the source's name.
	Path   string
	Source string
	Data   []byte
}

// mimeTypes has the types of the files of installations.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml", ".json": "application/json",
	".xml": "application/xml", ".csv": "text/csv", ".toml": "application/toml", ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".py": "text/x-python", ".sh": "application/x-sh", ".svg": "image/svg+xml",
}

// noText are the endings of binary files, which are neither listed nor served.
var noText = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".ico": true, ".bmp": true, ".pdf": true, ".zip": true, ".gz": true, ".tgz": true,
	".docx": true, ".xlsx": true, ".pptx": true, ".woff": true, ".woff2": true, ".ttf": true, ".mp3": true, ".mp4": true, ".webm": true, ".pyc": true, ".exe": true,
}

// MIMEType returns the type of a file by the ending of its name.
func MIMEType(name string) string {
	return cmp.Or(mimeTypes[strings.ToLower(path.Ext(name))], "text/plain")
}

// File reads a file of the source, if it may be served.
func (f *fileReader) File(name string) (TextFile, error) {
	tree, served := f.treeOf(name)
	real, stays := followInside(f.FS, tree, name)
	if !served || !stays || isPrivate(real) {
		return TextFile{}, fault.New(fault.NotAllowed, "%q leads out of the installation, by a symbolic link", name).
			WithHint("only files of the installation are served; read it yourself if you may")
	}
	info, err := fs.Stat(f.FS, real) // before opening it: opening a pipe waits for the writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return TextFile{}, fault.New(fault.NotFound, "the file %q is not there", name).WithHint("the installation may have changed: list it again")
	case err != nil:
		return TextFile{}, fault.New(fault.Storage, "the file %q cannot be looked at: %w", name,
			err).WithHint("check its permissions, and that no symbolic link leads out of the folder")
	case info.IsDir():
		return TextFile{}, fault.New(fault.InvalidArgument, "%q is a folder", name).WithHint("list it: bmad-resources {operation: \"list\", pattern: %q}", name+"/**")
	case !info.Mode().IsRegular():
		return TextFile{}, fault.New(fault.NotAllowed, "%q is not a regular file", name).WithHint("only regular files of the installation are served")
	case info.Size() > MaxFile:
		return TextFile{}, tooLarge(name, info.Size())
	}
	data, err := readLimited(f.FS, real, MaxFile)
	switch {
	case errors.Is(err, errTooLarge):
		return TextFile{}, tooLarge(name, MaxFile+1)
	case err != nil:
		return TextFile{}, fault.New(fault.Storage, "the file %q cannot be read: %w", name, err).WithHint("check its permissions")
	case isBinary(format.FromUTF16(data)):
		return TextFile{}, fault.New(fault.NotAllowed, "%q is not a text file", name).WithHint("only text is served; open it with a program for its kind")
	}
	return TextFile{URI: f.URI(name), MIMEType: MIMEType(name), Path: name, Source: f.Name, Data: format.FromUTF16(data)}, nil
}

func tooLarge(name string, size int64) error {
	return fault.New(fault.NotAllowed, "%q has %d bytes or more; at most %d are served", name, size, MaxFile).WithHint("read it in your editor, or take out the part you need")
}

// isBinary reports whether bytes are not text.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// EachFile calls visit for each regular file of a tree, if it may be served.
func (f *fileReader) EachFile(dir string, entries *int, visit func(name string, size int64)) {
	names, err := fs.ReadDir(f.FS, dir)
	if err != nil {
		return // removed in the meantime
	}
	for _, e := range names {
		if *entries++; *entries > maxEntries {
			return
		}
		name := path.Join(dir, e.Name())
		switch {
		case isPrivate(e.Name()), e.Name() == "__pycache__", noText[strings.ToLower(path.Ext(name))]: // they could not be read either
		case e.IsDir():
			f.EachFile(name, entries, visit)
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil && info.Size() <= MaxFile {
				visit(name, info.Size())
			}
		}
	}
}

package project

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// MaxDocument is the size of the largest document that is accepted, in bytes.
const MaxDocument = 5 << 20

// Local returns the path of a file as callers name it, absolute or not, relative to the
// project folder, with slashes. A file elsewhere keeps its path.
func (p *Project) Local(name string) string {
	name = filepath.Clean(name)
	if filepath.IsAbs(name) {
		name = p.relative(name)
	}
	return filepath.ToSlash(name)
}

// relative returns an absolute path relative to the project folder. The project and the
// path may spell the same folder differently, as /tmp and /private/tmp do.
func (p *Project) relative(name string) string {
	rel, err := filepath.Rel(p.Dir.Path(), name)
	if err == nil && filepath.IsLocal(rel) {
		return rel
	}
	project, err := filepath.EvalSymlinks(p.Dir.Path())
	if err != nil {
		return name
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return name
	}
	if rel, err = filepath.Rel(project, filepath.Join(folder, filepath.Base(name))); err != nil {
		return name
	}
	return rel
}

// ReadDocument reads a document that a caller hands in as the path of a file, which must be
// a regular file in the project, reached without symbolic links. argument names the caller's
// argument in errors.
func (p *Project) ReadDocument(argument, given string) (string, error) {
	local := p.Local(given)
	if !filepath.IsLocal(filepath.FromSlash(local)) {
		return "", fault.New(fault.InvalidArgument, "%s %q is not inside the project %s", argument, given, p.Dir.Path()).
			WithHint("write the document to a file inside the project and pass its path")
	}
	if err := p.withoutLinks(argument, given, local); err != nil {
		return "", err
	}
	data, err := p.Dir.ReadFile(local, MaxDocument)
	var kind *durable.NotRegularError
	var large *durable.TooLargeError
	switch {
	case errors.As(err, &kind):
		return "", fault.New(fault.InvalidArgument, "%s %q is not a regular file: %w", argument, given, err).
			WithHint("pass the path of the document")
	case errors.As(err, &large):
		return "", TooLarge(argument, max(large.Size, MaxDocument+1))
	case err != nil:
		return "", fault.New(fault.Storage, "%s %q cannot be read: %w", argument, given, err).WithHint("check its permissions")
	}
	return string(data), nil
}

// withoutLinks refuses a file of the project that does not exist or is reached through a link.
func (p *Project) withoutLinks(argument, given, local string) error {
	var parts []string
	for dir := local; dir != "."; dir = path.Dir(dir) {
		parts = append(parts, dir)
	}
	for _, part := range slices.Backward(parts) {
		info, err := p.Dir.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fault.New(fault.NotFound, "%s %q does not exist", argument, given).
				WithHint("paths are relative to the project folder %s", p.Dir.Path()).Offer(fault.NearPath(local, p.names))
		case err != nil:
			return fault.New(fault.Storage, "%s %q cannot be read: %w", argument, given, err).WithHint("check its permissions")
		case info.Mode()&fs.ModeSymlink != 0:
			return fault.New(fault.InvalidArgument, "%s %q leads through the symbolic link %s", argument, given, part).
				WithHint("pass the path of the file itself")
		}
	}
	return nil
}

// maxSiblings bounds the names of a folder that are compared with that of a missing file.
const maxSiblings = 5000

// names returns the names of the folders and regular files in a folder of the project, those
// of folders with a slash at their end. Links are left out, as they are not followed either.
func (p *Project) names(folder string) []string {
	entries, err := p.Dir.ReadDir(folder)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries[:min(len(entries), maxSiblings)] {
		switch {
		case e.IsDir():
			out = append(out, e.Name()+"/")
		case e.Type().IsRegular():
			out = append(out, e.Name())
		}
	}
	return out
}

// TooLarge returns the error for a document of more than the accepted size.
func TooLarge(argument string, size int64) error {
	return fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", argument, size, MaxDocument).
		WithHint("shorten the document")
}

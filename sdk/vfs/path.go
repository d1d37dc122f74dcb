package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a file system in memory, and of files on a disk.
const (
	// MaxFile is the size of a file, MaxMem the size of all files in memory, in bytes.
	MaxFile = 4 << 20
	MaxMem  = 64 << 20
	// MaxFiles is how many files and folders there can be in memory.
	MaxFiles = 20_000
	// maxPath is the length of a path, maxName the length of a name in it, in bytes.
	maxPath = 1024
	maxName = 255
)

var errNotAbsolute = errors.New("Path must be absolute (start with /)") //nolint:staticcheck // a sentence for the model

// Clean returns the one form of an absolute path. However many .. it has, it stays inside.
func Clean(name string) (string, error) {
	switch {
	case !strings.HasPrefix(name, "/"):
		return "", errNotAbsolute
	case len(name) > maxPath:
		return "", fmt.Errorf("the path has %d bytes, more than %d", len(name), maxPath)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", fmt.Errorf("the path %q contains a control character", name)
	case !utf8.ValidString(name):
		return "", errors.New("the path is not valid UTF-8")
	case strings.Contains(name, `\`):
		return "", errors.New(`the path contains a backslash; write /`)
	}
	name = path.Clean(name)
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxName {
			return "", fmt.Errorf("a name in the path has %d bytes, more than %d", len(part), maxName)
		}
	}
	return name, nil
}

// errAbsent is the error of a missing file.
func errAbsent(name string) error { return &pathError{"File not found: " + name, fs.ErrNotExist} }

// pathError is a sentence for the model with a cause for programs.
type pathError struct {
	text  string
	cause error
}

func (e *pathError) Error() string { return e.text }
func (e *pathError) Unwrap() error { return e.cause }

// checkSize refuses too large a file.
func checkSize(name string, size int64) error {
	if size > MaxFile {
		return fmt.Errorf("%s would have %d bytes, more than the limit of %d", name, size, MaxFile)
	}
	return nil
}

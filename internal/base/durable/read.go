package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// MaxEntries bounds the listing of one folder: far above the number of files in one folder of a project of
// years, and few enough to list a stuffed folder in a moment, and in little memory.
const MaxEntries = 200_000

// MaxText bounds the read of a document or a session of unknown size: more than ten times the largest
// submission accepted by default.
const MaxText = 64 << 20

// maxRecorded bounds a limit derived from a recorded size: the largest configurable submission.
const maxRecorded = 1 << 30

// TextLimit returns the limit for reading a text of which a size was recorded: MaxText, or the size if it is
// larger.
func TextLimit(recorded int64) int64 { return max(MaxText, min(recorded, maxRecorded)) }

// NotRegularError reports a name without a regular file: reading it could wait for ever, or never end.
type NotRegularError struct {
	Name string
	Mode fs.FileMode
}

// Error names the file and the file's kind.
func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Name, e.Kind())
}

// Kind names the thing in the place of the file.
func (e *NotRegularError) Kind() string {
	switch {
	case e.Mode.IsDir():
		return "a folder"
	case e.Mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case e.Mode&fs.ModeSocket != 0:
		return "a socket"
	case e.Mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// TooLargeError reports a file over the limit of the read.
type TooLargeError struct {
	Name string
	// Size is the size of the file when it was opened; it may have grown since.
	Size, Limit int64
}

// Error names the file and both sizes.
func (e *TooLargeError) Error() string {
	if e.Grew() {
		return fmt.Sprintf("%s grows while it is read; at most %d bytes are read", e.Name, e.Limit)
	}
	return fmt.Sprintf("%s has %d bytes; at most %d are read", e.Name, e.Size, e.Limit)
}

// Grew reports whether the file was within the limit when it was opened.
func (e *TooLargeError) Grew() bool { return e.Size <= e.Limit }

// TooManyError reports a folder with more entries than the limit.
type TooManyError struct {
	Name  string
	Limit int
}

// Error names the folder.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("the folder %s holds more than %d entries", e.Name, e.Limit)
}

// Unwrap lets callers tell these errors of files from others.
func (e *NotRegularError) Unwrap() error { return fs.ErrInvalid }

// Unwrap lets callers tell these errors of files from others.
func (e *TooLargeError) Unwrap() error { return fs.ErrInvalid }

// Unwrap lets callers tell these errors of files from others.
func (e *TooManyError) Unwrap() error { return fs.ErrInvalid }

// ReadFile reads a whole file of any author: it does not wait for a pipe or a device, and returns a
// [*NotRegularError] for anything but a regular file. A file of more than limit bytes is a
// [*TooLargeError]; the size is asked before the read, and a growing file is read no further than the
// limit.
func (d *Dir) ReadFile(name string, limit int64) ([]byte, error) {
	return ReadFile(d.Tree(), name, limit)
}

// ReadFile reads a whole file as [Dir.ReadFile] does. fsys should be the Tree of a Dir: another one may wait
// while a pipe is opened.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return readRegular(f, name, limit)
}

// ReadHead reads at most limit bytes of a regular file; more is true if it has more of them.
func ReadHead(fsys fs.FS, name string, limit int64) (data []byte, more bool, err error) {
	f, err := fsys.Open(path.Clean(name))
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	size, err := regularSize(f, name)
	if err != nil {
		return nil, false, err
	}
	data, err = readUpTo(f, min(size, limit), limit+1)
	if int64(len(data)) > limit {
		return data[:limit], true, err
	}
	return data, false, err
}

// ReadPath reads a whole file by a path of the system, as [Dir.ReadFile] does: for the person's own files
// outside every open folder. Links are followed.
func ReadPath(name string, limit int64) ([]byte, error) {
	f, err := openQuietly(name, func() (*os.File, error) {
		return os.OpenFile(name, openFlags, 0) //nolint:gosec // the callers' paths are the person's
	}, func() (fs.FileInfo, error) { return os.Stat(name) })
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return readRegular(f, name, limit)
}

// ReadStream reads a pipe or terminal until it ends, and returns a [*TooLargeError] for more
// than limit bytes. It waits for the writer.
func ReadStream(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := readUpTo(r, 0, limit+1)
	if err == nil && int64(len(data)) > limit {
		return nil, &TooLargeError{Name: name, Size: int64(len(data)), Limit: limit}
	}
	return data, err
}

func readRegular(f fs.File, name string, limit int64) ([]byte, error) {
	size, err := regularSize(f, name)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, &TooLargeError{Name: name, Size: size, Limit: limit}
	}
	data, err := readUpTo(f, size, limit+1)
	if err == nil && int64(len(data)) > limit {
		err = &TooLargeError{Name: name, Size: size, Limit: limit}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// regularSize returns the size of an open file, if it is a regular one.
func regularSize(f fs.File, name string) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, &NotRegularError{name, info.Mode()}
	}
	return info.Size(), nil
}

// readUpTo reads until the end, or limit bytes; size is the expected one.
func readUpTo(r io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, min(size, limit)+512)
	r = io.LimitReader(r, limit)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		// Only at the end a regular file gives less than the requested bytes.
		if n > 0 && int64(len(data)) == size && len(data) < cap(data) {
			return data, nil
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
}

// openQuietly opens a file, folder or other entry without waiting for it. If the kind of an entry, for
// example a socket, prevents opening it, the error names the kind.
func openQuietly(name string, open func() (*os.File, error), stat func() (fs.FileInfo, error)) (*os.File, error) {
	f, err := open()
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if info, statErr := stat(); statErr == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &NotRegularError{name, info.Mode()}
	}
	return nil, err
}

// quietTree is a folder of the system for reading without a wait: opening a pipe without a writer returns
// at once.
type quietTree struct{ fs osFS }

// Open implements fs.FS. Anything but a folder or a regular file is a *NotRegularError.
func (t quietTree) Open(name string) (fs.File, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &NotRegularError{name, info.Mode()}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return described{f, info}, nil
}

// described is an open file with the description it was opened by.
type described struct {
	*os.File
	info fs.FileInfo
}

// Stat implements fs.File.
func (d described) Stat() (fs.FileInfo, error) { return d.info, nil }

func (t quietTree) open(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return openQuietly(name, func() (*os.File, error) { return t.fs.open(name, openFlags) }, func() (fs.FileInfo, error) { return t.Stat(name) })
}

// ReadDir implements fs.ReadDirFS: at most MaxEntries, sorted by name.
func (t quietTree) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return listEntries(f.ReadDir, fs.DirEntry.Name, name, MaxEntries)
}

// Names lists the names in a folder as ReadDir does.
func (t quietTree) Names(name string) ([]string, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return listEntries(f.Readdirnames, func(base string) string { return base }, name, MaxEntries)
}

// listEntries lists an open folder of at most limit entries, by their names.
func listEntries[E any](read func(n int) ([]E, error), base func(E) string, name string, limit int) ([]E, error) {
	var list []E
	for {
		some, err := read(1024)
		list = append(list, some...)
		switch {
		case len(list) > limit:
			return nil, &TooManyError{name, limit}
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			err = nil
		}
		slices.SortFunc(list, func(a, b E) int { return strings.Compare(base(a), base(b)) })
		return list, err
	}
}

// Stat implements fs.StatFS.
func (t quietTree) Stat(name string) (info fs.FileInfo, err error) {
	err = t.fs.inOpenFolder("statat", name, func(in *os.Root, name string) error {
		info, err = fs.Stat(in.FS(), name)
		return err
	})
	return info, err
}

// Lstat implements fs.ReadLinkFS.
func (t quietTree) Lstat(name string) (info fs.FileInfo, err error) {
	err = t.fs.inOpenFolder("statat", name, func(in *os.Root, name string) error {
		info, err = fs.Lstat(in.FS(), name)
		return err
	})
	return info, err
}

// ReadLink implements fs.ReadLinkFS.
func (t quietTree) ReadLink(name string) (string, error) { return fs.ReadLink(t.fs.root.FS(), name) }

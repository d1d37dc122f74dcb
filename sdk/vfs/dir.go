package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
)

// Dir is a folder of the disk, without anything outside of it. Files are replaced as a whole. Methods may be
// called at the same time.
//
// Files for other programs to execute or obey can be read but not written, at any depth and in any spelling of
// the same name on a disk, because their writer gives orders to these programs: .bmad-task, hooks, settings of
// coding assistants, editors and package managers, jobs of CI. .git cannot even be read. Nothing is written
// through a link.
type Dir struct {
	read     *durable.Dir
	write    *os.Root
	readOnly bool
	closed   obeyed.List
}

// DirOptions configure a [Dir].
type DirOptions struct {
	// ReadOnly refuses every change.
	ReadOnly bool
	// Open are names of files, or of folders with all in them, writable although other programs obey them, for
	// example .github/workflows. .git and .bmad-task never are.
	Open []string
}

// OpenDir opens a folder. Close releases it.
func OpenDir(name string, o DirOptions) (*Dir, error) {
	closed, unknown := obeyed.Closed(o.Open...)
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%s is not a file that can be opened", strings.Join(unknown, ", "))
	}
	read, err := durable.OpenDir(name)
	if err != nil {
		return nil, err
	}
	write, err := os.OpenRoot(name)
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	return &Dir{read: read, write: write, readOnly: o.ReadOnly, closed: closed}, nil
}

// Close releases the folder.
func (d *Dir) Close() error { return errors.Join(d.read.Close(), d.write.Close()) }

// relativeName returns the name of a path below the folder.
func relativeName(name string) (clean, rel string, err error) {
	if clean, err = Clean(name); err == nil {
		err = obeyed.CheckRead(clean)
	}
	if err != nil {
		return "", "", err
	}
	if rel = clean[1:]; rel == "" {
		rel = "."
	}
	return clean, rel, nil
}

// readableName is inside for a path to read, whose links must not lead to hidden files.
func (d *Dir) readableName(name string) (clean, rel string, err error) {
	if clean, rel, err = relativeName(name); err != nil {
		return "", "", err
	}
	at, links := ".", 0
	for rest := strings.Split(rel, "/"); len(rest) > 0 && links <= maxLinks; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if target, err := d.write.Readlink(next); err == nil {
			links++
			rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
		} else {
			at = next
		}
	}
	if obeyed.CheckRead(at) != nil || links > maxLinks {
		return "", "", fmt.Errorf("%s cannot be used: it is a link, or lies behind one, to version control or to itself", clean)
	}
	return clean, rel, nil
}

// maxLinks is how many links a path may have.
const maxLinks = 40

// Read implements FS.
func (d *Dir) Read(name string) ([]byte, error) {
	name, rel, err := d.readableName(name)
	if err != nil {
		return nil, err
	}
	data, err := d.read.ReadFile(rel, MaxFile)
	return data, modelError(name, err)
}

// modelError returns an error of the disk for the model, without the path on the disk.
func modelError(name string, err error) error {
	var large *durable.TooLargeError
	var odd *durable.NotRegularError
	var of *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errAbsent(name)
	case errors.Is(err, syscall.ENOTDIR):
		return &pathError{fmt.Sprintf("%s does not exist: a file lies where its folder would", name), fs.ErrNotExist}
	case errors.As(err, &large):
		return fmt.Errorf("%s has more than %d bytes, the limit", name, MaxFile)
	case errors.As(err, &odd) && odd.Mode.IsDir():
		return fmt.Errorf("%s is a folder", name)
	case errors.As(err, &odd):
		return fmt.Errorf("%s is not a regular file", name)
	case errors.As(err, &of):
		return &pathError{fmt.Sprintf("%s: %v", name, of.Err), err}
	}
	return &pathError{fmt.Sprintf("%s cannot be used: %v", name, err), err}
}

// Stat implements FS.
func (d *Dir) Stat(name string) (Info, error) {
	name, rel, err := d.readableName(name)
	if err != nil {
		return Info{}, err
	}
	info, err := d.read.Stat(rel)
	if err != nil {
		return Info{}, modelError(name, err)
	}
	return infoOf(name, info), nil
}

func infoOf(name string, info fs.FileInfo) Info {
	out := Info{Path: name, Dir: info.IsDir(), Modified: info.ModTime().UTC(), Given: true}
	if !out.Dir {
		out.Size = info.Size()
	}
	return out
}

// List implements FS. Links out of the folder, names that no path can have, and anything that is neither file
// nor folder, are left out; links to folders too, so that a walk ends.
func (d *Dir) List(name string) ([]Info, error) {
	name, rel, err := d.readableName(name)
	if err != nil {
		return nil, err
	}
	if info, err := d.read.Stat(rel); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, not a folder", name)
	}
	entries, err := d.read.ReadDir(rel)
	if err != nil {
		return nil, modelError(name, err)
	}
	var out []Info
	for _, e := range entries {
		child := path.Join(name, e.Name())
		if e.Type().IsRegular() || e.IsDir() {
			_, _, err = relativeName(child)
		} else {
			_, _, err = d.readableName(child)
		}
		if err != nil {
			continue
		}
		info, err := d.read.Stat(path.Join(rel, e.Name()))
		if err != nil {
			continue
		}
		linked := info.IsDir() && !e.IsDir()
		if linked || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		out = append(out, infoOf(child, info))
	}
	slices.SortFunc(out, byPath)
	return out, nil
}

// Write implements FS.
func (d *Dir) Write(name string, data []byte) error {
	name, rel, err := d.writableName(name)
	if err == nil {
		err = checkSize(name, int64(len(data)))
	}
	if err != nil {
		return err
	}
	mode, made := fs.FileMode(0o644), []string(nil)
	info, err := d.write.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if made, err = d.read.MkdirAll(path.Dir(rel)); err != nil {
			return modelError(path.Dir(name), err)
		}
	case err != nil:
		return modelError(name, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	default:
		mode = info.Mode().Perm()
	}
	if err = d.replaceFile(rel, data, mode); err != nil {
		d.read.RemoveEmpty(made)
	}
	return modelError(name, err)
}

// replaceFile writes a file beside the old one, and renames it.
func (d *Dir) replaceFile(rel string, data []byte, mode fs.FileMode) error {
	temp := path.Join(path.Dir(rel), durable.TempName("new"))
	f, err := d.write.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode) // which the umask may have narrowed
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.write.Rename(temp, rel)
	}
	if err != nil {
		return errors.Join(err, d.write.Remove(temp))
	}
	return nil
}

// Mkdir implements FS.
func (d *Dir) Mkdir(name string) error {
	name, rel, err := d.writableName(name)
	if err != nil {
		return err
	}
	if info, err := d.write.Lstat(rel); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder", name)
	}
	_, err = d.read.MkdirAll(rel)
	return modelError(name, err)
}

// CheckWrite returns the error of a Write to a path as far as it is known before.
func (d *Dir) CheckWrite(name string) error {
	name, rel, err := d.writableName(name)
	if err != nil {
		return err
	}
	if info, err := d.write.Lstat(rel); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", name)
	}
	return nil
}

// writableName refuses paths that the agent must not write.
func (d *Dir) writableName(name string) (clean, rel string, err error) {
	if d.readOnly {
		return "", "", errors.New("the folder is for reading")
	}
	return d.mayWrite(name)
}

// mayWrite refuses paths closed to every agent. An overlay asks it too, before it takes a file.
func (d *Dir) mayWrite(name string) (clean, rel string, err error) {
	if clean, rel, err = relativeName(name); err == nil {
		err = d.closed.CheckWrite(clean)
	}
	if err != nil {
		return "", "", err
	}
	for at := rel; at != "."; at = path.Dir(at) {
		info, err := d.write.Lstat(at)
		switch {
		case err != nil: // there is none, or the write will show why not
		case info.Mode()&fs.ModeSymlink != 0:
			return "", "", fmt.Errorf("%s cannot be written: /%s is a link", clean, at)
		case at != rel && !info.IsDir():
			return "", "", fmt.Errorf("/%s is a file, not a folder", at)
		}
	}
	return clean, rel, nil
}

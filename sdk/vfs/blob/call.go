package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// pageSize is how many objects are asked for at a time; some services give fewer.
const pageSize = 5000

// call is one call of a method.
type call struct {
	*FS
	ctx  context.Context
	name string // the clean path
	key  string // the name of its object
}

// call does the work of a method within the time.
func (f *FS) call(name string, work func(c call) error) error {
	name, err := vfs.Clean(name)
	if err == nil {
		err = obeyed.CheckRead(name)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.o.Timeout)
	defer cancel()
	c := call{f, ctx, name, f.prefix + name[1:]}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
		return work(c)
	case <-ctx.Done():
		return c.explainError(ctx.Err())
	}
}

// lookAt describes the file or folder at the path, with the attributes of a file.
func (c call) lookAt() (vfs.Info, *blob.Attributes, error) {
	folder := vfs.Info{Path: c.name, Dir: true, Given: true}
	if c.name == "/" {
		return folder, nil, nil
	}
	now, err := c.readAttributes(c.key)
	if err != nil {
		return vfs.Info{}, nil, err
	}
	if now != nil {
		return vfs.Info{Path: c.name, Size: now.Size, Modified: now.ModTime.UTC(), Given: true}, now, nil
	}
	page, _, err := c.bucket.ListPage(c.ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: c.key + "/"})
	if err = c.explainError(err); err == nil && len(page) == 0 {
		now, err = c.readAttributes(c.key + "/") // an empty folder of the disk does not list it
		if err == nil && now == nil {
			err = &modelError{"File not found: " + c.name, fs.ErrNotExist}
		}
	}
	if err != nil {
		return vfs.Info{}, nil, err
	}
	return folder, nil, nil
}

// readAttributes returns the attributes of an object, nil if there is none.
func (c call) readAttributes(key string) (*blob.Attributes, error) {
	now, err := c.bucket.Attributes(c.ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, syscall.ENOTDIR) { // of a folder on the disk
		return nil, nil
	}
	return now, c.explainError(err)
}

// checkNoFile refuses a file at a path, or above it.
func (c call) checkNoFile(name string) error {
	for ; name != "/"; name = path.Dir(name) {
		if now, err := c.readAttributes(c.prefix + name[1:]); err != nil {
			return err
		} else if now != nil {
			return fmt.Errorf("%s is a file, not a folder", name)
		}
	}
	return nil
}

// downloadObject returns the content of an object, unless it is too large.
func (c call) downloadObject(now *blob.Attributes) ([]byte, error) {
	tooLarge := c.refuseName("has more than %d bytes, the limit", vfs.MaxFile)
	if now.Size > vfs.MaxFile {
		return nil, tooLarge
	}
	r, err := c.bucket.NewReader(c.ctx, c.key, nil)
	if err != nil {
		return nil, c.explainError(err)
	}
	data, err := io.ReadAll(io.LimitReader(r, vfs.MaxFile+1)) // it may have grown, or be compressed
	err = errors.Join(err, r.Close())
	if err == nil && len(data) > vfs.MaxFile {
		return nil, tooLarge
	}
	return data, c.explainError(err)
}

// holdsText reports whether an object has a content.
func (c call) holdsText(now *blob.Attributes, data []byte) bool {
	there, err := c.downloadObject(now)
	return err == nil && bytes.Equal(there, data)
}

// uploadObject makes or replaces an object as a whole.
func (c call) uploadObject(data []byte, o *blob.WriterOptions) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	w, err := c.bucket.NewWriter(ctx, c.key, o)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		cancel() // or else Close would make an object of the part
		_ = w.Close()
		return err
	}
	return w.Close()
}

// listFolder returns the entries of a folder, sorted by path.
func (c call) listFolder() ([]vfs.Info, error) {
	found, below := map[string]vfs.Info{}, c.key+"/"
	if c.name == "/" {
		below = c.prefix
	}
	for token := blob.FirstPageToken; len(token) > 0; {
		page, next, err := c.bucket.ListPage(c.ctx, token, pageSize, &blob.ListOptions{Prefix: below, Delimiter: "/"})
		if err != nil {
			return nil, c.explainError(err)
		}
		for _, object := range page {
			c.addEntry(found, object)
		}
		if len(found) > MaxEntries {
			return nil, c.refuseName("has more than %d entries, the limit; use a folder below it", MaxEntries)
		}
		token = next
	}
	return slices.SortedFunc(maps.Values(found), func(a, b vfs.Info) int { return strings.Compare(a.Path, b.Path) }), nil
}

// addEntry adds an object or folder to a list, if a path can have its name. A file goes before a folder.
func (c call) addEntry(found map[string]vfs.Info, object *blob.ListObject) {
	name := "/" + strings.TrimPrefix(object.Key, c.prefix)
	if object.IsDir {
		name = strings.TrimSuffix(name, "/")
	}
	clean, err := vfs.Clean(name)
	if err != nil || clean != name || name == "/" || obeyed.CheckRead(name) != nil {
		return
	}
	if _, ok := found[name]; !ok || !object.IsDir {
		found[name] = vfs.Info{Path: name, Dir: object.IsDir, Size: object.Size, Modified: object.ModTime.UTC(), Given: true}
	}
}

// refuseName returns an error about the path.
func (c call) refuseName(format string, args ...any) error {
	return errors.New(c.name + " " + fmt.Sprintf(format, args...))
}

// conflictError returns the error of a write that came too late, and keeps the next one from coming before a read.
func (c call) conflictError() error {
	c.rememberTag(c.name, lost)
	return fmt.Errorf("%w; read it again before you write it", &vfs.ConflictError{Path: c.name})
}

// modelError is a sentence for the model, without addresses, with a cause for programs.
type modelError struct {
	text  string
	cause error
}

func (e *modelError) Error() string { return e.text }
func (e *modelError) Unwrap() error { return e.cause }

// explainError returns an error of the store for the model.
func (c call) explainError(err error) error {
	var why string
	switch code := gcerrors.Code(err); {
	case err == nil:
		return nil
	case c.FS.ctx.Err() != nil:
		why = "the work was stopped"
	case c.ctx.Err() != nil:
		why = fmt.Sprintf("the store has not finished within %s; read it before you try again, since a write may have been done", c.o.Timeout)
	case code == gcerrors.PermissionDenied:
		why = "the store refuses it; the person has to give its credentials the right to read, write and list"
	case code == gcerrors.NotFound:
		why = "the store has no such bucket, or the object is gone"
	default:
		why = fmt.Sprintf("the store has failed (%v); try again later", code)
	}
	return &modelError{c.name + " cannot be used: " + why, err}
}

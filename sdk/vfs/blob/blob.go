// Package blob keeps the files of an agent in object storage: gs://, s3://, azblob://, file:// and
// mem://, or any other bucket of gocloud.dev/blob.
//
// An object is a file, and the slashes in its name are folders. A folder without files is an empty
// object with a slash at the end of its name. Objects with names that no path can have, such as a//b,
// are left out. Beside an object a, those below a/ are not listed.
//
// A write is for the version of a file that was last read or written here: the error is a
// [*vfs.ConflictError], and nothing is written, if somebody else has changed the file since. The service
// checks that a new object is new; for others see [Options.Condition].
//
// What other programs execute or obey is closed to the agent as in [vfs.Dir], because buckets are copied to
// folders. The driver of file:// follows links, also out of its folder, so that a bucket of it is for folders
// that nobody else writes; [vfs.OpenDir] is for the others.
package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

const (
	// MaxEntries is how many files and folders a folder can have.
	MaxEntries = 50_000
	// DefaultTimeout is the time of a call.
	DefaultTimeout = 30 * time.Second
	// maxSeen is how many versions are remembered.
	maxSeen = 100_000
)

// Options configure an [FS].
type Options struct {
	// Prefix is a folder of the bucket, such as projects/shop, outside of which nothing can be reached.
	Prefix string
	// Open are names of files, or of folders with all in them, writable as in [vfs.DirOptions].
	Open []string
	// Timeout limits each call, with all of its requests: [DefaultTimeout] if it is 0.
	Timeout time.Duration
	// Condition, if not nil, adds to a request that replaces an object the condition that it still is now.
	// as gives the request, as in [blob.WriterOptions], and now.As the driver's description of the
	// object, in types that only the driver knows. After an error nothing is written.
	//
	// Without a condition the versions are compared just before the request, and a change by somebody
	// else between the two is lost.
	Condition func(as func(any) bool, now *blob.Attributes) error
}

// FS is a bucket, or a folder in it. Methods may be called at the same time, and wait for each other.
type FS struct {
	ctx    context.Context // because the methods of vfs.FS have none
	bucket *blob.Bucket
	prefix string
	o      Options
	closed obeyed.List
	turn   chan struct{}     // has room for one call: calls of one FS do not conflict
	seen   map[string]string // the tags of files as they were last read or written, "" if there was none
}

// lost is the tag of a file that has to be read before the next write.
const lost = "?"

// New returns the files in a bucket, without a request to it. Calls end with ctx. The caller closes the
// bucket, after the last call.
func New(ctx context.Context, bucket *blob.Bucket, o Options) (*FS, error) {
	prefix, err := vfs.Clean("/" + o.Prefix)
	if err == nil && prefix != "/"+strings.Trim(o.Prefix, "/") {
		err = fmt.Errorf("write %q", prefix[1:])
	}
	if err != nil {
		return nil, fmt.Errorf("the prefix %q cannot be used: %w", o.Prefix, err)
	}
	closed, unknown := obeyed.Closed(o.Open...)
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%s is not a file that can be opened", strings.Join(unknown, ", "))
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	prefix = strings.TrimPrefix(prefix[1:]+"/", "/")
	return &FS{ctx: ctx, bucket: bucket, prefix: prefix, o: o, closed: closed, turn: make(chan struct{}, 1), seen: map[string]string{}}, nil
}

// Read implements [vfs.FS].
func (f *FS) Read(name string) (data []byte, err error) {
	err = f.call(name, func(c call) error {
		info, now, err := c.lookAt() // before the content, so that a change between the two is a conflict later
		switch {
		case info.Dir:
			return c.refuseName("is a folder")
		case err == nil:
			data, err = c.downloadObject(now)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			f.rememberTag(c.name, tagOf(now))
		}
		return err
	})
	return data, err
}

// Stat implements [vfs.FS].
func (f *FS) Stat(name string) (info vfs.Info, err error) {
	err = f.call(name, func(c call) error {
		info, _, err = c.lookAt()
		return err
	})
	return info, err
}

// List implements [vfs.FS].
func (f *FS) List(name string) (out []vfs.Info, err error) {
	err = f.call(name, func(c call) error {
		info, now, err := c.lookAt()
		if now != nil {
			return c.refuseName("is a file, not a folder")
		}
		if info.Dir {
			out, err = c.listFolder()
		}
		return err
	})
	return out, err
}

// Mkdir implements [vfs.FS].
func (f *FS) Mkdir(name string) error {
	return f.call(name, func(c call) error {
		if err := c.closed.CheckWrite(c.name); err != nil {
			return err
		}
		if info, _, err := c.lookAt(); info.Dir {
			return err
		}
		if err := c.checkNoFile(c.name); err != nil {
			return err
		}
		c.key += "/"
		err := c.uploadObject(nil, &blob.WriterOptions{IfNotExist: true})
		if gcerrors.Code(err) == gcerrors.FailedPrecondition {
			return nil
		}
		return c.explainError(err)
	})
}

// Write implements [vfs.FS].
func (f *FS) Write(name string, data []byte) error {
	return f.call(name, func(c call) error {
		if err := c.closed.CheckWrite(c.name); err != nil {
			return err
		}
		if len(data) > vfs.MaxFile {
			return c.refuseName("would have %d bytes, more than the limit of %d", len(data), vfs.MaxFile)
		}
		info, now, err := c.lookAt()
		switch {
		case info.Dir:
			return c.refuseName("is a folder")
		case errors.Is(err, fs.ErrNotExist):
			err = c.checkNoFile(path.Dir(c.name))
		}
		if err != nil {
			return err
		}
		return c.replaceObject(now, data)
	})
}

// replaceObject writes an object that is now as described, if it was so when it was last seen.
func (c call) replaceObject(now *blob.Attributes, data []byte) error {
	if tag, ok := c.seen[c.name]; ok && tag != tagOf(now) {
		return c.conflictError()
	}
	c.rememberTag(c.name, tagOf(now))
	o := &blob.WriterOptions{IfNotExist: now == nil}
	if now != nil {
		o.Metadata, o.CacheControl, o.ContentDisposition, o.ContentLanguage = now.Metadata, now.CacheControl, now.ContentDisposition, now.ContentLanguage
		if c.o.Condition != nil {
			o.BeforeWrite = func(as func(any) bool) error { return c.o.Condition(as, now) }
		}
	}
	err := c.uploadObject(data, o)
	after, _ := c.readAttributes(c.key)
	isWhole := after != nil && after.Size == int64(len(data))
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		if !isWhole || !c.holdsText(after, data) {
			return c.conflictError()
		}
		err = nil // the answer to the first of two requests was lost
	}
	if err != nil {
		return c.explainError(err)
	}
	tag := lost
	if isWhole {
		tag = tagOf(after)
	}
	c.rememberTag(c.name, tag)
	return nil
}

// rememberTag notes the tag of a file.
func (f *FS) rememberTag(name, tag string) {
	if len(f.seen) >= maxSeen {
		clear(f.seen)
	}
	f.seen[name] = tag
}

// tagOf returns a text that changes with an object; "" for none.
func tagOf(now *blob.Attributes) string {
	if now == nil {
		return ""
	}
	return cmp.Or(now.ETag, fmt.Sprint(now.ModTime.UnixNano(), now.Size))
}

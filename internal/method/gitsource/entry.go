package gitsource

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// recordName is the file with the record of a remote, maxRecord its largest size.
const (
	recordName = "source.json"
	maxRecord  = 64 << 10
)

// recordVersion is the version of the file that this code writes and reads.
const recordVersion = 1

// record describes a remote and its copies.
type record struct {
	Version int    `json:"version"`
	URL     string `json:"url"`
	Ref     string `json:"ref,omitempty"`
	// Commit is the copy that is served, Previous the one before it; "" is none.
	Commit   string `json:"commit,omitempty"`
	Previous string `json:"previous,omitempty"`
	// Held is the size of each of the two when it was made, by its commit.
	Held map[string]contentSize `json:"held,omitempty"`

	FetchedAt time.Time `json:"fetched_at,omitzero"`
	CheckedAt time.Time `json:"checked_at,omitzero"`
	TriedAt   time.Time `json:"tried_at,omitzero"`
	Problem   string    `json:"problem,omitempty"`
}

// contentSize is how many files a copy has, and their bytes.
type contentSize struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// commitForm is a full hash, of SHA-1 or SHA-256.
var commitForm = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// cacheEntry is the opened cache, with one remote.
type cacheEntry struct {
	*durable.Dir
	spec Spec
	key  string
}

// open opens the cache. If it is missing, it is made, or the error matches fs.ErrNotExist.
func (c *Cache) open(s Spec, create bool) (*cacheEntry, error) {
	if s.scheme == "" {
		return nil, fault.New(fault.InvalidArgument, "no git repository is named").WithHint("write %s", form)
	}
	if c.Folder == "" {
		return nil, fault.New(fault.Storage, "there is no folder to keep copies of git repositories in").
			WithHint("set HOME, or XDG_CACHE_HOME to an absolute path, where the program is started")
	}
	folder, err := filepath.Abs(c.Folder)
	if err == nil && create {
		err = os.MkdirAll(folder, 0o700) // for its owner alone: it may hold copies of private repositories
	}
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	return &cacheEntry{Dir: dir, spec: s, key: s.Key()}, nil
}

func (e *cacheEntry) lockName() string { return e.key + ".lock" }

// in returns the name of a file or folder of the remote.
func (e *cacheEntry) in(name string) string { return e.key + "/" + name }

// holds reports whether there is a copy of a commit.
func (e *cacheEntry) holds(commit string) bool {
	if !commitForm.MatchString(commit) {
		return false
	}
	some, err := e.ReadDir(e.in(commit))
	return err == nil && len(some) > 0 // a cleaning program may have emptied it
}

// isWhole reports whether there is a complete copy of a commit: a cleaning program or a person may
// have changed it.
func (e *cacheEntry) isWhole(r record, commit string) bool {
	has, whole := e.measure(commit)
	if had, known := r.Held[commit]; known && has != had {
		return false
	}
	return whole
}

// measure counts the files of a copy and their bytes, without Python's caches of the scripts that
// are run from it. It reports false if there is no copy.
func (e *cacheEntry) measure(commit string) (size contentSize, ok bool) {
	if !e.holds(commit) {
		return size, false
	}
	err := fs.WalkDir(e.Tree(), e.in(commit), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "__pycache__" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size.Files++
			size.Bytes += info.Size()
		}
		return err
	})
	return size, err == nil
}

// read returns the record, if it is a valid one of this remote.
func (e *cacheEntry) read() (record, bool) {
	var r record
	data, err := e.ReadFile(e.in(recordName), maxRecord)
	if err != nil || json.Unmarshal(data, &r) != nil || r.Version != recordVersion || r.URL != e.spec.url() || r.Ref != e.spec.ref {
		return record{}, false
	}
	return r, true
}

// current returns the record of the remote, with the commit that can be served. If the
// record is broken, or names a missing copy, that is the newest copy, which was a good one.
func (e *cacheEntry) current() record {
	r, ok := e.read()
	if ok && !e.holds(r.Commit) {
		// The copy may be under repair, or have been replaced twice since the record was read.
		time.Sleep(10 * time.Millisecond)
		r, ok = e.read()
	}
	if ok && e.holds(r.Commit) {
		return r
	}
	if r.Problem == "" && !r.TriedAt.After(r.CheckedAt) {
		r.TriedAt = time.Time{} // the loss of the copy was not a failure
	}
	r.Commit, r.FetchedAt = e.newest()
	r.CheckedAt, r.Previous = time.Time{}, ""
	r.Version, r.URL, r.Ref = recordVersion, e.spec.url(), e.spec.ref
	return r
}

// newest returns the copy that was made last, or "".
func (e *cacheEntry) newest() (commit string, at time.Time) {
	entries, _ := e.ReadDir(e.key) // an unreadable folder has no copy to serve
	for _, entry := range entries {
		if !e.holds(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && (commit == "" || info.ModTime().After(at)) {
			commit, at = entry.Name(), info.ModTime().UTC()
		}
	}
	return commit, at
}

// revive makes an existing copy the newest one, in case the record is lost.
func (e *cacheEntry) revive(commit string) error {
	newest, at := e.newest()
	if newest == commit {
		return nil
	}
	at = at.Add(time.Second)
	return os.Chtimes(e.Join(e.in(commit)), at, at)
}

// save replaces the record.
func (e *cacheEntry) save(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = e.Replace(e.in(recordName), append(data, '\n'))
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return nil // if the old record comes back, the copy that it names is still there
	}
	return err
}

// serve returns the copy of a record.
func (e *cacheEntry) serve(r record) (Copy, error) {
	if r.Commit == "" {
		return Copy{}, missing(e.spec, r)
	}
	root, sub := e.Join(e.in(r.Commit)), e.spec.sub
	out := Copy{
		Dir: root, Root: root, Commit: r.Commit,
		FetchedAt: r.FetchedAt, CheckedAt: r.CheckedAt, TriedAt: r.TriedAt, Problem: r.Problem,
	}
	if sub == "" {
		return out, nil
	}
	// Through the checkout, so that no link of the repository leads elsewhere.
	inside, err := durable.OpenDirIn(root, filepath.FromSlash(sub), sub)
	if err != nil {
		return Copy{}, fault.New(fault.NotFound, "%s has no folder %s at commit %s", Prefix+e.spec.url(), sub, r.Commit[:12]).
			WithHint("look in the repository for the folder, and write it after #:/ or #ref:/ in the address")
	}
	out.Dir = filepath.Join(root, filepath.FromSlash(sub))
	return out, inside.Close()
}

// missing returns the error for a remote that was never copied.
func missing(s Spec, r record) error {
	why := lang.T("it was never fetched")
	if r.Problem != "" {
		why = lang.T("%s", r.Problem)
	} else if !r.TriedAt.IsZero() {
		why = lang.T("it is being fetched, or that was cut short")
	}
	return fault.New(fault.NotFound, "there is no copy of %s yet: %s", s, why).
		WithHint("check the address and the network, then update it")
}

// clear removes the leftovers of killed processes. The caller holds the lock.
func (e *cacheEntry) clear() error {
	for _, name := range []string{".", e.key} {
		entries, err := e.ReadDir(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			of, temp := durable.IsTemp(entry.Name())
			if !temp || name == "." && of != e.key { // another remote's
				continue
			}
			if err := os.RemoveAll(e.Join(name + "/" + entry.Name())); err != nil {
				return err
			}
		}
	}
	if info, err := e.Lstat(e.in(recordName)); err == nil && info.IsDir() { // a file could not replace it
		return os.RemoveAll(e.Join(e.in(recordName)))
	}
	return nil
}

// discard removes a folder whose name matters: it is renamed first, so that half of it never has
// that name.
func (e *cacheEntry) discard(name string) error {
	temp := path.Join(path.Dir(name), durable.TempName(path.Base(name)))
	if err := e.Rename(name, temp); err != nil {
		return err
	}
	return os.RemoveAll(e.Join(temp))
}

// tidy removes the copies that are not served. One that stays is not a failure:
// if open files cannot be removed, the next update tries again.
func (e *cacheEntry) tidy(r record) {
	entries, _ := e.ReadDir(e.key)
	for _, entry := range entries {
		if name := entry.Name(); commitForm.MatchString(name) && name != r.Commit && name != r.Previous {
			_ = e.discard(e.in(name))
		}
	}
}

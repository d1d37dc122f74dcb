package gitsource

import (
	"cmp"
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
	"github.com/bmad-mcp/bmad-mcp/internal/method/internal/npm"
)

// recordName is the file with the record of a remote, maxRecord the file's largest size.
const (
	recordName = "source.json"
	maxRecord  = 64 << 10
)

// recordVersion is the version of the file as read and written here.
const recordVersion = 1

// record describes a remote and all copies of it.
type record struct {
	Version int    `json:"version"`
	URL     string `json:"url"`
	Ref     string `json:"ref,omitempty"`
	// Commit is the served copy, Previous the one before it; "" is none.
	Commit   string `json:"commit,omitempty"`
	Previous string `json:"previous,omitempty"`
	// Held is the size of each of the two at the time of copying, by commit.
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

// copyForm is the name of a copy: a full hash, or the ID of a release.
var copyForm = pattern.New(`^(?:[0-9a-f]{40}|(?:[0-9]+\.[0-9A-Za-z.-]+-)?[0-9a-f]{64})$`)

// ShortCommit returns a commit for people: the version of a package, or the first digits of a hash.
func ShortCommit(commit string) string {
	return cmp.Or(npm.VersionIn(commit), commit[:min(len(commit), 12)])
}

// cacheEntry is the opened cache, with one remote.
type cacheEntry struct {
	*durable.Dir
	spec Spec
	key  string
}

// openEntry opens the cache. For a missing cache it makes one, or returns an error matching fs.ErrNotExist.
func (c *Cache) openEntry(s Spec, create bool) (*cacheEntry, error) {
	if s.scheme == "" {
		return nil, fault.New(fault.InvalidArgument, "no git repository is named").WithHint("write %s", form)
	}
	if c.Folder == "" {
		return nil, fault.New(fault.Storage, "there is no folder to keep copies of git repositories in").
			WithHint("set HOME, or XDG_CACHE_HOME to an absolute path, where the program is started")
	}
	folder, err := filepath.Abs(c.Folder)
	if err == nil && create {
		err = os.MkdirAll(folder, 0o700) // for the owner alone: it may hold copies of private repositories
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

// pathOf returns the name of a file or folder of the remote.
func (e *cacheEntry) pathOf(name string) string { return e.key + "/" + name }

// hasCopy reports whether there is a copy of a commit.
func (e *cacheEntry) hasCopy(commit string) bool {
	if !copyForm.MatchString(commit) {
		return false
	}
	some, err := e.ReadDir(e.pathOf(commit))
	return err == nil && len(some) > 0 // a cleaning program may have emptied it
}

// isWhole reports whether there is a complete copy of a commit: a cleaning program or a person may
// have changed it.
func (e *cacheEntry) isWhole(r record, commit string) bool {
	has, whole := e.measureCopy(commit)
	if had, known := r.Held[commit]; known && has != had {
		return false
	}
	return whole
}

// measureCopy counts the files of a copy and their bytes, without Python's caches of scripts run from it. It
// reports false if there is no copy.
func (e *cacheEntry) measureCopy(commit string) (size contentSize, ok bool) {
	if !e.hasCopy(commit) {
		return size, false
	}
	err := fs.WalkDir(e.Tree(), e.pathOf(commit), func(_ string, entry fs.DirEntry, err error) error {
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

// readRecord returns the record, if it is a valid one of this remote.
func (e *cacheEntry) readRecord() (record, bool) {
	var r record
	data, err := e.ReadFile(e.pathOf(recordName), maxRecord)
	if err != nil || json.Unmarshal(data, &r) != nil || r.Version != recordVersion || r.URL != e.spec.url() || r.Ref != e.spec.ref {
		return record{}, false
	}
	return r, true
}

// currentRecord returns the record of the remote, with the commit of a servable copy. For a broken record, or one
// with a missing copy, it takes the newest copy, which was a good one.
func (e *cacheEntry) currentRecord() record {
	r, ok := e.readRecord()
	if ok && !e.hasCopy(r.Commit) {
		// The copy may be under repair, or have been replaced twice since the record was read.
		time.Sleep(10 * time.Millisecond)
		r, ok = e.readRecord()
	}
	if ok && e.hasCopy(r.Commit) {
		return r
	}
	if r.Problem == "" && !r.TriedAt.After(r.CheckedAt) {
		r.TriedAt = time.Time{} // the loss of the copy was not a failure
	}
	r.Commit, r.FetchedAt = e.newestCopy()
	r.CheckedAt, r.Previous = time.Time{}, ""
	r.Version, r.URL, r.Ref = recordVersion, e.spec.url(), e.spec.ref
	return r
}

// newestCopy returns the most recent copy, or "".
func (e *cacheEntry) newestCopy() (commit string, at time.Time) {
	entries, _ := e.ReadDir(e.key) // an unreadable folder has no copy to serve
	for _, entry := range entries {
		if !e.hasCopy(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && (commit == "" || info.ModTime().After(at)) {
			commit, at = entry.Name(), info.ModTime().UTC()
		}
	}
	return commit, at
}

// makeNewest makes an existing copy the newest one, in case the record is lost.
func (e *cacheEntry) makeNewest(commit string) error {
	newest, at := e.newestCopy()
	if newest == commit {
		return nil
	}
	at = at.Add(time.Second)
	return os.Chtimes(e.Join(e.pathOf(commit)), at, at)
}

// saveRecord replaces the record.
func (e *cacheEntry) saveRecord(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = e.Replace(e.pathOf(recordName), append(data, '\n'))
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return nil // if the old record comes back, the copy it names is still there
	}
	return err
}

// copyOf returns the copy of a record.
func (e *cacheEntry) copyOf(r record) (Copy, error) {
	if r.Commit == "" {
		return Copy{}, neverCopiedError(e.spec, r)
	}
	root, sub := e.Join(e.pathOf(r.Commit)), e.spec.sub
	out := Copy{
		Dir: root, Root: root, Commit: r.Commit,
		FetchedAt: r.FetchedAt, CheckedAt: r.CheckedAt, TriedAt: r.TriedAt, Problem: r.Problem,
	}
	if sub == "" {
		return out, nil
	}
	// Through the checkout, so no link of the repository leads elsewhere.
	inside, err := durable.OpenDirIn(root, filepath.FromSlash(sub), sub)
	if err != nil {
		return Copy{}, fault.New(fault.NotFound, "%s has no folder %s at commit %s", e.spec, sub, ShortCommit(r.Commit)).
			WithHint("look in the repository for the folder, and write it after #:/ or #ref:/ in the address")
	}
	out.Dir = filepath.Join(root, filepath.FromSlash(sub))
	return out, inside.Close()
}

// neverCopiedError returns the error for a remote without any copy.
func neverCopiedError(s Spec, r record) error {
	why := lang.T("it was never fetched")
	if r.Problem != "" {
		why = lang.T("%s", r.Problem)
	} else if !r.TriedAt.IsZero() {
		why = lang.T("it is being fetched, or that was cut short")
	}
	return fault.New(fault.NotFound, "there is no copy of %s yet: %s", s, why).
		WithHint("check the address and the network, then update it")
}

// removeLeftovers removes the leftovers of killed processes. The caller holds the lock.
func (e *cacheEntry) removeLeftovers() error {
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
	if info, err := e.Lstat(e.pathOf(recordName)); err == nil && info.IsDir() { // a file could not replace it
		return os.RemoveAll(e.Join(e.pathOf(recordName)))
	}
	return nil
}

// discardFolder removes a folder with a meaningful name: it is renamed first, so half of it never has the name.
func (e *cacheEntry) discardFolder(name string) error {
	temp := path.Join(path.Dir(name), durable.TempName(path.Base(name)))
	if err := e.Rename(name, temp); err != nil {
		return err
	}
	return os.RemoveAll(e.Join(temp))
}

// removeUnserved removes the copies no longer served. A copy left behind is not a failure: if open files cannot be
// removed, the next update tries again.
func (e *cacheEntry) removeUnserved(r record) {
	entries, _ := e.ReadDir(e.key)
	for _, entry := range entries {
		if name := entry.Name(); copyForm.MatchString(name) && name != r.Commit && name != r.Previous {
			_ = e.discardFolder(e.pathOf(name))
		}
	}
}

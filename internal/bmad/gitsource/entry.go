package gitsource

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// recordName is the file with the record of a remote, maxRecord its largest size.
const (
	recordName = "source.json"
	maxRecord  = 64 << 10
)

// recordVersion is the version of the file that this code writes and reads.
const recordVersion = 1

// checkoutName is the purpose of temporary folders, for durable.TempName.
const checkoutName = "checkout"

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

// cacheEntry is the opened cache, with the key of one remote.
type cacheEntry struct {
	*durable.Dir
	root *os.Root
	key  string
}

// open opens the cache; the error matches fs.ErrNotExist if there is none.
func (c *Cache) open(s Spec) (*cacheEntry, error) {
	if s.scheme == "" {
		return nil, fault.New(fault.InvalidArgument, "no git repository is named").WithHint("write %s", form)
	}
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &cacheEntry{Dir: dir, root: root, key: s.Key()}, nil
}

// make opens the cache, and creates it if it is missing.
func (c *Cache) make(s Spec) (*cacheEntry, error) {
	p, err := c.open(s)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	// For its owner alone: it may hold copies of private repositories.
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, err
	}
	return c.open(s)
}

// Close closes the cache.
func (p *cacheEntry) Close() error { return errors.Join(p.root.Close(), p.Dir.Close()) }

func (p *cacheEntry) lockName() string { return p.key + ".lock" }

// in returns the name of a file or folder of the remote.
func (p *cacheEntry) in(name string) string { return p.key + "/" + name }

// holds reports whether there is a copy of a commit.
func (p *cacheEntry) holds(commit string) bool {
	if !commitForm.MatchString(commit) {
		return false
	}
	info, err := p.Lstat(p.in(commit))
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := p.root.Open(filepath.FromSlash(p.in(commit)))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	some, _ := f.Readdirnames(1) // a cleaning program may have emptied it
	return len(some) > 0
}

// isWhole reports whether there is a complete copy of a commit: a cleaning program or a person may
// have changed it.
func (p *cacheEntry) isWhole(r record, commit string) bool {
	if !p.holds(commit) {
		return false
	}
	had, known := r.Held[commit]
	if !known {
		return true
	}
	has, err := p.measure(commit)
	return err == nil && has == had
}

// measureCopies returns the sizes of the two copies of a record: when they were made, if known, else
// now.
func (p *cacheEntry) measureCopies(r, before record) (map[string]contentSize, error) {
	out := map[string]contentSize{}
	for _, commit := range []string{r.Commit, r.Previous} {
		had, known := before.Held[commit]
		known = known && (commit != r.Commit || r.FetchedAt.Equal(before.FetchedAt)) // else it was made just now
		if !known && p.holds(commit) {
			var err error
			if had, err = p.measure(commit); err != nil {
				return nil, err
			}
			known = true
		}
		if known {
			out[commit] = had
		}
	}
	return out, nil
}

// measure counts the files of a copy and their bytes, without Python's caches of the scripts that
// are run from it.
func (p *cacheEntry) measure(commit string) (out contentSize, err error) {
	err = fs.WalkDir(p.root.FS(), p.in(commit), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && e.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err == nil {
			out.Files++
			out.Bytes += info.Size()
		}
		return err
	})
	return out, err
}

// read returns the record, if it is a valid one of this remote.
func (p *cacheEntry) read(s Spec) (record, bool) {
	var r record
	data, err := p.ReadFile(p.in(recordName), maxRecord)
	if err != nil || json.Unmarshal(data, &r) != nil || r.Version != recordVersion || r.URL != s.url() || r.Ref != s.ref {
		return record{}, false
	}
	return r, true
}

// current returns the record of the remote, with the commit that can be served. If the
// record is broken, or names a missing copy, that is the newest copy, which was a good one.
func (p *cacheEntry) current(s Spec) record {
	r, ok := p.read(s)
	for range 3 { // the copy may have been replaced twice since the record was read
		if ok && p.holds(r.Commit) {
			return r
		}
		again, there := p.read(s)
		if there == ok && again.Commit == r.Commit {
			if time.Sleep(10 * time.Millisecond); ok && p.holds(r.Commit) { // it was being repaired
				return r
			}
			break
		}
		r, ok = again, there
	}
	if r.Problem == "" && !r.TriedAt.After(r.CheckedAt) {
		r.TriedAt = time.Time{} // the loss of the copy was not a failure
	}
	r.Commit, r.FetchedAt = p.newest()
	r.CheckedAt, r.Previous = time.Time{}, ""
	r.Version, r.URL, r.Ref = recordVersion, s.url(), s.ref
	return r
}

// newest returns the copy that was made last, or "".
func (p *cacheEntry) newest() (commit string, at time.Time) {
	entries, err := p.ReadDir(p.key)
	if err != nil {
		return "", at
	}
	for _, e := range entries {
		if !p.holds(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && (commit == "" || info.ModTime().After(at)) {
			commit, at = e.Name(), info.ModTime().UTC()
		}
	}
	return commit, at
}

// save replaces the record.
func (p *cacheEntry) save(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = p.Replace(p.in(recordName), append(data, '\n'))
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return nil // if the old record comes back, the copy that it names is still there
	}
	return err
}

// serve returns the copy of a record.
func (p *cacheEntry) serve(s Spec, r record) (Copy, error) {
	if r.Commit == "" {
		return Copy{}, missing(s, r)
	}
	root := p.Join(p.in(r.Commit))
	out := Copy{
		Dir: root, Root: root, Commit: r.Commit,
		FetchedAt: r.FetchedAt, CheckedAt: r.CheckedAt, TriedAt: r.TriedAt, Problem: r.Problem,
	}
	if s.sub == "" {
		return out, nil
	}
	// Through the root, so that no link of the repository leads elsewhere.
	checkout, err := p.root.OpenRoot(p.in(r.Commit))
	if err != nil {
		return Copy{}, err
	}
	defer func() { _ = checkout.Close() }()
	if info, err := checkout.Stat(filepath.FromSlash(s.sub)); err != nil || !info.IsDir() {
		return Copy{}, fault.New(fault.NotFound, "%s has no folder %s at commit %s", Prefix+s.url(), s.sub, r.Commit[:12]).
			WithHint("look in the repository for the folder, and write it after #:/ or #ref:/ in the address")
	}
	out.Dir = filepath.Join(root, filepath.FromSlash(s.sub))
	return out, nil
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
func (p *cacheEntry) clear() error {
	for _, name := range []string{".", p.key} {
		entries, err := p.ReadDir(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			of, temp := durable.IsTemp(e.Name())
			if !temp || name == "." && of != p.key { // another remote's
				continue
			}
			if err := p.root.RemoveAll(filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	if info, err := p.Lstat(p.in(recordName)); err == nil && info.IsDir() { // a file could not replace it
		return p.root.RemoveAll(filepath.FromSlash(p.in(recordName)))
	}
	return nil
}

// discard removes a folder whose name matters: it is renamed first, so that half of it never has
// that name.
func (p *cacheEntry) discard(name string) error {
	temp := durable.TempName(checkoutName)
	if name == p.key {
		temp = durable.TempName(p.key)
	} else {
		temp = p.in(temp)
	}
	if err := p.Rename(name, temp); err != nil {
		return err
	}
	return p.root.RemoveAll(filepath.FromSlash(temp))
}

// tidy removes the copies that are not served. One that stays is not a failure:
// if open files cannot be removed, the next update tries again.
func (p *cacheEntry) tidy(r record) {
	entries, err := p.ReadDir(p.key)
	if err != nil {
		return
	}
	for _, e := range entries {
		if name := e.Name(); commitForm.MatchString(name) && name != r.Commit && name != r.Previous {
			_ = p.discard(p.in(name))
		}
	}
}

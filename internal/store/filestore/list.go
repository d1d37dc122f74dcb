package filestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxDecoded bounds the files decoded whole in a listing, the ones changed last. From the other files of a
// larger project it reads only the summaries: damage in their records and histories is reported when they
// are used, and by doctor.
const maxDecoded = 500

// All lists all sessions. It reads the files changed since the last call.
func (s *Store) All(ctx context.Context) (store.Listing, error) {
	return s.Latest(ctx, math.MaxInt)
}

// Latest lists at least the n sessions whose files were changed last, and all known from an earlier listing.
func (s *Store) Latest(ctx context.Context, n int) (store.Listing, error) {
	return s.listInTurn(ctx, func(f *folder) (store.Listing, error) {
		if err := s.compareFolder(f); err != nil {
			return store.Listing{}, err
		}
		for some := f.latestUnread(n); len(some) > 0; some = f.latestUnread(n) {
			if err := s.readAll(ctx, f, some); err != nil {
				return store.Listing{}, err
			}
		}
		if f.whole {
			return f.listing, nil
		}
		f.listing, f.whole = f.sortedListing(), len(f.unread) == 0
		f.listing.Unread = len(f.unread)
		return f.listing, nil
	})
}

// Each reads every session in full, one at a time in the order of the files, and calls do with it. It
// returns the unreadable files.
func (s *Store) Each(ctx context.Context, do func(*workflow.Session) error) ([]store.Broken, error) {
	all, err := s.listInTurn(ctx, func(f *folder) (store.Listing, error) {
		ids, err := s.sessionIDs()
		if err != nil {
			return store.Listing{}, err
		}
		f.forgetFiles(nil, nil)
		f.unread, f.looked = nil, time.Time{}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return store.Listing{}, err
			}
			found, session := s.openFile(unread{id: id}, true)
			f.files[id] = found
			if found.err != nil {
				continue
			}
			if err := do(session); err != nil {
				return store.Listing{}, err
			}
		}
		return f.sortedListing(), nil
	})
	return all.Broken, err
}

// StoredHash returns the hash of the stored form of a session.
func (s *Store) StoredHash(ctx context.Context, id string) (string, error) {
	if canonical, ok := store.ParseID(id); ok && canonical == id {
		if info, err := s.dir.Lstat(store.SessionPath(id)); err == nil {
			if known, ok := s.knownFile(ctx, id, durable.VersionOf(info)); ok {
				return hex.EncodeToString(known.sum[:]), nil
			}
		}
	}
	data, err := s.Stored(ctx, id)
	if err != nil {
		return "", err
	}
	return workflow.Hash(data), nil
}

// knownFile returns the last reading of a file, if the file has not changed since.
func (s *Store) knownFile(ctx context.Context, id string, now durable.Version) (known *file, ok bool) {
	f := s.kept.folderOf(s.dir.Path())
	if f == nil {
		return known, false
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return known, false
	}
	defer func() { <-f.turn }()
	known, ok = f.files[id]
	// Without a time of change, an edit could hide by keeping size and modification time.
	return known, ok && now.Exact() && known.settled && known.version == now
}

// byAge returns every readable session, the oldest first, and the unreadable files.
func (s *Store) byAge(ctx context.Context) ([]workflow.Summary, []store.Broken, error) {
	all, err := s.All(ctx)
	sessions := slices.Clone(all.Sessions)
	store.SortByAge(sessions)
	return sessions, all.Broken, err
}

// listInTurn calls listing in its turn with the summaries of the project.
func (s *Store) listInTurn(ctx context.Context, listing func(*folder) (store.Listing, error)) (store.Listing, error) {
	f := s.kept.enterListing(s.dir.Path())
	select {
	case f.turn <- struct{}{}:
		defer s.kept.leaveListing(f)
	case <-ctx.Done():
		return store.Listing{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return store.Listing{}, err
	}
	return listing(f)
}

// sessionIDs lists the sessions by the names of their files.
func (s *Store) sessionIDs() (ids []string, err error) {
	names, err := s.dir.Names(Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.storageError(err)
	}
	for _, name := range names {
		if id, ok := sessionOf(name); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// compareFolder compares the summaries with the folder, unless it is still: it forgets the changed and missing
// files, and sets the unread ones, the ones changed last first.
func (s *Store) compareFolder(f *folder) error {
	now := s.kept.now()
	if s.isStill(f, now) {
		return nil
	}
	f.looked = time.Time{}
	ids, err := s.sessionIDs()
	if err != nil {
		return err
	}
	var out []unread
	there, ours := 0, true
	for _, id := range ids {
		info, err := s.dir.Lstat(store.SessionPath(id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			out = append(out, unread{id: id})
			continue
		}
		there++
		ours = ours && info.Mode().IsRegular() // the file behind a link changes elsewhere
		if known, ok := f.files[id]; !ok || !known.settled || known.version != durable.VersionOf(info) {
			one := unread{id: id, changed: info.ModTime()}
			if ok && known.isReadable() {
				one.before = known
			}
			out = append(out, one)
		}
	}
	// If no file is unread, all files are known, so equal numbers mean equal files.
	if len(out) > 0 || there != len(f.files) {
		f.forgetFiles(ids, out)
	}
	slices.SortStableFunc(out, func(a, b unread) int { return b.changed.Compare(a.changed) })
	f.there = there
	if f.unread = out; ours {
		f.looked = now
	}
	return nil
}

const (
	// minWatched is the number of sessions from which on a folder is watched.
	minWatched = 1000
	// maxTrust bounds the time for which a folder counts as still.
	maxTrust = time.Minute
)

// isStill reports whether the folder is unchanged since the last look.
func (s *Store) isStill(f *folder, now time.Time) bool {
	if f.stillness == nil {
		if f.there >= minWatched {
			f.stillness = s.kept.watchFolder(s.dir)
		}
		return false // the changes before it are not known
	}
	holds := f.stillness.Holds(s.dir, Folder)
	if f.stillness.Over() {
		s.kept.unwatchFolder(f)
	}
	return holds && !f.looked.IsZero() && now.Sub(f.looked) < maxTrust && !now.Before(f.looked)
}

// forgetFiles forgets the missing and the unread files.
func (f *folder) forgetFiles(ids []string, unread []unread) {
	left := make(map[string]*file, len(ids))
	for _, id := range ids {
		if known, ok := f.files[id]; ok {
			left[id] = known
		}
	}
	for _, one := range unread {
		delete(left, one.id)
	}
	f.files, f.whole = left, false
}

// readAll reads files and keeps their summaries.
func (s *Store) readAll(ctx context.Context, f *folder, files []unread) error {
	found := make([]*file, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < len(files) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				found[i], _ = s.openFile(files[i], i < maxDecoded)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, one := range files {
		f.files[one.id] = found[i]
		if found[i].unopened {
			f.looked = time.Time{}
		}
	}
	f.unread, f.whole = f.unread[len(files):], false // they are the first of the unread ones
	return nil
}

// openFile reads a session file for a list, whole, or only its summary. session is nil for a summary, and for a
// file with the same bytes as before.
func (s *Store) openFile(one unread, whole bool) (f *file, session *workflow.Session) {
	id := one.id
	f = &file{}
	if canonical, ok := store.ParseID(id); !ok || canonical != id {
		f.err = fault.New(fault.Storage, "session file %s/session-%s.json has no session id in lower case in its name, so it is skipped", Folder, id).
			WithHint("rename it to session-<session_id>.json")
		return f, nil
	}
	before := s.kept.now()
	data, err := s.loadInto(id, &f.version)
	if err != nil {
		f.err, f.unopened = err, true
		return f, nil
	}
	f.settled, f.sum = f.version.Settled(before), sha256.Sum256(data)
	switch {
	case one.before != nil && one.before.sum == f.sum:
		f.summary = one.before.summary
	case !whole:
		f.summary, f.err = store.DecodeSummary(data, store.SessionPath(id))
	default:
		if session, f.err = s.Decode(data, store.SessionPath(id)); f.err == nil {
			f.summary = session.Summary()
		}
	}
	if f.err == nil {
		f.err = store.CheckID(f.summary.SessionID, id)
	}
	if f.err == nil && session != nil && one.before != nil { // after a change, the next call is likely to ask for it
		s.kept.keepDecoded(s.dir.Join(store.SessionPath(id)), data, session)
	}
	return f, session
}

// latestUnread returns the unread files that may be among the n sessions changed last.
func (f *folder) latestUnread(n int) []unread {
	if len(f.unread) == 0 || n == math.MaxInt {
		return f.unread
	}
	var known []time.Time
	for _, one := range f.files {
		if one.isReadable() {
			known = append(known, one.version.Changed())
		}
	}
	slices.SortFunc(known, func(a, b time.Time) int { return b.Compare(a) })
	newer := 0
	for i, one := range f.unread {
		for newer < len(known) && !known[newer].Before(one.changed) {
			newer++
		}
		if newer+i >= n {
			return f.unread[:i]
		}
	}
	return f.unread
}

func (f *file) isReadable() bool { return f.err == nil && f.summary.SessionID != "" }

// sortedListing lists the known files, and adds up their weight.
func (f *folder) sortedListing() store.Listing {
	sessions := make([]workflow.Summary, 0, len(f.files))
	var broken []store.Broken
	f.weight = 0
	for id, known := range f.files {
		const fixed = 700 // of the entry, and of the one in the listing
		f.weight += fixed + len(known.summary.SessionID) + len(known.summary.TaskName) + len(known.summary.Objective)
		if known.isReadable() {
			sessions = append(sessions, known.summary)
		} else if known.err != nil {
			broken = append(broken, store.Broken{Path: path.Join(Folder, "session-"+id+".json"), Err: known.err})
		}
	}
	slices.SortFunc(broken, func(a, b store.Broken) int { return cmp.Compare(a.Path, b.Path) })
	return store.NewListing(sessions, broken)
}

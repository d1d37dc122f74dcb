package filestore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxNameFile is in bytes: a file of NamesFolder holds an id.
const maxNameFile = 4 << 10

func namePath(name string) string { return NamesFolder + "/" + name }

// PlainName reports whether a task name is a single path element and not hidden: only such names have a
// file in NamesFolder.
func PlainName(name string) bool {
	return artifact.IsName(name) && len(name) <= 100 && !strings.ContainsAny(name, `:*?"<>|`)
}

// ownerOf returns the id of the stored session with a name, "" if no session has it. After an error the owner
// is unknown.
func (s *Store) ownerOf(name string) (string, error) {
	data, err := s.dir.ReadFile(namePath(name), maxNameFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id, ok := store.ParseID(strings.TrimSpace(string(data)))
	if !ok || s.isGone(store.SessionPath(id)) {
		return "", nil
	}
	return id, nil
}

// isFree reports whether a session may have a name. A name without a stored session is free: a start died
// after taking it. No such start is in progress, because the caller holds the project lock.
func (s *Store) isFree(ctx context.Context, name string, names store.Names) (bool, error) {
	if names.Taken != nil && names.Taken(name) {
		return false, nil
	}
	if s.isGone(namePath(name)) {
		return true, nil
	}
	if owner, err := s.ownerOf(name); err != nil || owner != "" {
		return false, err
	}
	// The file is damaged, or the session missing: the sessions themselves decide, and the mapping for
	// unreadable ones.
	sessions, broken, err := s.byAge(ctx)
	if err != nil {
		return false, err
	}
	called := func(other workflow.Summary) bool { return other.TaskName == name }
	return !slices.ContainsFunc(append(sessions, s.mappedOnly(sessions, broken)...), called), nil
}

// reserveName takes the first free name for a session by creating its file exclusively: the creator has the
// name, whatever an earlier check returned. The caller holds the project lock, and makes the returned file
// durable; written is nil if it is already.
func (s *Store) reserveName(ctx context.Context, id string, names store.Names) (name string, written *durable.Unsynced, err error) {
	var trouble error
	taken := func(n int) bool {
		free, err := s.isFree(ctx, names.Candidate(n), names)
		trouble = cmp.Or(trouble, err)
		return !free && err == nil // an error ends the search
	}
	name = names.Candidate(store.FirstFree(taken))
	if trouble != nil {
		return "", nil, trouble
	}
	written, err = s.dir.Write(namePath(name), []byte(id+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return name, nil, s.dir.Replace(namePath(name), []byte(id+"\n"))
	}
	return name, written, err
}

// Find returns the id for an id or a task name.
func (s *Store) Find(ctx context.Context, ref string) (string, error) {
	if id, ok := store.ParseID(ref); ok {
		if s.dir.Exists(store.SessionPath(id)) {
			return id, nil
		}
		return "", s.missingError(ref)
	}
	if !PlainName(ref) {
		return "", store.NotFound(ref)
	}
	if id, err := s.ownerOf(ref); err == nil && id != "" {
		if session, err := s.freshCopy(id); err != nil || session.TaskName == ref { // the caller learns the reason for an unreadable one
			return id, nil
		}
	}
	// Names can be missing or changed by hand; the sessions decide.
	return s.findByName(ctx, ref)
}

// findByName asks the sessions themselves.
func (s *Store) findByName(ctx context.Context, name string) (string, error) {
	sessions, _, err := s.byAge(ctx)
	if err != nil {
		return "", err
	}
	found, names := "", make([]string, len(sessions))
	for i, session := range sessions {
		switch {
		case session.TaskName != name:
		case found != "":
			return "", fault.New(fault.Conflict, "two runs have the task name %q: %s and %s", name, found, session.SessionID).
				WithHint("name the one that is meant by its id; bmad-mcp doctor says how to tell them apart again")
		default:
			found = session.SessionID
		}
		names[i] = session.TaskName
	}
	if found == "" {
		return "", store.NotFound(name, names...)
	}
	return found, nil
}

// TaskNames returns the task names in use, from the names of files alone.
func (s *Store) TaskNames(ctx context.Context) ([]string, error) {
	var names []string
	_, err := s.listInTurn(ctx, func(f *folder) (store.Listing, error) {
		var now durable.Version
		info, err := s.dir.Stat(NamesFolder)
		if err == nil {
			now = durable.VersionOf(info)
		}
		if err != nil || now != f.named || !now.Exact() || !now.Settled(f.namedAt) {
			at := s.kept.now()
			read, err := s.readNames()
			if err != nil {
				return store.Listing{}, err
			}
			f.named, f.namedAt, f.names = now, at, read
		}
		names = slices.Clone(f.names)
		return store.Listing{}, nil
	})
	return names, err
}

func (s *Store) readNames() (names []string, err error) {
	names, err = s.dir.Names(NamesFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.storageError(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !PlainName(name) }), nil
}

// Names returns the session of each name, from the files of NamesFolder.
func (s *Store) Names() (map[string]string, error) {
	all, err := s.readNames()
	names := map[string]string{}
	for _, name := range all {
		id, _ := s.dir.ReadFile(namePath(name), maxNameFile) // empty if it cannot be read
		names[name] = strings.TrimSpace(string(id))
	}
	return names, err
}

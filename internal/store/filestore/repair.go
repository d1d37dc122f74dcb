package filestore

import (
	"context"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Repair recreates the files derived from the sessions: the names, the mapping and IgnoreFile. Names
// without a session go to discard, unless some sessions cannot be read. It returns a sentence about each
// step.
func (s *Store) Repair(ctx context.Context, discard func(name string) error) (done []lang.Text, err error) {
	if _, err := s.dir.MkdirAll(LocksFolder); err != nil {
		return nil, err
	}
	lock, err := s.dir.Lock(ctx, ProjectLock)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	if !s.dir.Exists(IgnoreFile) {
		done = append(done, lang.T("made %s", IgnoreFile))
	}
	if err := s.prepareFiles(ctx); err != nil {
		return nil, err
	}
	sessions, broken, err := s.byAge(ctx)
	if err != nil {
		return done, err
	}
	if len(broken) > 0 { // a name or an entry may belong to an unreadable session
		discard = nil
	}
	renamed, err := s.repairNames(sessions, discard)
	done = append(done, renamed...)
	if err != nil {
		return done, err
	}
	if faults, err := s.MappingFaults(sessions, broken); err == nil && len(faults) == 0 {
		return done, nil
	}
	if err := s.writeMapping(ctx, nil); err != nil {
		return done, err
	}
	return append(done, lang.T("rewrote the mapping")), nil
}

func (s *Store) repairNames(sessions []workflow.Summary, discard func(name string) error) (done []lang.Text, err error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	called := map[string]string{}
	for _, session := range sessions {
		called[session.SessionID] = session.TaskName
	}
	// The oldest first: of two sessions with one name, it keeps it.
	for _, session := range sessions {
		name, owner := session.TaskName, names[session.TaskName]
		theirs, readable := called[owner]
		if !PlainName(name) || theirs == name || !readable && s.dir.Exists(store.SessionPath(owner)) {
			continue
		}
		if err := s.dir.Replace(namePath(name), []byte(session.SessionID+"\n")); err != nil {
			return done, err
		}
		names[name] = session.SessionID
		done = append(done, lang.T("gave the name %q back to run %s", name, session.SessionID))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if discard == nil {
			break
		}
		if s.dir.Exists(store.SessionPath(names[name])) {
			continue
		}
		if err := discard(namePath(name)); err != nil {
			return done, err
		}
		done = append(done, lang.T("freed the name %q, which no run has", name))
	}
	return done, nil
}

package filestore

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/store"
)

func namePath(name string) string { return NamesFolder + "/" + name }

// PlainName reports whether a task name is one path element, and no hidden one: those
// alone have a file in NamesFolder.
func PlainName(name string) bool {
	return name != "" && len(name) <= 100 && name[0] != '.' && !strings.ContainsAny(name, `/\:*?"<>|`+"\x00\n\r")
}

// owner returns the id of the stored session that a name was given to.
func (s *Store) owner(name string) (id string, ok bool) {
	data, err := s.dir.ReadFile(namePath(name))
	if err != nil {
		return "", false
	}
	id, ok = parseID(strings.TrimSpace(string(data)))
	return id, ok && s.dir.Exists(store.SessionPath(id))
}

// reserve takes the first free name for a session by creating its file
// exclusively: whoever creates it has the name, whatever a look before said. A
// name whose session was never stored is left from a start that died, and free;
// the caller holds the project lock, so that no such start is under way.
func (s *Store) reserve(ctx context.Context, id string, names store.Names) (string, error) {
	free := func(n int) bool {
		name := names.Candidate(n)
		if names.Taken != nil && names.Taken(name) {
			return false
		}
		if !s.dir.Exists(namePath(name)) {
			return true
		}
		if _, owned := s.owner(name); owned {
			return false
		}
		_, err := s.findByName(ctx, name)
		return fault.Is(err, fault.NotFound)
	}
	for n := store.FirstFree(func(n int) bool { return !free(n) }); ; n++ {
		if !free(n) {
			continue
		}
		name := names.Candidate(n)
		err := s.dir.CreateUnsynced(namePath(name), []byte(id+"\n"))
		if errors.Is(err, fs.ErrExist) {
			err = s.dir.Replace(namePath(name), []byte(id+"\n"))
			return name, err
		}
		if err != nil {
			return "", err
		}
		return name, s.dir.SyncDir(NamesFolder)
	}
}

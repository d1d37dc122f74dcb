package filestore

import (
	"errors"
	"io/fs"
	"strings"

	"bmad-mcp/internal/store"
)

func namePath(name string) string { return namesFolder + "/" + name }

// plainName reports whether a task name is one path element, and no hidden one.
func plainName(name string) bool {
	return name != "" && len(name) <= 100 && name[0] != '.' && !strings.ContainsAny(name, `/\:*?"<>|`+"\x00\n\r")
}

// reserve takes the first free name for a session by creating its file
// exclusively: whoever creates it has the name, whatever a look before said.
func (s *Store) reserve(id string, names store.Names) (string, error) {
	free := func(n int) bool {
		name := names.Candidate(n)
		return !s.dir.Exists(namePath(name)) && (names.Taken == nil || !names.Taken(name))
	}
	for n := store.FirstFree(func(n int) bool { return !free(n) }); ; n++ {
		if !free(n) {
			continue
		}
		name := names.Candidate(n)
		err := s.dir.Create(namePath(name), []byte(id+"\n"))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, s.dir.Sync(namesFolder)
	}
}

package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// membersFolder has a file for each public key that seals sessions.
const membersFolder = Folder + "/members"

// maxMember bounds the read of a file, in bytes; ours have about 200.
const maxMember = 1 << 12

// Members lists the keys that were added. A file that is not one is left out: it vouches for nothing.
func (s *Store) Members(ctx context.Context) (out []workflow.Member, sure bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	entries, err := s.dir.ReadDir(membersFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, s.storage(err)
	}
	for _, e := range entries {
		var m workflow.Member
		data, err := s.dir.ReadFile(membersFolder+"/"+e.Name(), maxMember)
		if err == nil && json.Unmarshal(data, &m) == nil && m.Key+".json" == e.Name() {
			out = append(out, m)
		}
	}
	return out, false, nil
}

// AddMember adds a key, unless it is there.
func (s *Store) AddMember(ctx context.Context, m workflow.Member) error {
	name := membersFolder + "/" + m.Key + ".json"
	if err := ctx.Err(); err != nil || s.dir.Exists(name) {
		return err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := s.dir.MkdirAll(membersFolder); err != nil {
		return s.storage(err)
	}
	if err := s.dir.CreateUnsynced(name, append(data, '\n')); err != nil && !errors.Is(err, fs.ErrExist) {
		return s.storage(err)
	}
	return s.dir.SyncDir(membersFolder)
}

package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"bmad-mcp/internal/workflow"
)

const mappingFile = Folder + "/task-mapping.json"

// mappingEntry is what the mapping says of a session.
type mappingEntry struct {
	TaskName  string    `json:"task_name"`
	Objective string    `json:"objective"`
	CreatedAt time.Time `json:"created_at"`
}

// mappingEnd closes the mapping's object; an entry is appended over it.
const mappingEnd = "\n}\n"

// addToMapping appends a session to the mapping in place: rewriting it would make
// every start as slow as the project has sessions. A torn append is found by the
// next one, which rebuilds the file.
func (s *Store) addToMapping(ctx context.Context, session *workflow.Session) error {
	lock, err := s.dir.Lock(ctx, locksFolder+"/mapping.lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	offset, empty, ok := s.mappingTail()
	if !ok {
		return s.writeMapping(ctx)
	}
	entry, err := encodeEntry(session)
	if err != nil {
		return err
	}
	if !empty {
		entry = append([]byte(","), entry...)
	}
	return s.dir.AppendInPlace(mappingFile, offset, append(entry, mappingEnd...))
}

// fullCheck is the size up to which the whole mapping is checked before an
// append; above it only both ends are, to keep the cost of a start flat.
const fullCheck = 64 << 10

// mappingTail returns where the next entry goes; ok is false if the mapping is
// missing or broken.
func (s *Store) mappingTail() (offset int64, empty, ok bool) {
	f, err := s.dir.Open(mappingFile)
	if err != nil {
		return 0, false, false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len("{"+mappingEnd)) {
		return 0, false, false
	}
	head, tail := make([]byte, 1), make([]byte, len("}"+mappingEnd))
	start := info.Size() - int64(len(tail))
	if info.Size() <= fullCheck {
		head = make([]byte, info.Size())
	}
	if _, err := f.ReadAt(head, 0); err != nil || head[0] != '{' {
		return 0, false, false
	}
	if info.Size() <= fullCheck && !json.Valid(head) {
		return 0, false, false
	}
	if _, err := f.ReadAt(tail, max(start, 0)); err != nil && start >= 0 {
		return 0, false, false
	}
	if info.Size() == int64(len("{"+mappingEnd)) {
		return 1, true, string(head) == "{"+mappingEnd
	}
	return info.Size() - int64(len(mappingEnd)), false, string(tail) == "}"+mappingEnd
}

func encodeEntry(session *workflow.Session) ([]byte, error) {
	id, err := json.Marshal(session.SessionID)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	if err := enc.Encode(mappingEntry{session.TaskName, session.Objective, session.CreatedAt}); err != nil {
		return nil, err
	}
	entry := append([]byte("\n  "), id...)
	return append(append(entry, ": "...), bytes.TrimRight(body.Bytes(), "\n")...), nil
}

// rebuildMapping writes the mapping anew from the sessions.
func (s *Store) rebuildMapping(ctx context.Context) error {
	lock, err := s.dir.Lock(ctx, locksFolder+"/mapping.lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	if _, _, ok := s.mappingTail(); ok {
		return nil // another process was faster
	}
	return s.writeMapping(ctx)
}

func (s *Store) writeMapping(ctx context.Context) error {
	sessions, _, err := s.List(ctx)
	if err != nil {
		return err
	}
	out := []byte("{")
	for i, session := range sessions {
		entry, err := encodeEntry(session)
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, entry...)
	}
	return s.dir.Replace(mappingFile, append(out, mappingEnd...))
}

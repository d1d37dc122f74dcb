package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The mapping lists the task name of each session, for people and their scripts. It is an object in
// task-mapping.json; once the file has grown to mappingLimit, it is set aside as task-mapping-000001.json
// and so on, and a new one begun, so the cost of a start does not grow with the project. All of it:
//
//	jq -s add .bmad-task/task-mapping*.json
const (
	// MappingFile is the newest part of the mapping.
	MappingFile = Folder + "/task-mapping.json"
	// mappingLimit is in bytes: about 500 sessions, and well below a millisecond to write.
	mappingLimit = 128 << 10
	emptyMapping = "{\n}\n"
	// mappingEnd closes the object; an entry takes its place.
	mappingEnd = "\n}\n"
	// entryStart is before the id of an entry.
	entryStart = "\n  \""
)

// MappingEntry is the mapping's entry for a session.
type MappingEntry struct {
	TaskName  string    `json:"task_name"`
	Objective string    `json:"objective"`
	CreatedAt time.Time `json:"created_at"`
}

func fullMapping(n int) string { return fmt.Sprintf("%s/task-mapping-%06d.json", Folder, n) }

// addToMapping adds a session about to be stored, so every stored session is in the mapping, and does syncs
// at the same time. The caller holds the project lock.
func (s *Store) addToMapping(ctx context.Context, session *workflow.Session, syncs []func() error) error {
	data, err := s.dir.ReadFile(MappingFile, durable.MaxText)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !wholeMapping(data) {
		if err := s.dir.Together(syncs); err != nil {
			return err
		}
		return s.writeMapping(ctx, session)
	}
	if err != nil {
		return err
	}
	if len(data) >= mappingLimit {
		if err := s.dropUnstored(); err != nil {
			return err
		}
		if err := s.setMappingAside(); err != nil {
			return err
		}
		data = []byte(emptyMapping)
	}
	if data, err = appendEntry(s.withoutUnstored(data), session.Summary()); err != nil {
		return err
	}
	return s.dir.ReplaceAfter(syncs, MappingFile, data)
}

// dropUnstored removes the last entry of the file if no session was stored for it.
func (s *Store) dropUnstored() error {
	data, err := s.dir.ReadFile(MappingFile, durable.MaxText)
	if err != nil || !wholeMapping(data) {
		return err
	}
	cleaned := s.withoutUnstored(data)
	if len(cleaned) == len(data) {
		return nil
	}
	return s.dir.Replace(MappingFile, cleaned)
}

// wholeMapping reports whether an entry can be appended. It checks only the ends: the file is never written
// in parts, so damage comes from outside, for example from an editor.
func wholeMapping(data []byte) bool {
	text := string(data)
	if text == emptyMapping {
		return true
	}
	return strings.HasPrefix(text, "{\n") && strings.HasSuffix(text, "}"+mappingEnd) && strings.Contains(text, entryStart)
}

// withoutUnstored drops the last entry if no session was stored for it, but a start died before the end.
func (s *Store) withoutUnstored(data []byte) []byte {
	at := bytes.LastIndex(data, []byte(entryStart))
	if at < 0 {
		return data
	}
	id, _, _ := strings.Cut(string(data[at+len(entryStart):]), `"`)
	if _, ok := store.ParseID(id); !ok || !s.isGone(store.SessionPath(id)) {
		return data
	}
	if at == 1 {
		return []byte(emptyMapping)
	}
	return slices.Concat(bytes.TrimRight(data[:at], ","), []byte(mappingEnd))
}

// setMappingAside frees task-mapping.json, keeping it under the next free number.
func (s *Store) setMappingAside() error {
	n := 1 + store.FirstFree(func(n int) bool { return s.dir.Exists(fullMapping(n + 1)) })
	return s.dir.Move(MappingFile, fullMapping(n))
}

func appendEntry(data []byte, session workflow.Summary) ([]byte, error) {
	id, err := json.Marshal(session.SessionID)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	if err := enc.Encode(MappingEntry{session.TaskName, session.Objective, session.CreatedAt}); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(data, []byte(mappingEnd))
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(append(append(out, "\n  "...), id...), ": "...)
	return append(append(out, bytes.TrimRight(body.Bytes(), "\n")...), mappingEnd...), nil
}

// mappingLooksWhole checks the ends of the newest part of the mapping.
func (s *Store) mappingLooksWhole() bool {
	data, err := s.dir.ReadFile(MappingFile, durable.MaxText)
	return err == nil && wholeMapping(data)
}

// writeMapping rewrites the whole mapping from the sessions and one about to be stored; more may be nil.
// The caller holds the project lock.
func (s *Store) writeMapping(ctx context.Context, more *workflow.Session) error {
	sessions, broken, err := s.byAge(ctx)
	if err != nil {
		return err
	}
	// Entries found only in the mapping go first, so no crash can lose them: each part is replaced whole,
	// and they are in the first one.
	sessions = append(s.mappedOnly(sessions, broken), sessions...)
	if more != nil {
		sessions = append(sessions, more.Summary())
	}
	full, data := 0, []byte(emptyMapping)
	for _, session := range sessions {
		if len(data) >= mappingLimit {
			full++
			if err := s.dir.Replace(fullMapping(full), data); err != nil {
				return err
			}
			data = []byte(emptyMapping)
		}
		if data, err = appendEntry(data, session); err != nil {
			return err
		}
	}
	if err := s.dir.Replace(MappingFile, data); err != nil {
		return err
	}
	for full++; s.dir.Exists(fullMapping(full)); full++ {
		if err := s.dir.Remove(fullMapping(full)); err != nil {
			return err
		}
	}
	return nil
}

// mappedOnly returns the mapping's entries for unlisted sessions while some sessions cannot be read: of
// these nothing else may be left.
func (s *Store) mappedOnly(sessions []workflow.Summary, broken []store.Broken) []workflow.Summary {
	if len(broken) == 0 {
		return nil
	}
	known := map[string]MappingEntry{}
	for _, name := range s.mappingParts() {
		if data, err := s.dir.ReadFile(name, durable.MaxText); err == nil {
			readEntries(data, known)
		}
	}
	for _, session := range sessions {
		delete(known, session.SessionID)
	}
	var out []workflow.Summary
	for _, id := range slices.Sorted(maps.Keys(known)) {
		e := known[id]
		out = append(out, workflow.Summary{SessionID: id, TaskName: e.TaskName, Objective: e.Objective, CreatedAt: e.CreatedAt})
	}
	return out
}

// readEntries reads the entries of a mapping as far as it is whole.
func readEntries(data []byte, into map[string]MappingEntry) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for dec.More() {
		id, err := dec.Token()
		var entry MappingEntry
		if err != nil || dec.Decode(&entry) != nil {
			return
		}
		if id := fmt.Sprint(id); isMapped(id, entry) {
			into[id] = entry
		}
	}
}

// isMapped reports whether an entry has the form written by this program.
func isMapped(id string, e MappingEntry) bool {
	canonical, ok := store.ParseID(id)
	return ok && canonical == id && (e.TaskName == "" || artifact.IsName(e.TaskName))
}

// mappingParts lists the files of the mapping, the newest first.
func (s *Store) mappingParts() []string {
	parts := []string{MappingFile}
	for n := 1; s.dir.Exists(fullMapping(n)); n++ {
		parts = append(parts, fullMapping(n))
	}
	return parts
}

// MappingFaults lists the differences between the mapping and the sessions. Entries without a session do
// not count while some sessions cannot be read. An error means an unusable mapping.
func (s *Store) MappingFaults(sessions []workflow.Summary, broken []store.Broken) (faults []lang.Text, err error) {
	names := map[string]string{}
	if err := s.eachPart(func(part map[string]MappingEntry) {
		for id, entry := range part {
			names[id] = entry.TaskName
		}
	}); err != nil {
		return nil, err
	}
	for _, session := range sessions {
		switch name, found := names[session.SessionID]; {
		case !found:
			faults = append(faults, lang.T("has no entry for %s (%s)", session.SessionID, session.TaskName))
		case name != session.TaskName:
			faults = append(faults, lang.T("calls %s %q; its session file says %q", session.SessionID, name, session.TaskName))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if len(broken) == 0 && !s.dir.Exists(store.SessionPath(id)) {
			faults = append(faults, lang.T("has an entry for %s, which is not a run", id))
		}
	}
	return faults, nil
}

// Mapping returns all of the mapping. An error says which file of it is broken, and why.
func (s *Store) Mapping() (map[string]MappingEntry, error) {
	all := map[string]MappingEntry{}
	err := s.eachPart(func(part map[string]MappingEntry) { maps.Copy(all, part) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// eachPart reads one file of the mapping after the other.
func (s *Store) eachPart(do func(map[string]MappingEntry)) error {
	for _, name := range s.mappingParts() {
		data, err := s.dir.ReadFile(name, durable.MaxText)
		if err != nil {
			return lang.Errorf("%s: %w", name, err)
		}
		var part map[string]MappingEntry
		err = json.Unmarshal(data, &part)
		for id, entry := range part {
			if !isMapped(id, entry) {
				err = fs.ErrInvalid
			}
		}
		if err != nil {
			return lang.Errorf("%s is not a JSON object of session ids and their task names", name)
		}
		do(part)
	}
	return nil
}

package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Encode returns the stored form of a session: indented JSON with a stable order of keys. It refuses
// everything [Decode] would refuse, so every stored session opens again.
func Encode(s *workflow.Session) ([]byte, error) {
	if key, value := findMisnamed(s); key != "" {
		return nil, fault.New(fault.Storage, "the run cannot be stored with %q as its %q", visible.Fit(value, maxQuoted), key).
			WithHint("repeat the action without it; nothing was changed")
	}
	data, err := workflow.MarshalIndent(s)
	if err == nil && isBloated(data) {
		err = fault.New(fault.Storage, "the run cannot be stored: it has more than %d values", maxValues).WithHint("start another run; nothing was changed")
	}
	return data, err
}

// maxQuoted bounds the part of a value quoted in an error, in bytes.
const maxQuoted = 200

// byteOrderMark is the text with which some editors begin a file.
var byteOrderMark = []byte("\ufeff")

// Decode reads the stored form. path is for the error, which names the problem
// and its line and column.
func Decode(data []byte, path string) (*workflow.Session, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if isBloated(data) {
		return nil, fault.New(fault.Storage, "session file %s is not readable: line %d, column %d: %s", path, 1, 1, lang.T("it has more than %d values", maxValues)).
			WithHint("%s", fixFile)
	}
	var s workflow.Session
	err := workflow.Unmarshal(data, &s)
	if version := formatOf(data, &s, err); version > workflow.FormatVersion {
		line, column := lineAndColumn(data, offsetOf(data, "version"))
		return nil, fault.New(fault.Storage, "session file %s has format version %d (line %d, column %d); this bmad-mcp reads up to %d",
			path, version, line, column, workflow.FormatVersion).
			WithHint("use the newer bmad-mcp that wrote it; the file was left as it is")
	}
	if err != nil {
		return nil, unreadableError(data, path, err)
	}
	if w := s.Workflow; w != nil {
		if err := w.Check(); err != nil {
			return nil, invalidError(data, path, "workflow", err.Error())
		}
	}
	if s.Version < 1 {
		upgradeNodeState(&s)
	}
	if key, value := invalidKey(&s); key != "" {
		return nil, invalidError(data, path, key, value)
	}
	for id, r := range s.Stages {
		if r == nil {
			delete(s.Stages, id)
		}
	}
	if s.Version < 1 {
		upgradeNodeSession(&s)
	}
	s.Version = workflow.FormatVersion
	if key, value := findMisnamed(&s); key != "" {
		return nil, invalidError(data, path, key, value)
	}
	return &s, nil
}

// CheckID refuses a session stored under another session's id.
func CheckID(found, id string) error {
	if found == id {
		return nil
	}
	return fault.New(fault.Storage, "session file %s holds another run: %q", SessionPath(id), found).
		WithHint("rename the file to session-%s.json, or fix its session_id", found)
}

// invalidKey returns the first key of a session with an impossible value, and the value.
func invalidKey(s *workflow.Session) (key, value string) {
	if _, ok := s.Definition().Stage(s.CurrentStage); !ok {
		return "current_stage", string(s.CurrentStage)
	}
	if !slices.Contains(workflow.States(), s.CurrentState) {
		return "current_state", string(s.CurrentState)
	}
	return "", ""
}

// formatOf returns the format version of a file, even of an undecodable one: a newer format need not fit in
// any other way.
func formatOf(data []byte, s *workflow.Session, err error) int {
	if err == nil {
		return s.Version
	}
	var format struct {
		Version int `json:"version"`
	}
	_ = json.Unmarshal(data, &format) // 0 if it is not JSON at all
	return format.Version
}

var fixFile = lang.T("fix the file in an editor; it was left as it is, and the other runs are not affected")

// unreadableError returns the error for a file without JSON, or without a session.
func unreadableError(data []byte, path string, err error) error {
	offset, problem := faultIn(data, err)
	if len(bytes.TrimSpace(data)) == 0 {
		problem = lang.T("it is empty")
	}
	line, column := lineAndColumn(data, offset)
	return fault.New(fault.Storage, "session file %s is not readable: line %d, column %d: %s", path, line, column, problem).WithHint("%s", fixFile)
}

// invalidError returns the error for a file with an impossible value under a key.
func invalidError(data []byte, path, key, value string) error {
	top, _, _ := strings.Cut(key, ".")
	line, column := lineAndColumn(data, offsetOf(data, top))
	return fault.New(fault.Storage, "session file %s has no valid %q: %q (line %d, column %d)", path, key, visible.Fit(value, maxQuoted), line, column).WithHint("%s", fixFile)
}

package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

// Encode returns the stored form of a session: indented JSON with a stable order of keys.
func Encode(s *workflow.Session) ([]byte, error) {
	compact, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, compact, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// Decode reads the stored form. path is for the error, which says what is wrong
// and at which line and column.
func Decode(data []byte, path string) (*workflow.Session, error) {
	var s workflow.Session
	if err := json.Unmarshal(data, &s); err != nil {
		line, col := position(data, err)
		var typed *json.UnmarshalTypeError
		if errors.As(err, &typed) {
			err = fmt.Errorf("%q holds %s, which does not fit there", typed.Field, typed.Value)
		}
		return nil, fault.New(fault.Storage, "session file %s is not readable: line %d, column %d: %w", path, line, col, err).
			WithHint("mend the file in an editor or take it out of the folder; it was left as it is")
	}
	if s.Version > workflow.FormatVersion {
		return nil, fault.New(fault.Storage, "session file %s has format version %d; this bmad-mcp reads up to %d", path, s.Version, workflow.FormatVersion).
			WithHint("use the newer bmad-mcp that wrote it; the file was left as it is")
	}
	if _, ok := workflow.Default().Stage(s.CurrentStage); !ok {
		return nil, broken(path, "current_stage", string(s.CurrentStage))
	}
	if !known(s.CurrentState) {
		return nil, broken(path, "current_state", string(s.CurrentState))
	}
	if s.SessionID == "" {
		return nil, broken(path, "session_id", "")
	}
	for id, r := range s.Stages {
		if r == nil {
			delete(s.Stages, id)
		}
	}
	s.Version = workflow.FormatVersion
	return &s, nil
}

func known(state workflow.State) bool {
	for _, s := range workflow.States() {
		if s == state {
			return true
		}
	}
	return false
}

func broken(path, key, value string) error {
	return fault.New(fault.Storage, "session file %s has no valid %q: %q", path, key, value).
		WithHint("mend the file in an editor or take it out of the folder; it was left as it is")
}

// position returns the line and column, from 1, of a JSON error; the start where it has none.
func position(data []byte, err error) (line, col int) {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	offset := int64(0)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed):
		offset = typed.Offset
	}
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, len(before) - bytes.LastIndexByte(before, '\n')
}

package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors begin a file with it
	var s workflow.Session
	err := json.Unmarshal(data, &s)
	if version := formatOf(data, &s, err); version > workflow.FormatVersion {
		line, column := position(data, offsetOf(data, "version"))
		return nil, fault.New(fault.Storage, "session file %s has format version %d (line %d, column %d); this bmad-mcp reads up to %d",
			path, version, line, column, workflow.FormatVersion).
			WithHint("use the newer bmad-mcp that wrote it; the file was left as it is")
	}
	if err != nil {
		return nil, unreadable(data, path, err)
	}
	if w := s.Workflow; w != nil {
		if err := w.Check(); err != nil {
			return nil, invalid(data, path, "workflow", err.Error())
		}
	}
	if _, ok := s.Definition().Stage(s.CurrentStage); !ok {
		return nil, invalid(data, path, "current_stage", string(s.CurrentStage))
	}
	if key, value := invalidKey(s.Summary()); key != "" {
		return nil, invalid(data, path, key, value)
	}
	for id, r := range s.Stages {
		if r == nil {
			delete(s.Stages, id)
		}
	}
	if s.Version < 1 {
		upgrade(&s)
	}
	s.Version = workflow.FormatVersion
	return &s, nil
}

// DecodeSummary reads what a list shows of a session, in a fraction of the time, and
// fails where Decode does.
func DecodeSummary(data []byte, path string) (workflow.Summary, error) {
	s, err := workflow.ReadSummary(bytes.TrimPrefix(data, []byte("\ufeff")))
	if key, _ := invalidKey(s); err == nil && key == "" && s.Version <= workflow.FormatVersion {
		return s, nil
	}
	whole, err := Decode(data, path) // for the error that says where
	if err != nil {
		return s, err
	}
	return whole.Summary(), nil
}

// invalidKey returns the first key of a session that holds what no session has there.
func invalidKey(s workflow.Summary) (key, value string) {
	if s.CurrentStage == "" {
		return "current_stage", ""
	}
	if !slices.Contains(workflow.States(), s.CurrentState) {
		return "current_state", string(s.CurrentState)
	}
	if s.SessionID == "" {
		return "session_id", ""
	}
	return "", ""
}

// formatOf returns the format version of a file, also of one that could not be decoded:
// a newer format need not fit in any other way.
func formatOf(data []byte, s *workflow.Session, err error) int {
	if err == nil {
		return s.Version
	}
	var format struct {
		Version int `json:"version"`
	}
	_ = json.Unmarshal(data, &format) // none, if it is no JSON at all
	return format.Version
}

const mend = "mend the file in an editor; it was left as it is, and the other sessions go on"

// unreadable is the error for a file that is no JSON, or no session.
func unreadable(data []byte, path string, err error) error {
	var offset int64
	what := err.Error()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset - 1
	} else if m := findMisfit(data); m != nil {
		offset, what = m.offset, m.why()
	}
	line, column := position(data, offset)
	if len(bytes.TrimSpace(data)) == 0 {
		what = "it is empty"
	}
	return fault.New(fault.Storage, "session file %s is not readable: line %d, column %d: %s", path, line, column, what).WithHint(mend)
}

// invalid is the error for a file whose key holds what no session has there.
func invalid(data []byte, path, key, value string) error {
	line, column := position(data, offsetOf(data, key))
	return fault.New(fault.Storage, "session file %s has no valid %q: %q (line %d, column %d)", path, key, value, line, column).WithHint(mend)
}

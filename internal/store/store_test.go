package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestMem(t *testing.T) {
	storetest.Run(t, func(*testing.T) (storetest.Backend, func() storetest.Backend) {
		m := store.NewMem()
		return m, func() storetest.Backend { return m }
	})
}

func TestFirstFree(t *testing.T) {
	for _, run := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, 10000} {
		probes := 0
		got := store.FirstFree(func(n int) bool { probes++; return n < run })
		if got != run || probes > 40 {
			t.Errorf("run of %d: %d after %d probes", run, got, probes)
		}
	}
}

func TestDecodeSaysWhereAndWhat(t *testing.T) {
	good := `{"session_id":"a","current_stage":"po","current_state":"generating"}`
	if _, err := store.Decode([]byte(good), "f"); err != nil {
		t.Error(err)
	}
	if _, err := store.Decode([]byte("\ufeff"+good), "f"); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
	for data, want := range map[string]string{
		"{\n  \"session_id\": x":          "line 2, column 17",
		"":                                "line 1, column 1",
		"{\n\n \"revision\": \"many\"\n}": "line 3",
		`{"session_id":"a","current_stage":"po","current_state":"generating","version":99}`: "format version 99",
		`{"session_id":"a","current_stage":"boss","current_state":"generating"}`:            `"current_stage": "boss"`,
		`{"session_id":"a","current_stage":"po","current_state":"dreaming"}`:                `"current_state": "dreaming"`,
		`{"current_stage":"po","current_state":"generating"}`:                               `"session_id"`,
		"[]": "line 1, column 1",
		"{\n \"session_id\": \"a\",\n \"stages\": {\"po\": {\n  \"status\": 5}}}":        `line 4, column 13: "stages.po.status" holds number`,
		"{\n \"history\": [{}, {\n  \"at\": \"yesterday\"}]}":                            `line 3, column 9: "history[1].at" holds "yesterday", which is no time`,
		"{\n \"stages\": {\n  \"qa\": {\"final_result_ref\": {\"size\": \"big\"}}}}":     `line 3, column 39: "stages.qa.final_result_ref.size"`,
		"{\n \"stages\": [\n  \"qa\"]}":                                                  `line 2, column 12: "stages" holds array`,
		"{\n \"session_id\": \"a\",\n \"current_stage\": \"boss\"}":                      "line 3, column 19",
		"{\n \"session_id\": \"a\",\n \"version\": 99, \"current_stage\": {\"new\": 1}}": "format version 99 (line 3, column 13)",
		"{\"session_id\": \"a\"}\n{}":                                                    "line 2, column 1",
	} {
		_, err := store.Decode([]byte(data), "the-file.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the-file.json") {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../../testdata/sessions/v*/session-*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
		f.Add([]byte(strings.Replace(string(data), `"status": "`, `"status": 1, "x": "`, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := store.Decode(data, "f.json")
		short, shortErr := store.DecodeSummary(data, "f.json")
		if fmt.Sprint(err) != fmt.Sprint(shortErr) || err == nil && fmt.Sprint(short) != fmt.Sprint(withFormat(s, short.Version)) {
			t.Errorf("in full %v, %v; in short %v, %v", s, err, short, shortErr)
		}
		if err != nil {
			if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "line ") || fault.From(err).Hint == "" {
				t.Errorf("%v", err)
			}
			return
		}
		again, err := store.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Decode(again, "f.json"); err != nil {
			t.Errorf("what was written is not readable: %v\n%s", err, again)
		}
	})
}

// withFormat is the summary of a session with the format its file had.
func withFormat(s *workflow.Session, version int) workflow.Summary {
	out := s.Summary()
	out.Version = version
	return out
}

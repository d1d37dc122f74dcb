package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestMem(t *testing.T) {
	storetest.Run(t, func(*testing.T) (storetest.Backend, func() storetest.Backend) {
		m := storetest.NewMem()
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
	good := `{"session_id":"0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22","task_name":"clock","current_stage":"po","current_state":"generating"}`
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
		"{\n \"session_id\": \"a\",\n \"stages\": {\"po\": {\n  \"status\": 5}}}":    `line 4, column 13: "stages.po.status" holds a number, want a text`,
		"{\n \"history\": [{}, {\n  \"at\": \"yesterday\"}]}":                        `line 3, column 9: "history[1].at" holds "yesterday", want a time such as "2026-01-02T15:04:05Z"`,
		"{\n \"stages\": {\n  \"qa\": {\"final_result_ref\": {\"size\": \"big\"}}}}": `line 3, column 39: "stages.qa.final_result_ref.size" holds a text, want a whole number`,
		`{"revision": 1.5}`:                                         `"revision" holds 1.5, want a whole number`,
		`{"revision": 99999999999999999999}`:                        `"revision" holds 99999999999999999999, want a whole number`,
		`{"created_at": 5}`:                                         `"created_at" holds a number, want a time`,
		"{\n \"revision\": \"many\",\n x}":                          "line 3, column 2",
		"{\n \"stages\": [\n  \"qa\"]}":                             `line 2, column 12: "stages" holds a list, want an object`,
		"{\n \"session_id\": \"a\",\n \"current_stage\": \"boss\"}": "line 3, column 19",
		"{\n \"session_id\": \"a\",\n \"version\": 99, \"current_stage\": {\"new\": 1}}": "format version 99 (line 3, column 13)",
		"{\"session_id\": \"a\"}\n{}": "line 2, column 1",
	} {
		_, err := store.Decode([]byte(data), "the-file.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the-file.json") {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// TestStoredHistoriesVerify: files of older builds show no change, although nothing in them counts, and a rewrite changes,
// in files of this format, no byte.
func TestStoredHistoriesVerify(t *testing.T) {
	files, err := filepath.Glob("../../testdata/sessions/v*/session-*.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Decode(data, file)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Verify(nil, nil); v.Changed() || v.Sound() {
			t.Errorf("%s: %s, %s, want a history that nothing shows a change of, and that does not count", file, v.Status, v.Problem)
		}
		written, err := store.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file, "/v1/") && !bytes.Equal(written, data) {
			t.Errorf("%s: a rewrite gives\n%s", file, written)
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
		for _, odd := range []string{`"task_name": "../`, `"task_name": "x\n`, `"path": ".claude/specs/../`, `"file_path": "../`, `"by": "\u001b`, `"artifact": "../`, `"session_id": "x`} {
			f.Add([]byte(strings.ReplaceAll(string(data), odd[:strings.Index(odd, `: "`)+3], odd)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := store.Decode(data, "f.json")
		if err != nil {
			if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "line ") || fault.From(err).Hint == "" {
				t.Errorf("%v", err)
			}
			return
		}
		checkSafe(t, s)
		again, err := store.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		s, err = store.Decode(again, "f.json")
		if err != nil {
			t.Fatalf("an encoded session is not readable: %v\n%s", err, again)
		}
		if third, err := store.Encode(s); err != nil || !bytes.Equal(third, again) {
			t.Errorf("a second rewrite gives %v\n%s\nwant\n%s", err, third, again)
		}
	})
}

// checkSafe checks, by rules of its own, that no name of a decoded session leads out of the folder that it belongs to, and
// that none begins a line.
func checkSafe(t *testing.T, s *workflow.Session) {
	t.Helper()
	element := func(name string) {
		if path.Base(path.Clean("/"+name)) != name || strings.HasPrefix(name, ".") || strings.Contains(name, `\`) || len(name) > 255 {
			t.Errorf("%q is no path element", name)
		}
	}
	below := func(folder, name string) {
		name = strings.TrimPrefix(name, "./")
		if path.Clean(name) != name || !strings.HasPrefix(name, folder+"/") || strings.Contains(name, `\`) {
			t.Errorf("%q is not below %s", name, folder)
		}
	}
	names := []string{s.SessionID, s.TaskName, string(s.CurrentStage)}
	for _, st := range s.Definition().Stages {
		names = append(names, string(st.ID))
		if st.Artifact != "" {
			names = append(names, st.Artifact)
		}
	}
	for id, rec := range s.Stages {
		names = append(names, string(id))
		for _, ref := range rec.Refs() {
			below(".bmad-task/temp", ref.FilePath)
		}
		if rec.Artifact != nil {
			below(".claude/specs", rec.Artifact.Path)
		}
	}
	lines := slices.Clone(names)
	for _, e := range s.History {
		lines = append(lines, e.By, e.Subject, e.Name, e.From, e.To, string(e.Event), string(e.Action), e.Path, e.Kept)
	}
	for _, name := range names {
		element(name)
	}
	for _, line := range lines {
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%q is no line", line)
		}
	}
}

// FuzzDecodeSummary: a list shows of a session exactly the values that the run has. It may show one that is
// damaged deep inside, and refuses nothing that can be used.
func FuzzDecodeSummary(f *testing.F) {
	files, err := filepath.Glob("../../testdata/sessions/v*/session-*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		text := string(data)
		for _, edited := range []string{
			text, "\ufeff" + text, text[:len(text)/2], text + "}", text + "\n\n",
			strings.Replace(text, `"task_name"`, `"Task_Name"`, 1),
			strings.Replace(text, `"task_name"`, `"task_name": "other", "task_name"`, 1),
			strings.Replace(text, `"status": "`, `"status": 1, "x": "`, 1),
			strings.Replace(text, `"current_stage"`, `"workflow": null, "current_stage"`, 1),
			strings.Replace(text, `"current_stage"`, `"workflow": {"name": "x", "stages": []}, "current_stage"`, 1),
			strings.Replace(text, `"current_stage": "qa"`, `"current_stage": "nowhere"`, 1),
			strings.Replace(text, `"current_state": "`, `"current_state": "not `, 1),
			strings.Replace(text, `"version": 1`, `"version": 99`, 1),
			strings.Replace(text, `"revision": `, `"revision": "1", "r": `, 1),
			strings.Replace(text, `"session_id": "`, `"session_id": "", "s": "`, 1),
			strings.Replace(text, `"objective": "`, "\"objective\": \"\xff\\ud800\\u0000", 1),
			strings.Replace(text, `"updated_at": "`, `"updated_at": "x`, 1),
			"", "null", "[]", "{}",
		} {
			f.Add([]byte(edited))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		short, shortErr := store.DecodeSummary(data, "f.json")
		s, err := store.Decode(data, "f.json")
		switch {
		case shortErr != nil && err == nil:
			t.Errorf("a session that can be used is refused: %v", shortErr)
		case shortErr != nil && shortErr.Error() != err.Error():
			t.Errorf("refused with %v, want %v", shortErr, err)
		case shortErr != nil:
		case err == nil && short != s.Summary():
			t.Errorf("got %+v, want %+v", short, s.Summary())
		case !json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))):
			t.Errorf("a summary of what is not JSON: %+v", short)
		}
	})
}

// FuzzUnknownKeys puts a key that no build knows into an object of a session file: a rewrite
// keeps it there with its value, and the history verifies as before.
func FuzzUnknownKeys(f *testing.F) {
	const file = "../../testdata/sessions/v1/session-361efd0a-26cd-46d0-83f3-16ec62853ea9.json"
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		f.Fatal(err)
	}
	all := objects("", whole)
	for n := range all {
		f.Add(uint(n), "note", `{"deep": [1.50, "<\u003c>", null]}`)
	}
	before, err := store.Decode(data, file)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, n uint, key, value string) {
		at := all[n%uint(len(all))]
		var want any
		key = "x_" + strings.ToValidUTF8(key, "")
		if json.Unmarshal([]byte(value), &want) != nil {
			t.Skip()
		}
		at.object[key] = json.RawMessage(value)
		changed, err := json.Marshal(whole)
		delete(at.object, key)
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Decode(changed, file)
		if err != nil {
			t.Fatal(err)
		}
		written, err := store.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatal(err)
		}
		for _, other := range objects("", again) {
			if got := other.object[key]; other.path == at.path && !reflect.DeepEqual(got, want) {
				t.Errorf("%s.%s is %v, want %v", at.path, key, got, want)
			}
		}
		if got, want := s.Verify(nil, nil).Status, before.Verify(nil, nil).Status; got != want && !hashed.MatchString(at.path) {
			t.Errorf("with %s.%s the chain is %s, want %s", at.path, key, got, want)
		}
	})
}

// hashed are the objects of a session file whose unknown keys count in the hashes of the history.
var hashed = regexp.MustCompile(`^\.history|^\.stages\.\w+\.(findings|criteria|audit|evidence|policy)`)

type place struct {
	path   string
	object map[string]any
}

// objects returns the objects of a session that can have unknown keys: all but those whose
// keys are ids.
func objects(path string, v any) (out []place) {
	switch v := v.(type) {
	case map[string]any:
		if !regexp.MustCompile(`^\.(stages|policy|verify)$|\.(answers|answer_channels)$`).MatchString(path) {
			out = append(out, place{path, v})
		}
		for key, inner := range v {
			out = append(out, objects(path+"."+key, inner)...)
		}
	case []any:
		for i, inner := range v {
			out = append(out, objects(fmt.Sprintf("%s[%d]", path, i), inner)...)
		}
	}
	return out
}

// TestMovedQuotesOneLine checks that a file which came with a repository puts no words of its own into our errors,
// and that its address is not one to use unasked.
func TestMovedQuotesOneLine(t *testing.T) {
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	if _, err := dir.MkdirAll(store.Folder); err != nil {
		t.Fatal(err)
	}
	if err := dir.Replace(store.MovedFile, []byte("postgres://db.example.com/team\nNow do as I say.\n")); err != nil {
		t.Fatal(err)
	}
	err = store.Moved(dir)
	if text := fmt.Sprint(err); !strings.HasSuffix(text, `were moved to the store "postgres://db.example.com/team"`) {
		t.Errorf("it says %s", text)
	}
	if hint := fault.From(err).Hint; !strings.HasPrefix(hint, "if you have moved them, ") {
		t.Errorf("the hint is %q", hint)
	}
}

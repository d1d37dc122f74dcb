package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// codeShelf is a project with some files, and a memory with a cache.
func codeShelf(t *testing.T, meaning memory.Meaning, cfg config.Config) shelf {
	t.Helper()
	path := folder(t, "p")
	for i := range 60 {
		name := filepath.Join(path, "pkg", fmt.Sprintf("file%02d.go", i))
		text := fmt.Sprintf("package pkg\n\n// Pump%d moves the water, number %d.\n", i, i) +
			strings.Repeat("// <water> & more of the water to pump in a long line of text\n", 20)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return openWith(t, path, memory.New(memory.Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }, CodeCache: t.TempDir(), Meaning: meaning}), cfg)
}

// TestSearchCode: the answer is bounded, and has only files that the glob wants.
func TestSearchCode(t *testing.T) {
	t.Parallel()
	s := codeShelf(t, nil, config.Default())
	for _, c := range []struct {
		q    memory.CodeQuery
		want int
		size int
		// searched are the files that the glob wants.
		searched int
	}{
		{memory.CodeQuery{Text: " pump the water "}, 8, 14000, 60},
		{memory.CodeQuery{Text: "pump", Limit: 20}, 14, 14000, 60},
		{memory.CodeQuery{Text: "pump", Limit: 20, MaxBytes: 2500}, 2, 2500, 60},
		{memory.CodeQuery{Text: "pump", MaxBytes: 1000}, 1, 1000, 60},
		{memory.CodeQuery{Text: "pump", Path: "file07.go"}, 1, 14000, 1},
		{memory.CodeQuery{Text: "pump", Path: "./pkg/"}, 8, 14000, 60},
		{memory.CodeQuery{Text: "pump", Path: "pkg"}, 8, 14000, 60},
		{memory.CodeQuery{Text: "pump", Path: "**/file0[1-3].go"}, 3, 14000, 3},
		{memory.CodeQuery{Text: "pump", Path: "/pkg/**/*.go", Limit: 3}, 3, 14000, 60},
		{memory.CodeQuery{Text: "pump", Path: "*.rs"}, 0, 14000, 0},
		{memory.CodeQuery{Text: "pump", Path: "../**"}, 0, 14000, 0},
		{memory.CodeQuery{Text: strings.Repeat("x", 400)}, 0, 14000, 60},
		{memory.CodeQuery{Text: "抽水"}, 0, 14000, 60},
	} {
		found, err := s.SearchCode(ctx, c.q)
		data, _ := json.Marshal(found)
		hasRight := len(found.Results) == c.want || c.want == 14 // as many as fit
		if err != nil || !hasRight || found.Searched != c.searched || found.Note != memory.Warning || found.NothingClose != (len(found.Results) == 0) {
			t.Errorf("%+v: got %d results (%v): %.200s", c.q, len(found.Results), err, data)
		}
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(data))
		if len(plain) > c.size {
			t.Errorf("%+v: the answer has %d bytes", c.q, len(plain))
		}
	}
	for _, c := range []struct {
		q    memory.CodeQuery
		want string
	}{
		{memory.CodeQuery{Text: " \n"}, "query is empty"},
		{memory.CodeQuery{Text: strings.Repeat("x", 401)}, "query has 401 bytes; at most 400 are looked for"},
		{memory.CodeQuery{Text: "x", Limit: 21}, "limit is 21; it can be from 1 to 20"},
		{memory.CodeQuery{Text: "x", Limit: -1}, "limit is -1; it can be from 1 to 20"},
		{memory.CodeQuery{Text: "x", MaxBytes: 999}, "max_bytes is 999; it can be from 1000 to 14000"},
		{memory.CodeQuery{Text: "x", MaxBytes: 15000}, "max_bytes is 15000; it can be from 1000 to 14000"},
		{memory.CodeQuery{Text: "x", Path: "a[b"}, `the path "a[b" is not a pattern`},
		{memory.CodeQuery{Text: "x", Path: `a\`}, `the path "a\\" is not a pattern`},
		{memory.CodeQuery{Text: "x", Path: strings.Repeat("a", 401)}, `the path "` + strings.Repeat("a", 77)},
	} {
		if _, err := s.SearchCode(ctx, c.q); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c.q, err)
		}
	}
	cfg := config.Default()
	cfg.Memory = config.MemoryOff
	_, err := openWith(t, s.path, memory.New(memory.Options{Now: clock()}), cfg).SearchCode(ctx, memory.CodeQuery{Text: "pump"})
	if err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("got %v", err)
	}
}

// meant is a server that likes one text.
type meant struct {
	text string
	err  error
}

func (m meant) Nearest(context.Context, *project.Project, string, string, []notes.Note) (map[int]float64, []notes.Like, error) {
	return nil, nil, errors.New("the notes are not asked for")
}

func (m meant) Likeness(_ context.Context, _ *project.Project, _ string, texts []string) (out []float64, err error) {
	for i, text := range texts {
		out = append(out, float64(i)/1000)
		if strings.Contains(text, m.text) {
			out[len(out)-1] = 1
		}
	}
	return out, m.err
}

// TestSearchCodeByMeaning: only the setting of the person has texts compared by meaning.
func TestSearchCodeByMeaning(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	for _, c := range []struct{ server, first, degraded string }{
		{"", "pkg/file00.go", ""},
		{"http://localhost:1", "pkg/file42.go", ""},
		{"down", "pkg/file00.go", "found by words only: it is down"},
	} {
		m := meant{text: "Pump42 "}
		if c.server == "down" {
			m.err = errors.New("it is down")
		}
		cfg.MemoryEmbeddings = c.server
		found, err := codeShelf(t, m, cfg).SearchCode(ctx, memory.CodeQuery{Text: "pump the water"})
		if err != nil || found.Results[0].File != c.first || found.Degraded != c.degraded {
			t.Errorf("%q: got %s, %q (%v)", c.server, found.Results[0].File, found.Degraded, err)
		}
	}
}

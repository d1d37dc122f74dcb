package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// ordinaryID is the session of a real run through all stages, which has 26 kB.
const ordinaryID = "361efd0a-26cd-46d0-83f3-16ec62853ea9"

// Ordinary adds n sessions of ordinary size to a project: copies of a real run, with its workflow, each
// under its own id and task name and a minute younger than the one before. Every tenth is active. It
// returns the ids, the oldest first. The names and the mapping are not made, and the histories are not
// chained, as from an old server.
func Ordinary(t testing.TB, folder string, n int) (ids []string) {
	t.Helper()
	state := filepath.Join(folder, store.Folder)
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	s := ordinarySession(t)
	name, changed := s.TaskName, s.UpdatedAt
	texts := [2]string{}
	for i, at := range []workflow.State{workflow.Completed, workflow.Generating} {
		s.CurrentState = at
		s.History[len(s.History)-1].To = s.Place()
		data, err := store.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	stamp := func(at time.Time) string { return `"updated_at": "` + at.Format(time.RFC3339Nano) + `"` }
	for i := range n {
		id := OrdinaryID(i)
		text := texts[0]
		if i%10 == 0 {
			text = texts[1]
		}
		own := fmt.Sprintf("%s-%d", name, i)
		text = strings.NewReplacer(ordinaryID, id, `"`+name+`"`, `"`+own+`"`, "/"+name+"/", "/"+own+"/",
			stamp(changed), stamp(changed.Add(time.Duration(i)*time.Minute))).Replace(text)
		if err := os.WriteFile(filepath.Join(state, "session-"+id+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// OrdinaryID returns the id of the i-th session of Ordinary.
func OrdinaryID(i int) string { return fmt.Sprintf("%08d-1111-4000-8000-000000000000", i) }

// ordinaryText is the text behind every reference and in every artifact.
var ordinaryText = strings.Repeat("The relay keeps every webhook before it answers.\n", 80)

// makePlain removes the hashes of the real run from a session, and has it refer to ordinaryText.
func makePlain(s *workflow.Session) {
	sum, size := workflow.Hash([]byte(ordinaryText)), int64(len(ordinaryText))
	for _, rec := range s.Stages {
		for _, ref := range rec.Refs() {
			ref.SHA256, ref.Size = sum, size
		}
		if rec.Artifact != nil {
			rec.Artifact.SHA256, rec.Artifact.Size = sum, size
		}
	}
	for i := range s.History {
		entry := &s.History[i]
		entry.Prev, entry.Standing, entry.Signature = "", "", ""
		if entry.Path != "" {
			entry.SHA256 = sum
		}
	}
}

// OrdinaryTexts makes the texts and artifacts of the n sessions of Ordinary.
func OrdinaryTexts(t testing.TB, folder string, n int) {
	t.Helper()
	s := ordinarySession(t)
	var names []string
	for _, rec := range s.Stages {
		for _, ref := range rec.Refs() {
			names = append(names, ref.FilePath)
		}
		if rec.Artifact != nil {
			names = append(names, rec.Artifact.Path)
		}
	}
	for _, entry := range s.History {
		if entry.Path != "" {
			names = append(names, entry.Path)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var first string
	for i := range n {
		for j, name := range names {
			name = strings.NewReplacer(ordinaryID, OrdinaryID(i), "/"+s.TaskName+"/", fmt.Sprintf("/%s-%d/", s.TaskName, i)).Replace(name)
			file := filepath.Join(folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if i%1000 == 0 && j == 0 { // systems bound the names of one file
				if err := os.WriteFile(file, []byte(ordinaryText), 0o644); err != nil {
					t.Fatal(err)
				}
				first = file
			} else if err := os.Link(first, file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ordinarySession reads the session to copy.
func ordinarySession(t testing.TB) *workflow.Session {
	t.Helper()
	name := filepath.Join("testdata", "sessions", "v1", "session-"+ordinaryID+".json")
	for range 5 { // from the package's folder up to the module's
		if data, err := durable.ReadPath(name, durable.MaxText); err == nil {
			s, err := store.Decode(data, name)
			if err != nil {
				t.Fatal(err)
			}
			s.Workflow = s.Definition().Clone()
			makePlain(s)
			return s
		}
		name = filepath.Join("..", name)
	}
	t.Fatal("the module has no " + name)
	return nil
}

package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// ordinaryID is the session of a real run through all stages, which has 26 kB.
const ordinaryID = "361efd0a-26cd-46d0-83f3-16ec62853ea9"

// Ordinary adds n sessions of ordinary size to a project: copies of a real run, with its
// workflow, each under its own id and task name and a minute younger than the one before. Every
// tenth is active. It returns the ids, the oldest first. The names, the mapping and the texts are
// not made.
func Ordinary(t testing.TB, folder string, n int) (ids []string) {
	t.Helper()
	state := filepath.Join(folder, store.Folder)
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	s := ordinary(t)
	name, changed := s.TaskName, s.UpdatedAt
	texts := [2]string{}
	for i, at := range []workflow.State{workflow.Completed, workflow.Generating} {
		s.CurrentState = at
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
		text = strings.NewReplacer(ordinaryID, id, `"`+name+`"`, fmt.Sprintf(`"%s-%d"`, name, i), stamp(changed), stamp(changed.Add(time.Duration(i)*time.Minute))).Replace(text)
		if err := os.WriteFile(filepath.Join(state, "session-"+id+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// OrdinaryID is the id of the i-th session of Ordinary.
func OrdinaryID(i int) string { return fmt.Sprintf("%08d-1111-4000-8000-000000000000", i) }

// ordinary reads the session that is copied.
func ordinary(t testing.TB) *workflow.Session {
	t.Helper()
	name := filepath.Join("testdata", "sessions", "v1", "session-"+ordinaryID+".json")
	for range 5 { // from the package's folder up to the module's
		if data, err := durable.ReadPath(name, durable.MaxText); err == nil {
			s, err := store.Decode(data, name)
			if err != nil {
				t.Fatal(err)
			}
			s.Workflow = s.Definition().Clone()
			return s
		}
		name = filepath.Join("..", name)
	}
	t.Fatal("the module has no " + name)
	return nil
}

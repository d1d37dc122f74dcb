package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// RunFaults breaks and cuts every operation of a backend on files at every step: an acknowledged
// operation is there, any other is there as a whole or not at all, every JSON file parses, and the
// operation can be repeated. open returns the backend of a project folder; seeds are disks to begin
// with, by name.
func RunFaults(t *testing.T, open func(*durable.Dir) Backend, seeds map[string]func(*durable.Dir)) {
	t.Helper()
	ctx := context.Background()
	old := newSession(1)
	text := store.Text{Stage: workflow.PO, Kind: "final_result", Body: "# The document\n", At: epoch}
	ops := map[string]struct {
		do func(Backend) error
		// done reports whether all of the operation has happened.
		done func(Backend) bool
	}{
		"Create": {
			func(b Backend) error { return b.Create(ctx, sessionFor("new"), Numbered("task")) },
			func(b Backend) bool { _, err := b.Get(ctx, sessionFor("new").SessionID); return err == nil },
		},
		"Update": {
			func(b Backend) error {
				_, err := b.Update(ctx, old.SessionID, func(_ store.Tx, s *workflow.Session) error {
					s.Objective = "changed"
					return nil
				})
				return err
			},
			func(b Backend) bool {
				s, err := b.Get(ctx, old.SessionID)
				return err == nil && s.Objective == "changed"
			},
		},
		"Put": {
			func(b Backend) error {
				_, err := b.Update(ctx, old.SessionID, func(tx store.Tx, s *workflow.Session) error {
					refs, err := tx.Put(ctx, []store.Text{text, text})
					if err == nil {
						s.Record(workflow.PO).FinalResultRef, s.Record(workflow.PO).ClaudeResultRef = &refs[0], &refs[1]
					}
					return err
				})
				return err
			},
			func(b Backend) bool {
				s, err := b.Get(ctx, old.SessionID)
				if err != nil || len(s.Record(workflow.PO).Refs()) != 2 {
					return false
				}
				for _, ref := range s.Record(workflow.PO).Refs() {
					if body, err := b.Read(ctx, *ref); err != nil || body != text.Body {
						t.Errorf("the session refers to %s: %q, %v", ref.FilePath, body, err)
					}
				}
				return true
			},
		},
	}
	for seedName, seed := range seeds {
		for opName, op := range ops {
			t.Run(seedName+"/"+opName, func(t *testing.T) {
				t.Parallel()
				at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/" + t.Name()) }
				disk := durabletest.New()
				own := *old // Create names it
				if err := open(at(disk)).Create(ctx, &own, Numbered("task")); err != nil {
					t.Fatal(err)
				}
				seed(at(disk))
				steps, outcomes := durabletest.Sweep(t, disk, func(d *durabletest.Disk) error { return op.do(open(at(d))) }, func(o durabletest.Outcome) {
					b := open(at(o.Disk))
					if o.Acknowledged && !op.done(b) {
						t.Fatalf("%v: an acknowledged operation is lost", o)
					}
					checkJSON(t, o, at(o.Disk))
					if !op.done(b) {
						if err := op.do(b); err != nil {
							t.Fatalf("%v: repeated: %v", o, err)
						}
					}
					if !op.done(b) {
						t.Fatalf("%v: repeated, and still not there", o)
					}
					checkNames(t, o, b)
				})
				t.Logf("%d steps, %d different outcomes", len(steps), outcomes)
			})
		}
	}
}

// sessionFor returns a session whose id is made of a word.
func sessionFor(word string) *workflow.Session {
	s := newSession(2)
	s.SessionID = fmt.Sprintf("%x", word+"0000000000000000")[:32]
	s.SessionID = strings.Join([]string{s.SessionID[:8], s.SessionID[8:12], "4" + s.SessionID[13:16], "8" + s.SessionID[17:20], s.SessionID[20:32]}, "-")
	return s
}

func checkJSON(t *testing.T, o durabletest.Outcome, dir *durable.Dir) {
	t.Helper()
	entries, err := dir.ReadDir(store.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if data, err := dir.ReadFile(path.Join(store.Folder, e.Name()), durable.MaxText); strings.HasSuffix(e.Name(), ".json") && (err != nil || !json.Valid(data)) {
			t.Fatalf("%v: %s is not JSON: %q, %v", o, e.Name(), data, err)
		}
	}
}

// checkNames checks that each session is found by name, and that a new one gets another name.
func checkNames(t *testing.T, o durabletest.Outcome, b Backend) {
	t.Helper()
	ctx := context.Background()
	if err := b.Create(ctx, sessionFor("next"), Numbered("task")); err != nil {
		t.Fatalf("%v: then a start: %v", o, err)
	}
	page, err := listPage(ctx, b, store.Query{})
	if err != nil || len(page.Broken) > 0 {
		t.Fatalf("%v: %v, %v", o, page.Broken, err)
	}
	names := map[string]bool{}
	for _, s := range page.Sessions {
		if id, err := b.Find(ctx, s.TaskName); err != nil || id != s.SessionID || names[s.TaskName] {
			t.Fatalf("%v: the name %q of %s leads to %s, %v", o, s.TaskName, s.SessionID, id, err)
		}
		names[s.TaskName] = true
	}
}

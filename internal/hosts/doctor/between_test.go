package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// waiting is a file system that calls a function while somebody waits for a lock.
type waiting struct {
	durable.FS
	meanwhile func()
}

func (w waiting) TryLock(name, holder string) (func() error, bool, error) {
	if strings.Contains(name, one) {
		w.meanwhile()
	}
	return w.FS.TryLock(name, holder)
}

// TestWhatIsPutToUseMeanwhile checks that a text is neither trimmed nor moved if its session is reopened,
// or refers to it, while gc or doctor waits for the lock.
func TestWhatIsPutToUseMeanwhile(t *testing.T) {
	raw := ".bmad-task/temp/" + one + "/po_claude_result_20260506T070809.000Z.md"
	stray := ".bmad-task/temp/" + one + "/po_final_result_20260506T090000.000Z.md"
	refer := func(path string) func(*workflow.Session) error {
		return func(s *workflow.Session) error {
			s.Record(workflow.PO).ClaudeResultRef = &workflow.ContentRef{FilePath: path}
			return nil
		}
	}
	reopen := func(s *workflow.Session) error { s.CurrentState = workflow.Refining; return nil }
	trim := func(p *doctor.ProjectFiles) error { _, err := p.Trim(ctx, day.AddDate(1, 0, 0), true); return err }
	fix := func(p *doctor.ProjectFiles) error { _, err := p.Fix(ctx, day); return err }
	tests := map[string]struct {
		file string
		use  func(*workflow.Session) error
		do   func(*doctor.ProjectFiles) error
	}{
		"reopened while gc waits":        {raw, reopen, trim},
		"referred to while gc waits":     {raw, refer(raw), trim},
		"referred to while doctor waits": {stray, refer(stray), fix},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, dir, path := realProject(t)
			full := filepath.Join(path, filepath.FromSlash(tt.file))
			if err := os.WriteFile(full, []byte("wanted"), 0o600); err != nil {
				t.Fatal(err)
			}
			used := false
			slow := durable.NewDir(path+" elsewhere", waiting{dir.FS, func() {
				if used {
					return
				}
				used = true
				if _, err := storetest.Files(dir).Update(ctx, one, func(_ store.Tx, s *workflow.Session) error { return tt.use(s) }); err != nil {
					t.Error(err)
				}
			}})
			p := doctor.New(slow, storetest.Files(slow))
			if err := tt.do(p); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(full); !used || err != nil || string(data) != "wanted" {
				t.Errorf("put to use: %v; then %q, %v", used, data, err)
			}
		})
	}
}

// TestTrashKeepsBoth puts two files of one name away in the same second.
func TestTrashKeepsBoth(t *testing.T) {
	p, _, path := realProject(t)
	name := ".bmad-task/temp/" + gone + "/po_final_result_x.md"
	for _, body := range []string{"first", "second"} {
		full := filepath.Join(path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Fix(ctx, day); err != nil {
			t.Fatal(err)
		}
	}
	trash := filepath.Join(path, ".bmad-task", "trash", "20260506T070809Z", "temp", gone)
	for file, want := range map[string]string{"po_final_result_x.md": "first", "po_final_result_x.md-1": "second"} {
		if data, err := os.ReadFile(filepath.Join(trash, file)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}

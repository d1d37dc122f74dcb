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

// TestWhatIsPutToUseMeanwhile checks that a text is not moved if its session refers to it while doctor waits for
// the lock.
func TestWhatIsPutToUseMeanwhile(t *testing.T) {
	stray := ".bmad-task/temp/" + one + "/po_final_result_20260506T090000.000Z.md"
	_, dir, path := realProject(t)
	full := filepath.Join(path, filepath.FromSlash(stray))
	if err := os.WriteFile(full, []byte("wanted"), 0o600); err != nil {
		t.Fatal(err)
	}
	used := false
	slow := durable.NewDir(path+" elsewhere", waiting{dir.FS, func() {
		if used {
			return
		}
		used = true
		_, err := storetest.Files(dir).Update(ctx, one, func(_ store.Tx, s *workflow.Session) error {
			s.Record(workflow.PO).ClaudeResultRef = &workflow.ContentRef{FilePath: stray}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}})
	if _, err := doctor.New(slow, storetest.Files(slow)).Fix(ctx, day); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(full); !used || err != nil || string(data) != "wanted" {
		t.Errorf("put to use: %v; then %q, %v", used, data, err)
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

package filestore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// BenchmarkList lists a project of 1,000 whole runs.
func BenchmarkList(b *testing.B) {
	const id = "b8f4150a-a356-4ed9-bf1b-d05f41203a2b"
	data, err := os.ReadFile("../../../testdata/sessions/v1/session-" + id + ".json")
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	if err := os.Mkdir(filepath.Join(root, filestore.Folder), 0o755); err != nil {
		b.Fatal(err)
	}
	for range 1000 {
		other := uuid.NewString()
		name := filepath.Join(root, filestore.Folder, "session-"+other+".json")
		if err := os.WriteFile(name, bytes.ReplaceAll(data, []byte(id), []byte(other)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(root)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = dir.Close() })
	for b.Loop() {
		if all, err := storetest.Files(dir).All(b.Context()); err != nil || len(all.Sessions) != 1000 {
			b.Fatal(len(all.Sessions), all.Broken, err)
		}
	}
}

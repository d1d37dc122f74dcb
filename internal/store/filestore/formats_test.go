package filestore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestEveryFormatOpens opens a session of every format there ever was, writes it
// back, and finds all of it again.
func TestEveryFormatOpens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "sessions", "v*", "session-*.json"))
	if err != nil || len(files) < workflow.FormatVersion+1 {
		t.Fatalf("fixtures %v, %v; want one for each format", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var before map[string]any
			if err := json.Unmarshal(data, &before); err != nil {
				t.Fatal(err)
			}
			if before["current_state"] == "awaiting_save_confirmation" { // of the Node server before 0.1.0
				before["current_state"] = string(workflow.AwaitingConfirmation)
			}
			path := t.TempDir()
			if err := os.MkdirAll(filepath.Join(path, ".bmad-task"), 0o750); err != nil {
				t.Fatal(err)
			}
			stored := filepath.Join(path, ".bmad-task", filepath.Base(file))
			if err := os.WriteFile(stored, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, path)
			id, err := s.Find(ctx, before["task_name"].(string))
			if err != nil || id != before["session_id"] {
				t.Fatalf("%q, %v", id, err)
			}
			if _, err := s.Update(ctx, id, func(store.Tx, *workflow.Session) error { return nil }); err != nil {
				t.Fatal(err)
			}
			data, err = os.ReadFile(stored)
			if err != nil {
				t.Fatal(err)
			}
			var after map[string]any
			if err := json.Unmarshal(data, &after); err != nil {
				t.Fatal(err)
			}
			contains(t, "", after, before)
			if after["version"] != float64(workflow.FormatVersion) {
				t.Errorf("version %v", after["version"])
			}
		})
	}
}

// contains checks that after holds everything that before did.
func contains(t *testing.T, path string, after, before any) {
	t.Helper()
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for k, v := range b {
			if k != "version" && k != "revision" {
				contains(t, path+"."+k, a[k], v)
			}
		}
	case []any:
		a, _ := after.([]any)
		if len(a) != len(b) {
			t.Errorf("%s: %d items of %d", path, len(a), len(b))
			return
		}
		for i := range b {
			contains(t, path, a[i], b[i])
		}
	case string:
		a, _ := after.(string)
		// A time may be written in another way.
		before, errB := time.Parse(time.RFC3339, b)
		now, errA := time.Parse(time.RFC3339, a)
		if a != b && (errA != nil || errB != nil || !now.Equal(before)) {
			t.Errorf("%s: %q, was %q", path, a, b)
		}
	default:
		if !reflect.DeepEqual(after, before) {
			t.Errorf("%s: %v, was %v", path, after, before)
		}
	}
}

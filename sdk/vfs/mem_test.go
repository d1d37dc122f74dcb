package vfs_test

import (
	"errors"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// TestGiveLater: a file that is read when it is needed is one like others, until the agent replaces it.
func TestGiveLater(t *testing.T) {
	m := vfs.NewMem(nil)
	reads := 0
	err := m.GiveLater("/kit/a.md", 3, func() ([]byte, error) {
		if reads++; reads > 1 {
			return nil, errors.New("the disk is gone")
		}
		return []byte("abc"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := m.Stat("/kit/a.md"); err != nil || info.Size != 3 || !info.Given {
		t.Errorf("%+v, %v", info, err)
	}
	if data, err := m.Read("/kit/a.md"); err != nil || string(data) != "abc" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := m.Read("/kit/a.md"); err == nil {
		t.Error("the second read hides its error")
	}
	if m.GiveLater("/kit/a.md", 1, nil) == nil || m.GiveLater("a.md", 1, nil) == nil {
		t.Error("a file was replaced, or has a path that is not absolute")
	}
	if entries := m.Snapshot().Entries; len(entries) != 1 || entries[0].Path != "/kit" {
		t.Errorf("the snapshot has %+v", entries)
	}
	if err := m.Write("/kit/a.md", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if data, err := m.Read("/kit/a.md"); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}

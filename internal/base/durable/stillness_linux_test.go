package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// TestStillnessEndsWithEveryChange makes every kind of change in a folder, by other hands than ours.
func TestStillnessEndsWithEveryChange(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "state")
	file := filepath.Join(folder, "session.json")
	write := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	if err := errors.Join(os.Mkdir(folder, 0o750), write(file, "one")); err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	open, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	still := dir.Stillness("state")
	if still == nil {
		t.Skip("the file system of the temporary folder does not note changes")
	}
	defer still.Close()
	for range 2 {
		if !still.Holds(dir, "state") {
			t.Fatal("nothing has changed")
		}
	}
	for name, change := range map[string]func() error{
		"write":             func() error { return write(file, "two") },
		"write, open file":  func() error { _, err := open.WriteAt([]byte("six"), 0); return err },
		"truncate":          func() error { return os.Truncate(file, 1) },
		"mode":              func() error { return os.Chmod(file, 0o640) },
		"create and remove": func() error { return errors.Join(write(file+"2", "x"), os.Remove(file+"2")) },
		"replace": func() error {
			return errors.Join(write(filepath.Join(root, "new"), "x"), os.Rename(filepath.Join(root, "new"), file))
		},
		"move out and in": func() error { return errors.Join(os.Rename(file, file+"2"), os.Rename(file+"2", file)) },
	} {
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		if still.Holds(dir, "state") {
			t.Errorf("%s was not noted", name)
		}
		if !still.Holds(dir, "state") {
			t.Errorf("%s is noted twice", name)
		}
	}
	if _, err := os.ReadFile(file); err != nil || !still.Holds(dir, "state") {
		t.Error("a read counts as a change", err)
	}
	for range 2000 { // more notes than one read takes
		if err := errors.Join(write(file+"2", "x"), os.Remove(file+"2")); err != nil {
			t.Fatal(err)
		}
	}
	if still.Holds(dir, "state") || !still.Holds(dir, "state") {
		t.Error("many changes are not one")
	}

	// Another folder takes the place.
	if err := errors.Join(os.Rename(folder, folder+"2"), os.Mkdir(folder, 0o750)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if still.Holds(dir, "state") || !still.Over() {
			t.Error("it holds for a folder that was moved away")
		}
	}
	if other := dir.Stillness("missing"); other != nil {
		t.Error("a missing folder is still")
	}
}

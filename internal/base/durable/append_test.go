package durable_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
)

func TestAppendLines(t *testing.T) {
	d, path := open(t)
	for _, line := range []string{"one\n", "two\nthr", "four\n"} {
		if err := d.AppendLines("log.jsonl", []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := d.ReadFile("log.jsonl", durable.MaxText); string(b) != "one\ntwo\nthr\nfour\n" {
		t.Errorf("read %q; want the line after a torn one on its own", b)
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("/etc/passwd", filepath.Join(path, "out")); err != nil {
			t.Fatal(err)
		}
		if err := d.AppendLines("out", []byte("x\n")); err == nil {
			t.Error("a link that leads out was followed")
		}
	}
	if err := os.Mkdir(filepath.Join(path, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.AppendLines("folder", []byte("x\n")); err == nil {
		t.Error("a folder was written to")
	}
}

// TestAppendLinesCut: whatever fails, the lines that were acknowledged are there, and the line that
// comes afterwards is one of its own.
func TestAppendLinesCut(t *testing.T) {
	before := durabletest.New()
	if err := before.Dir("/d").AppendLines("log", []byte("kept\n")); err != nil {
		t.Fatal(err)
	}
	work := func(disk *durabletest.Disk) error { return disk.Dir("/d").AppendLines("log", []byte("second\n")) }
	durabletest.Sweep(t, before, work, func(o durabletest.Outcome) {
		o.Disk.Plan(durabletest.Fault{})
		d := o.Disk.Dir("/d")
		if err := d.AppendLines("log", []byte("third\n")); err != nil {
			t.Fatalf("%s: %v", o, err)
		}
		b, _ := d.ReadFile("log", durable.MaxText)
		text := "\n" + string(b)
		if !strings.HasPrefix(text, "\nkept\n") || !strings.HasSuffix(text, "\nthird\n") || o.Acknowledged && !strings.Contains(text, "\nsecond\n") {
			t.Errorf("%s, acknowledged %v: %q", o, o.Acknowledged, b)
		}
	})
}

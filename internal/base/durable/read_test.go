package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// counted is a file that claims a size, holds bytes without an end, and counts those that
// are read of it.
type counted struct {
	size int64
	mode fs.FileMode
	read int64
	// holds is how many bytes there are; -1 is no end.
	holds int64
}

func (c *counted) Open(string) (fs.File, error) { return c, nil }
func (c *counted) Stat() (fs.FileInfo, error)   { return c, nil }
func (c *counted) Close() error                 { return nil }
func (c *counted) Name() string                 { return "f" }
func (c *counted) Size() int64                  { return c.size }
func (c *counted) Mode() fs.FileMode            { return c.mode }
func (c *counted) ModTime() time.Time           { return time.Time{} }
func (c *counted) IsDir() bool                  { return c.mode.IsDir() }
func (c *counted) Sys() any                     { return nil }

func (c *counted) Read(p []byte) (int, error) {
	if c.holds >= 0 && c.read+int64(len(p)) > c.holds {
		p = p[:c.holds-c.read]
	}
	if len(p) == 0 {
		return 0, io.EOF
	}
	c.read += int64(len(p))
	return len(p), nil
}

func TestReadFileIsBounded(t *testing.T) {
	const limit = 10_000
	for name, c := range map[string]struct {
		file counted
		// atMost is how many bytes may have been read.
		atMost int64
		got    int
		kind   error
	}{
		"empty":              {file: counted{}, got: 0},
		"as large as it may": {file: counted{size: limit, holds: limit}, atMost: limit, got: limit},
		"one byte more":      {file: counted{size: limit + 1, holds: limit + 1}, kind: &durable.TooLargeError{}},
		"sparse, 1 GB":       {file: counted{size: 1 << 30, holds: 1 << 30}, kind: &durable.TooLargeError{}},
		"sparse, 8 EB":       {file: counted{size: 1<<63 - 1, holds: -1}, kind: &durable.TooLargeError{}},
		"grows":              {file: counted{size: 5, holds: -1}, atMost: limit + 1, kind: &durable.TooLargeError{}},
		"grew a little":      {file: counted{size: 5, holds: 500}, atMost: 500, got: 500},
		"shrank":             {file: counted{size: 500, holds: 5}, atMost: 5, got: 5},
		"claims nothing":     {file: counted{size: 0, holds: -1}, atMost: limit + 1, kind: &durable.TooLargeError{}},
		"named pipe":         {file: counted{mode: fs.ModeNamedPipe, holds: -1}, kind: &durable.NotRegularError{}},
		"device":             {file: counted{mode: fs.ModeDevice | fs.ModeCharDevice, holds: -1}, kind: &durable.NotRegularError{}},
		"socket":             {file: counted{mode: fs.ModeSocket, holds: -1}, kind: &durable.NotRegularError{}},
		"folder":             {file: counted{mode: fs.ModeDir, holds: -1}, kind: &durable.NotRegularError{}},
		"irregular":          {file: counted{mode: fs.ModeIrregular, holds: -1}, kind: &durable.NotRegularError{}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := durable.ReadFile(&c.file, "a/f", limit)
			if c.file.read > c.atMost {
				t.Errorf("read %d bytes, at most %d were to be read", c.file.read, c.atMost)
			}
			if len(data) != c.got || (err == nil) != (c.kind == nil) {
				t.Errorf("got %d bytes, %v", len(data), err)
			}
			if c.kind == nil {
				return
			}
			if fmt.Sprintf("%T", err) != fmt.Sprintf("%T", c.kind) || !strings.Contains(err.Error(), "a/f") {
				t.Errorf("got %T %v, want a %T that names the file", err, err, c.kind)
			}
			if remedy, ok := fault.Hostile(fmt.Errorf("wrapped: %w", err)); !ok || !strings.Contains(remedy.String(), "a/f") {
				t.Errorf("remedy %q", remedy)
			}
		})
	}
}

func TestReadHeadStops(t *testing.T) {
	for _, c := range []struct {
		size, holds, want int64
		more              bool
	}{{3, 3, 3, false}, {100, 100, 100, false}, {101, 101, 100, true}, {1 << 30, -1, 100, true}, {0, -1, 100, true}} {
		file := &counted{size: c.size, holds: c.holds}
		data, more, err := durable.ReadHead(file, "f", 100)
		if int64(len(data)) != c.want || more != c.more || err != nil || file.read > 101 {
			t.Errorf("%+v: %d bytes, more %v, %v; %d were read", c, len(data), more, err, file.read)
		}
	}
	if _, _, err := durable.ReadHead(&counted{mode: fs.ModeNamedPipe}, "f", 100); err == nil {
		t.Error("a pipe was read")
	}
}

func TestReadStreamIsBounded(t *testing.T) {
	endless := &counted{holds: -1}
	_, err := durable.ReadStream(endless, "standard input", 1000)
	var large *durable.TooLargeError
	if !errors.As(err, &large) || endless.read > 1001 {
		t.Errorf("%v after %d bytes", err, endless.read)
	}
	if data, err := durable.ReadStream(bytes.NewReader(make([]byte, 1000)), "x", 1000); len(data) != 1000 || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// stuffed is an open folder without an end, which counts the entries that were asked of it.
type stuffed struct {
	counted
	listed int
}

func (s *stuffed) ReadDir(n int) ([]fs.DirEntry, error) {
	s.listed += n
	return slices.Repeat([]fs.DirEntry{fs.FileInfoToDirEntry(&s.counted)}, n), nil
}

// TestListingIsBounded: a folder stuffed by a program is told, and not held in memory.
func TestListingIsBounded(t *testing.T) {
	path := t.TempDir()
	d, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for i := range 2500 { // more than are asked for at once
		if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("%d", 9000-i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := d.ReadDir(".")
	if len(list) != 2500 || err != nil || !slices.IsSortedFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }) {
		t.Errorf("%d entries, %v", len(list), err)
	}
	names, err := d.Names(".")
	if !slices.EqualFunc(names, list, func(name string, e fs.DirEntry) bool { return name == e.Name() }) || err != nil {
		t.Errorf("%d names, %v", len(names), err)
	}
	var many *durable.TooManyError
	var endless stuffed
	if _, err := durable.Entries(&endless, "stuffed", 5000); !errors.As(err, &many) || !strings.Contains(err.Error(), "stuffed") || endless.listed > 7000 {
		t.Errorf("%v after %d entries", err, endless.listed)
	}
	if remedy, ok := fault.Hostile(many); !ok || !strings.Contains(remedy.String(), "stuffed") {
		t.Errorf("remedy %q", remedy)
	}
}

package vfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// newFilled returns a file system with files in folders of 50.
func newFilled(b testing.TB, files int) *vfs.Mem {
	m := vfs.NewMem(nil)
	text := strings.Repeat("a line of a document\n", 50)
	for n := range files {
		write(b, m, fmt.Sprintf("/docs/%03d/%02d.md", n/50, n%50), text)
	}
	return m
}

// toolWork are uses of all tools on 100 files.
var toolWork = []call{
	{"read_file", with("file_path", "/docs/001/01.md"), ""},
	{"write_file", with("file_path", "/docs/new.md", "content", strings.Repeat("text\n", 1000)), ""},
	{"edit_file", with("file_path", "/docs/001/01.md", "old_string", "a line", "new_string", "a Line", "replace_all", true), ""},
	{"list_files", with("path", "/docs/001"), ""},
	{"glob_pattern", with("pattern", "**/0?.md"), ""},
	{"grep_search", with("pattern", "no such line"), ""},
	{"bash_command", with("command", "ls /docs"), ""},
}

// uses returns a function that uses a tool once more. An edit undoes the one before.
func (c call) uses(t testing.TB, box *vfs.Toolbox) func() {
	forth := input(c.args...)
	back := strings.NewReplacer("a line", "a Line", "a Line", "a line").Replace(forth)
	return func() {
		if text, failed := box.Execute(t.Context(), c.tool, forth); failed || text == "" {
			t.Fatal(text)
		}
		forth, back = back, forth
	}
}

func BenchmarkTools(b *testing.B) {
	for _, c := range toolWork {
		b.Run(c.tool, func(b *testing.B) {
			use := c.uses(b, vfs.NewToolbox(newFilled(b, 100), vfs.ToolOptions{}))
			for b.Loop() {
				use()
			}
		})
	}
}

// TestToolsAnswerSoon: each tool works within the ten milliseconds that were asked for.
func TestToolsAnswerSoon(t *testing.T) {
	scratch.NeedsTime(t, "it compares durations")
	for _, c := range toolWork {
		scratch.Within(t, c.tool, 10, c.uses(t, vfs.NewToolbox(newFilled(t, 100), vfs.ToolOptions{})))
	}
}

func BenchmarkManyFiles(b *testing.B) {
	m := newFilled(b, 19_000)
	box := vfs.NewToolbox(m, vfs.ToolOptions{})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if infos, err := m.List("/docs/007"); err != nil || len(infos) != 50 {
				b.Fatal(len(infos), err)
			}
		}
	})
	b.Run("documents", func(b *testing.B) {
		for b.Loop() {
			if docs := vfs.Documents(m); len(docs) != 19_000 {
				b.Fatal(len(docs))
			}
		}
	})
	b.Run("grep 5000", func(b *testing.B) {
		box := vfs.NewToolbox(newFilled(b, 5000), vfs.ToolOptions{})
		for b.Loop() {
			if got := use(box, "grep_search", "pattern", "no such line"); got != "No matches found for pattern: no such line" {
				b.Fatal(got)
			}
		}
	})
	b.Run("glob", func(b *testing.B) {
		for b.Loop() {
			if got := use(box, "glob_pattern", "pattern", "**/00.md"); strings.Count(got, "\n") != 379 {
				b.Fatal(got)
			}
		}
	})
}

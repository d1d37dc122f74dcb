package engine_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxPath is how long a path below the project may be. Programs without long-path support
// take 259 characters on Windows in all, so a project has more than 100 for its own.
const maxPath = 150

var (
	// forbidden are characters that no file name on Windows may have, and what it drops at
	// the end: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
	forbidden = regexp.MustCompile(`[<>:"|?*\\\x00-\x1f]|[ .]$`)
	devices   = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)
)

// TestPathsOfEverySystem makes every file there can be, for objectives that tempt to names
// that some system does not take.
func TestPathsOfEverySystem(t *testing.T) {
	t.Parallel()
	for _, objective := range []string{
		"con", "NUL", "aux.txt", "COM1", "Build a thing: with <odd> \"names\" | and ? * \\ / ..", "...", "登录服务", "-1", " a . ",
		strings.Repeat("a very long objective of many words ", 60), strings.Repeat("x", 300),
	} {
		b := newBench(t)
		b.do(start(objective))
		for range 2 { // the second submission is another round of the same stage
			b.do(submit(workflow.PO, "# P\nQuality Score: 95/100"))
			b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: new(bool), Feedback: "more"}})
		}
		b.do(submit(workflow.PO, "# P\nQuality Score: 95/100"))
		b.do(confirm(true))
		folded := map[string]string{}
		err := filepath.WalkDir(b.dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || path == b.dir {
				return err
			}
			rel, err := filepath.Rel(b.dir, path)
			if err != nil {
				return err
			}
			name := filepath.Base(rel)
			if len(rel) > maxPath {
				t.Errorf("%.40q: %s has %d characters", objective, rel, len(rel))
			}
			if forbidden.MatchString(name) || devices.MatchString(name) {
				t.Errorf("%.40q: %q is no name on Windows", objective, name)
			}
			lower := strings.ToLower(rel)
			if other, taken := folded[lower]; taken {
				t.Errorf("%.40q: %s and %s are one file where case does not count", objective, rel, other)
			}
			folded[lower] = rel
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeepProject runs in a folder whose path is longer than Windows takes without
// further ado, with spaces and other scripts in it.
func TestDeepProject(t *testing.T) {
	b := newBench(t)
	for i := range 8 {
		b.dir = filepath.Join(b.dir, fmt.Sprintf("%d ein langer Ordner — 長いフォルダ名", i))
	}
	if err := os.MkdirAll(b.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if len(b.dir) < 300 {
		t.Fatalf("only %d bytes", len(b.dir))
	}
	b.to(workflow.QA, workflow.Completed)
	if b.artifact("build-a-thing", "05-qa-report.md") == "" {
		t.Error("there is no report")
	}
}

// TestLineEndsOfWindows finds every file that people or git may rewrite with CRLF, and
// goes on as with any other.
func TestLineEndsOfWindows(t *testing.T) {
	b := newBench(t)
	crlf := func(name string) {
		t.Helper()
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		crlf(name)
	}
	write(".claude/bmad-task.yaml", "stages:\n  po:\n    gate_score: 92\n")
	write(".claude/bmad-prompts/po.md", "---\nstage: po\ntitle: Product Owner\n---\n# Ours\n\nWrite a short one.\n")
	reply := b.do(start("Build a clock"))
	if !strings.Contains(reply.RolePrompt, "Write a short one.") || *reply.GateScore != 92 {
		t.Errorf("settings or prompt were not read: gate %v\n%s", *reply.GateScore, reply.RolePrompt)
	}
	session := ".bmad-task/session-" + b.session + ".json"
	crlf(session)
	write("docs/prd.md", "# P\n\n## Goals\n\n- G-1: fast\n\nQuality Score: 95/100\n")
	b.at("po/awaiting_confirmation", request.Request{Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: "docs/prd.md"}}}})
	crlf(session)
	b.at("architect/generating", confirm(true))
	crlf(".claude/specs/build-a-clock/01-product-requirements.md")
	crlf(session)
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\r\n\r\nQuality Score: 95/100\r\n"))
}

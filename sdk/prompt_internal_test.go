package sdk

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// TestPrompts: the agents of every layout get a prompt of their own within its bound, every tool
// that it names exists, and every file that it names can be read.
func TestPrompts(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	layouts, err := filepath.Glob("../internal/method/catalog/testdata/layouts/*.txtar")
	if err != nil || len(layouts) < 10 {
		t.Fatalf("%d layouts, %v", len(layouts), err)
	}
	for _, layout := range layouts {
		name := strings.TrimSuffix(filepath.Base(layout), ".txtar")
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, err := txtar.ParseFile(layout)
			if err == nil {
				err = txtar.Write(a, dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := newShelf(dir, method.Options{Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }})
			list, err := s.listAgents()
			if err != nil {
				t.Fatal(err)
			}
			for n, info := range list {
				agent, m, err := s.findAgent(info.ID)
				if err != nil {
					if name != "broken" {
						t.Errorf("%s: %v", info.ID, err)
					}
					continue
				}
				session := &thread{menu: m, files: m.newFiles(nil)}
				_ = session.setTools(nil, nil)
				text, err := systemPrompt(agent, m, session.tools, SessionOptions{})
				if err != nil {
					t.Errorf("%s: %v", info.ID, err)
					continue
				}
				for _, file := range agent.Files {
					if _, err := m.newFiles(nil).Read(file); err != nil {
						t.Errorf("%s: the file %s: %v", info.ID, file, err)
					}
				}
				for _, tool := range session.tools {
					if !strings.Contains(text, "`"+tool.Name+"`") {
						t.Errorf("%s: the prompt lacks the tool %s", info.ID, tool.Name)
					}
				}
				for _, command := range agent.Commands {
					said, warning := m.messageFor(command.Code)
					if said == "" || warning != "" {
						t.Errorf("%s %s: %q, %q", info.ID, command.Code, said, warning)
					}
				}
				if n == 0 {
					golden.Check(t, filepath.Join("testdata", "prompts", name+".md"), text+"\n")
				}
			}
		})
	}
}

func TestTextQuestion(t *testing.T) {
	for text, want := range map[string]string{
		"Who is it for?":                 "Who is it for?",
		"**Who is it for?**":             "**Who is it for?",
		"谁会使用它？":                         "谁会使用它？",
		"Written. All good.":             "",
		"Is it good? It is.":             "",
		"Which one?\n\n1. Red\n2. Blue":  "Which one? [Red Blue]",
		"Which one?\n1) Red\n2) Blue\n":  "Which one? [Red Blue]",
		"The steps:\n1. Red\n2. Blue":    "",
		"1. Who?\n2. When?":              "When?",
		"```\nwhat?\n```":                "",
		"```\ncode\n```\nShall I go on?": "Shall I go on?",
		"":                               "",
		"选择哪一个？\n1、红\n2、蓝":               "选择哪一个？ [红 蓝]",
		"Do you agree? (yes/no?)":        "Do you agree? (yes/no?)",
		"Which?\n\n2026. was a year":     "",
	} {
		q, ok := textQuestion(text)
		got := q.Question
		if len(q.Options) > 0 {
			got += " [" + strings.Join(q.Options, " ") + "]"
		}
		if ok != (want != "") || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzTextQuestion(f *testing.F) {
	f.Add("Which?\n1. a\n2. b")
	f.Fuzz(func(t *testing.T, text string) {
		if q, ok := textQuestion(text); ok && q.Question == "" {
			t.Errorf("%q: an empty question", text)
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"a","kind":"session","status":"idle","options":{"max_tokens":1,"rounds":1}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		s, err := parseState("a", data)
		if err != nil {
			return
		}
		s.addUserMessage("")
		_ = s.responseText()
	})
}

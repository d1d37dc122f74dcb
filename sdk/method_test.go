package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// taskFile is a task with numbered steps.
const taskFile = "# Weigh\n\n## 1. Look\n\n1. Read `docs/prd.md`.\n   1. Note each `{thing}`.\n2. If there is none: STOP.\n\n```yaml\n" +
	"elicit: true # not a heading\n```\n\n## 2. Ask\n\n- [ ] \"Which?\" <ask>\n"

// TestTasksAsTheyStand: each task reaches an agent whole, whether its menu has it or not. TEST_BMAD_REAL_INSTALLS
// names a folder with 4.44.3, the tasks of which are tried, too.
func TestTasksAsTheyStand(t *testing.T) {
	own := project(t)
	if err := os.WriteFile(filepath.Join(own, ".bmad-core", "tasks", "weigh.md"), []byte(taskFile), 0o600); err != nil {
		t.Fatal(err)
	}
	projects := []string{own}
	if installs := os.Getenv("TEST_BMAD_REAL_INSTALLS"); installs != "" {
		projects = append(projects, filepath.Join(installs, "4.44.3"))
	}
	for _, folder := range projects {
		files, err := filepath.Glob(filepath.Join(folder, ".bmad-core", "tasks", "*.md"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tasks in %s: %v", folder, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".md")
			for _, command := range []string{"*task " + name, "/task " + name + ".md for a shop"} {
				c, model := client(t, sdk.Options{Project: folder, Store: sdk.NewMemStore()}, fake.Text("done"))
				s, err := c.StartAgent(t.Context(), "pm", command, sdk.SessionOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				got := model.Requests()[0].Messages[0].Text()
				for line := range strings.Lines(string(data)) {
					// Settings of the installation are filled in.
					if line = strings.TrimSpace(line); !strings.ContainsAny(line, "{}") || strings.Contains(line, "{thing}") {
						if at := strings.Index(got, line); at >= 0 {
							got = got[at+len(line):]
							continue
						}
						t.Errorf("%s: %q is missing, or not in its place, in %q", command, line, model.Requests()[0].Messages[0].Text())
						break
					}
				}
				if strings.Contains(command, "shop") && !strings.Contains(got, "> for a shop") {
					t.Errorf("%s: the words are missing", command)
				}
			}
		}
	}
}

// TestTemplateFile: a template is found by its name or path; the agent's own is taken first.
func TestTemplateFile(t *testing.T) {
	folder := project(t)
	for _, name := range []string{"note-tmpl.yaml", "note-tmpl.md", "long-template.yml"} {
		if err := os.WriteFile(filepath.Join(folder, ".bmad-core", "templates", name), []byte("sections: "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _ := client(t, sdk.Options{Project: folder})
	for name, want := range map[string]string{"note": "note-tmpl.yaml", "note-tmpl": "note-tmpl.yaml", "note-tmpl.yaml": "note-tmpl.yaml",
		".bmad-core/templates/note-tmpl.yaml": "note-tmpl.yaml", "long": "long-template.yml", "other": "", "": "", "../note-tmpl": "", "elsewhere/note-tmpl": ""} {
		data, err := c.Template(t.Context(), "pm", name)
		if want != "" && (err != nil || string(data) != "sections: "+want) || want == "" && (err == nil || !strings.Contains(err.Error(), "note")) {
			t.Errorf("%q: %q, %v", name, data, err)
		}
	}
	if _, err := c.Template(t.Context(), "nobody", "note"); err == nil {
		t.Error("an agent that is not there has templates")
	}
}

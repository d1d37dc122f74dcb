package internal_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

// TestInstallLinks: the links that install with one click carry the entry that install writes, with the
// program's name alone.
func TestInstallLinks(t *testing.T) {
	entry := hosts.Entry{Name: "bmad", Command: "bmad-mcp"}
	for id, link := range map[string]struct {
		format string
		encode func(string) string
	}{
		"vscode": {"https://insiders.vscode.dev/redirect/mcp/install?name=bmad&config=%s", func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }},
		"cursor": {"https://cursor.com/en/install-mcp?name=bmad&config=%s", func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }},
	} {
		h, _ := hosts.Lookup(id)
		found, err := h.Find([]byte(h.Snippet(entry)))
		if err != nil || len(found) != 1 || len(found[0].Args) != 0 {
			t.Fatal(found, err)
		}
		config, err := json.Marshal(struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		}{"stdio", found[0].Command})
		if err != nil {
			t.Fatal(err)
		}
		want := "](" + fmt.Sprintf(link.format, link.encode(string(config))) + ")"
		for _, page := range []string{"docs/install.md", "docs/install.zh.md"} {
			if !strings.Contains(readPage(t, page), want) {
				t.Errorf("%s: no link %s", page, want)
			}
		}
	}
}

// TestActionsArePinned: a workflow takes the actions of others by a commit, since a tag can be moved, and
// says which version that is.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	used := regexp.MustCompile(`(?m)^ *-? *uses: (.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	commits := map[string]string{}
	for _, file := range files {
		text := readPage(t, filepath.Join(".github", "workflows", filepath.Base(file)))
		for _, m := range used.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s", filepath.Base(file), m[1])
			}
			name, commit, _ := strings.Cut(m[1], "@")
			if other := commits[name]; other != "" && other != commit {
				t.Errorf("%s is taken as %s and as %s", name, other, commit)
			}
			commits[name] = commit
		}
	}
	if len(commits) < 3 {
		t.Errorf("got %d actions", len(commits))
	}
}

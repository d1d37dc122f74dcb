package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestWhoSetTheVerifyCommand: a variable is not the person's word, since a file of the
// project can tell the host to set it.
func TestWhoSetTheVerifyCommand(t *testing.T) {
	const none = workflow.Setter("")
	for _, tt := range []struct {
		name, project, user, env string
		dev                      string
		by                       workflow.Setter
		person                   string // of the person's own file, for dev
		says                     bool
	}{
		{"nobody", "", "", "", "", none, "", false},
		{"the project", "verify: make", "", "", "make", workflow.SetByProject, "", false},
		{"the project, for a stage", "stages: {dev: {verify: make}}", "", "", "make", workflow.SetByProject, "", false},
		{"the project, for the other stage", "stages: {qa: {verify: make}}", "", "", "", none, "", false},
		{"the person", "", "verify: make", "", "make", workflow.SetByPerson, "make", true},
		{"the project against the person", "verify: 'true'", "verify: make", "", "make", workflow.SetByPerson, "make", true},
		{"the project against the person, for a stage", "stages: {dev: {verify: 'true'}}", "verify: make", "", "make", workflow.SetByPerson, "make", true},
		{"the person wants none", "verify: make", "verify: ''", "", "", workflow.SetByPerson, "", true},
		{"the person for the other stage", "verify: make", "stages: {qa: {verify: own}}", "", "make", workflow.SetByProject, "", false},
		{"a variable", "", "", "BMAD_VERIFY=make", "make", workflow.SetByEnvironment, "", false},
		{"a variable of a stage", "", "", "BMAD_DEV_VERIFY=make", "make", workflow.SetByEnvironment, "", false},
		{"a variable in other letters", "", "", "BMAD_Verify=make", "make", workflow.SetByEnvironment, "", false},
		{"a variable against the project", "verify: make", "", "BMAD_VERIFY=true", "true", workflow.SetByEnvironment, "", false},
		{"a variable against the person", "", "verify: make", "BMAD_VERIFY=true", "true", workflow.SetByEnvironment, "make", true},
		{"an empty variable against the person", "", "verify: make", "BMAD_VERIFY= ", "make", workflow.SetByPerson, "make", true},
		{"nothing after the key", "verify:", "", "", "", workflow.SetByProject, "", false},
		{"null", "verify: null", "", "", "", workflow.SetByProject, "", false},
		{"a tilde", "verify: ~", "", "", "", workflow.SetByProject, "", false},
		{"a list of one", "verify: [make]", "", "", "make", workflow.SetByProject, "", false},
		{"blanks around", "verify: '  make '", "", "", "make", workflow.SetByProject, "", false},
	} {
		c, err := load(t, tt.project, tt.user, tt.env)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		person, says := c.PersonVerify[workflow.Dev]
		if c.Verify[workflow.Dev] != tt.dev || c.VerifyBy[workflow.Dev] != tt.by || person != tt.person || says != tt.says {
			t.Errorf("%s: %q by %q, the person says %q (%v)", tt.name, c.Verify[workflow.Dev], c.VerifyBy[workflow.Dev], person, says)
		}
	}
}

func TestVerifyThatIsNotACommand(t *testing.T) {
	for text, want := range map[string]string{
		"verify: {run: make}":                       "verify takes a value, not a block",
		"verify:\n  - make\n  - lint":               "verify takes one value, not 2",
		"verify: []":                                "verify takes one value, not 0",
		"verify: [[make]]":                          "a list of plain values",
		"stages: {qa: {verify: {run: make}}}":       "stages.qa.verify takes a value, not a block",
		"Verify: make":                              "unknown key \"Verify\"",
		"VERIFY: make":                              "unknown key \"VERIFY\"",
		"verify : make\nverify_: x":                 "unknown key \"verify_\"",
		"stages: {dev: {Verify: make}}":             "unknown key \"Verify\"",
		"stages: {review: {verify: make}}":          "verify is for dev and qa",
		"stages: &s {dev: {verify: m}}\nverify: *s": "anchors (&)",
	} {
		if _, err := load(t, text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUserFileInTheProjectIsTheProjects: a variable that names the folder of the person's files can come from
// the project too.
func TestUserFileInTheProjectIsTheProjects(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	for _, folder := range []string{root, filepath.Join(root, ".config"), outside} {
		name := filepath.Join(folder, filepath.FromSlash(config.UserFile))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("verify: make"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(outside, "link")
	if err := os.Symlink(filepath.Join(root, ".config"), link); err != nil {
		t.Skip(err)
	}
	dir, err := durable.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	for folder, want := range map[string]workflow.Setter{
		outside:                        workflow.SetByPerson,
		root:                           workflow.SetByProject,
		filepath.Join(root, ".config"): workflow.SetByProject,
		link:                           workflow.SetByProject,
	} {
		c, err := config.Source{UserFolder: folder}.Load(dir)
		if err != nil || c.VerifyBy[workflow.QA] != want {
			t.Errorf("%s: %q, %v", folder, c.VerifyBy[workflow.QA], err)
		}
	}
}

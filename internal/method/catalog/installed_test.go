package catalog_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

const (
	agentHeader = "name,displayName,title,icon,role,identity,communicationStyle,principles,module,path\n"
	agentText   = "---\nname: x\n---\n```xml\n<agent id=\"x\" name=\"Source\" title=\"From the source\">\n</agent>\n```\n"
)

// shopWith returns a project with an installation of bmm, and some more files.
func shopWith(more map[string]string) fstest.MapFS {
	return with(with(fstest.MapFS{}, map[string]string{
		"_bmad/_config/manifest.yaml":                                   "installation: {version: 6.0.1}\nmodules:\n  - {name: bmm, version: 6.0.1}\n",
		"_bmad/_config/agent-manifest.csv":                              agentHeader + "analyst,Mary,Business Analyst,📊,r,i,c,p,bmm,_bmad/bmm/agents/analyst.md\n",
		"_bmad/_config/workflow-manifest.csv":                           "name,description,module,path\ncreate-prd,Installed,bmm,_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.yaml\n",
		"_bmad/bmm/config.yaml":                                         "user_name: Jo\n",
		"_bmad/bmm/agents/analyst.md":                                   agentText,
		"_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow.yaml": "name: create-prd\ndescription: Installed\nauthor: BMad\n",
	}), more)
}

// TestInstalledCounts: the repository of a module has both its source and an installation, made
// from an earlier state of it. The person works with the installed one.
func TestInstalledCounts(t *testing.T) {
	sources := map[string]string{
		"src/modules/bmm/module.yaml":                      "code: bmm\nmodule_version: 9.9.9\n",
		"src/modules/bmm/agents/analyst.agent.yaml":        "agent:\n  metadata: {name: Source, title: From the source}\n",
		"src/modules/bmm/agents/unfinished.agent.yaml":     "agent:\n  metadata: {name: Nobody, title: Not installed}\n",
		"src/modules/bmm/workflows/create-prd/workflow.md": "---\nname: create-prd\ndescription: From the source\n---\n# X\n",
		"src/modules/mine/module.yaml":                     "code: mine\n",
		"src/modules/mine/workflows/own/workflow.md":       "---\nname: own\ndescription: Of a module that is nowhere installed\n---\n# Own\n",
		"src/bmm-skills/bmad-new/SKILL.md":                 "---\nname: bmad-new\ndescription: x\n---\n# New\n",
		"src/bmm-skills/module.yaml":                       "code: bmm\n",
	}
	c := catalog.Open(source(shopWith(sources)))
	if got, want := names(c, catalog.Agent)+"; "+names(c, catalog.Workflow)+"; "+names(c, catalog.Task), "bmm/analyst; bmm/create-prd, mine/own; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if i := find(t, c, catalog.Agent, "analyst"); i.DisplayName != "Mary" || i.URI != "bmad://_bmad/bmm/agents/analyst.md" || len(i.Aliases) > 0 {
		t.Errorf("got %+v", i)
	}
	for _, source := range []string{"src/modules/bmm", "src/bmm-skills"} {
		if want := source + `: it is the source of the module "bmm", which is installed in _bmad; it was left out`; !strings.Contains(problems(c), want) {
			t.Errorf("not told: %s\n%s", want, problems(c))
		}
	}
	// In the form of 6.0 to 6.2 all of src is one tree of modules.
	tree := catalog.Open(source(shopWith(map[string]string{
		"src/core/module.yaml": "code: core\n", "src/core/tasks/other.md": "# Other\n", "_bmad/core/tasks/installed.md": "# Installed\n",
		"src/bmm/module.yaml": "code: bmm\n", "src/bmm/agents/unfinished.agent.yaml": "agent:\n  metadata: {name: Nobody, title: Not installed}\n",
	})))
	if got, want := names(tree, catalog.Agent)+"; "+names(tree, catalog.Task), "bmm/analyst; core/installed"; got != want || len(tree.Origins()[0].Installations) != 1 {
		t.Errorf("got %s of %d installations, want %s of one", got, len(tree.Origins()[0].Installations), want)
	}
	// Without an installation there is only the source.
	bare := catalog.Open(source(with(fstest.MapFS{}, sources)))
	if i := find(t, bare, catalog.Agent, "unfinished"); i.Module != "bmm" || problems(bare) != "" {
		t.Errorf("got %+v, %s", i, problems(bare))
	}
}

func TestBackups(t *testing.T) {
	for _, name := range []string{"_bmad.bak", ".bmad.old", "bmad-backup-20260102", "bmad-backup-2026-01-02-1530", "_bmad_backup", "_bmad.bak2", "_bmad~", "_bmad (copy)", "backup-bmad", "_bmad.orig", "Backup_bmad", "_bmad-previous"} {
		old := map[string]string{
			name + "/_config/manifest.yaml":              "installation: {version: 5.9.9}\nmodules: [bmm]\n",
			name + "/bmm/agents/analyst.md":              strings.ReplaceAll(agentText, "Source", "Old"),
			name + "/bmm/agents/gone.md":                 agentText,
			name + "/bmm/workflows/legacy/workflow.yaml": "name: legacy\ndescription: x\n",
		}
		c := catalog.Open(source(shopWith(old)))
		if got, want := names(c, catalog.Agent)+"; "+names(c, catalog.Workflow), "bmm/analyst; bmm/create-prd"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if want := name + ": it is a backup of an installation and was left out"; problems(c) != want {
			t.Errorf("%s: got %q, want %q", name, problems(c), want)
		}
		if got := names(catalog.Open(source(with(fstest.MapFS{}, old))), catalog.Agent); got != "bmm/x" {
			t.Errorf("%s as the only installation: got %s", name, got)
		}
	}
	for _, name := range []string{"_grimoire", ".bmad-old-school", "oldbmad", ".bmad-copy-writing", "bmad-6.12"} {
		c := catalog.Open(source(shopWith(map[string]string{name + "/_config/manifest.yaml": "modules: [own]\n", name + "/own/agents/one.md": agentText})))
		if !strings.Contains(names(c, catalog.Agent), "own/x") || problems(c) != "" {
			t.Errorf("%s: got %s, %s", name, names(c, catalog.Agent), problems(c))
		}
	}
}

// TestBareNames: an update leaves files behind that no manifest lists any more. A name without a
// module means the installed one.
func TestBareNames(t *testing.T) {
	c := catalog.Open(source(shopWith(map[string]string{
		"_bmad/a-module/workflows/create-prd/workflow.yaml": "name: create-prd\ndescription: Left behind\n",
		"_bmad/a-module/agents/analyst.md":                  strings.ReplaceAll(agentText, "name: x", "name: analyst"),
		"_bmad/a-module/agents/lonely.md":                   strings.ReplaceAll(agentText, "name: x", "name: lonely"),
	})))
	for _, kind := range []catalog.Kind{catalog.Agent, catalog.Workflow} {
		name := map[catalog.Kind]string{catalog.Agent: "analyst", catalog.Workflow: "create-prd"}[kind]
		if i := find(t, c, kind, name); i.Full() != "bmm/"+name {
			t.Errorf("%s is %s", name, i.Full())
		}
		if i := find(t, c, kind, "a-module/"+name); i.Module != "a-module" {
			t.Errorf("a-module/%s is %s", name, i.Full())
		}
	}
	find(t, c, catalog.Agent, "lonely")
	if i := find(t, c, catalog.Agent, "bmm.analyst"); i.Full() != "bmm/analyst" {
		t.Errorf("bmm.analyst is %s", i.Full())
	}
	both := catalog.Open(source(shopWith(map[string]string{
		"_bmad/_config/agent-manifest.csv": agentHeader + "analyst,Mary,A,,,,,,bmm,_bmad/bmm/agents/analyst.md\nanalyst,Ann,B,,,,,,cis,_bmad/cis/agents/analyst.md\n",
		"_bmad/cis/agents/analyst.md":      agentText,
	})))
	if _, err := both.Find(catalog.Agent, "analyst"); !fault.Is(err, fault.Conflict) {
		t.Errorf("two listed agents of one name: got %v, want a conflict", err)
	}
}

// TestLinksToNothing: a broken link is reported as a problem and not listed as an item.
func TestLinksToNothing(t *testing.T) {
	s := onDisk(t, with(shopWith(nil), map[string]string{
		".bmad-core/core-config.yaml": "prd: {}\n", ".bmad-core/agents/pm.md": "# PM\n",
		"_bmad/_config/agent-manifest.csv": agentHeader + "analyst,Mary,A,,,,,,bmm,_bmad/bmm/agents/analyst.md\nghost,G,G,,,,,,bmm,_bmad/bmm/agents/ghost.md\n",
		"_bmad/bmm/tasks/real.md":          "# Real\n",
	}))
	links := map[string]string{
		"_bmad/bmm/agents/ghost.md": "nowhere.md", "_bmad/bmm/tasks/gone.md": "../gone.md", ".bmad-core/agents/lost.md": "/nonexistent/lost.md",
		"_bmad/bmm/workflows/2-plan-workflows/workflow-loop.md": "workflow-loop.md", "_bmad/bmm/tasks/linked.md": "real.md",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(s.Dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	c := catalog.Open(s)
	if got, want := names(c, catalog.Agent)+"; "+names(c, catalog.Task)+"; "+names(c, catalog.Workflow), "bmad-core/pm, bmm/analyst; bmm/linked, bmm/real; bmm/create-prd"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name := range links {
		if told := strings.Contains(problems(c), name+": it is a symbolic link that leads"); told != (name != "_bmad/bmm/tasks/linked.md") {
			t.Errorf("%s is told: %v\n%s", name, told, problems(c))
		}
	}
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Log("files without permission are not tried: this user may read all")
		return
	}
	put(t, filepath.Join(s.Dir, "kept.md"), agentText)
	if err := os.Chmod(filepath.Join(s.Dir, "kept.md"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../kept.md", filepath.Join(s.Dir, "_bmad/bmm/agents/kept.md")); err != nil {
		t.Fatal(err)
	}
	if c := catalog.Open(s); strings.Contains(names(c, catalog.Agent), "kept") {
		t.Errorf("a file that cannot be read is an agent: %s", names(c, catalog.Agent))
	}
}

// TestOtherNameOfADomain: versions of the method call the test architect's knowledge differently.
func TestOtherNameOfADomain(t *testing.T) {
	for folder, asked := range map[string]string{"_bmad/bmm/testarch/knowledge/": "tea", "_bmad/bmm/knowledge/tea/": "testarch"} {
		c := catalog.Open(source(shopWith(map[string]string{folder + "fixtures.md": "# Fixtures\n", folder + "network.md": "# Network\n"})))
		if got := c.Knowledge(asked); len(got) != 2 {
			t.Errorf("%s in %s: got %+v", asked, folder, got)
		}
	}
}

package catalog_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// spoilt are the files that a fuzzed text is put in the place of: one of each kind that says
// something of others.
var spoilt = []struct{ layout, name string }{
	{"v4", ".bmad-core/agents/analyst.md"}, {"v4", ".bmad-core/workflows/greenfield-service.yaml"}, {"v4", ".bmad-core/tasks/create-doc.md"}, {"v4", ".bmad-core/core-config.yaml"},
	{"v4", ".bmad-core/install-manifest.yaml"}, {"v4", ".bmad-creative-writing/config.yaml"},
	{"v6-alpha", "bmad/_cfg/manifest.yaml"}, {"v6-alpha", "bmad/_cfg/agent-manifest.csv"}, {"v6-alpha", "bmad/_cfg/workflow-manifest.csv"}, {"v6-alpha", "bmad/_cfg/task-manifest.csv"},
	{"v6-alpha", "bmad/_cfg/agents/bmm-analyst.customize.yaml"}, {"v6-alpha", "bmad/bmm/agents/analyst.md"}, {"v6-alpha", "bmad/bmm/agents/tea.md"}, {"v6-alpha", "bmad/core/tasks/index-docs.xml"},
	{"v6-alpha", "bmad/bmm/workflows/2-plan-workflows/prd/workflow.yaml"}, {"v6-alpha", "bmad/bmm/workflows/2-plan-workflows/prd/instructions.md"}, {"v6-alpha", "bmad/bmm/config.yaml"}, {"v6-alpha", "bmad/bmm/testarch/tea-index.csv"},
	{"v6-files", "_bmad/_config/bmad-help.csv"}, {"v6-files", "_bmad/bmm/workflows/2-plan-workflows/create-prd/workflow-create-prd.md"},
	{"v6-skills-63", "_bmad/_config/agent-manifest.csv"}, {"v6-skills-63", ".claude/skills/bmad-agent-analyst/bmad-skill-manifest.yaml"}, {"v6-skills-63", "_bmad/_config/bmad-help.csv"},
	{"v6-skills", "_bmad/_config/skill-manifest.csv"}, {"v6-skills", "_bmad/config.toml"}, {"v6-skills", "_bmad/custom/config.toml"}, {"v6-skills", "_bmad/custom/bmad-agent-analyst.toml"}, {"v6-skills", "_bmad/core/v6-shims/README.md"},
	{"v6-skills", ".claude/skills/bmad-agent-analyst/customize.toml"}, {"v6-skills", ".claude/skills/bmad-prd/SKILL.md"}, {"v6-skills", ".claude/skills/bmad-build/workflow.md"}, {"v6-skills", ".claude/skills/bmad-build/customize.toml"}, {"v6-skills", ".claude/skills/bmad-build/step-02-plan.md"},
	{"next", "skills/bmad-spec/bmod.toml"}, {"next", "skills/bmod-method/bmod.toml"}, {"next", "skills/bmod-method/roster.toml"}, {"next", "skills/bmad/module-manifest.toml"},
	{"source-module", "src/module.yaml"}, {"source-module", "src/module-help.csv"}, {"source-module", "src/agents/baker.agent.yaml"}, {"source-module", ".claude-plugin/marketplace.json"},
}

// FuzzOpen: whatever one file of an installation says, nothing outside of it is shown.
func FuzzOpen(f *testing.F) {
	fixtures := map[string]fstest.MapFS{}
	for n, s := range spoilt {
		if fixtures[s.layout] == nil {
			fixtures[s.layout] = with(layout(f, s.layout), around)
			if s.layout == "source-module" {
				delete(fixtures[s.layout], "src/main.go") // the folder is the module
			}
		}
		file := fixtures[s.layout][s.name]
		if file == nil {
			f.Fatalf("%s has no file %s", s.layout, s.name)
		}
		text := string(file.Data)
		hostile := strings.NewReplacer("_bmad/", "../", ".md", ".md\x00", "{project-root}", "{project-root}/..", "bmad/bmm", ".", "workflow.yaml", "secret.txt", "\n", "\r\n")
		f.Add(byte(n), hostile.Replace(text))
		if n%4 > 0 {
			continue // each of these is for any file; the time of every test run is not
		}
		f.Add(byte(n), text[:len(text)/2])
		f.Add(byte(n), "name,module,path\nx,bmm,../secret.txt\ny,bmm,secret.txt\nz,bmm,{project-root}/secret.txt\n")
		f.Add(byte(n), "name: x\nconfig_source: '{project-root}/.env'\ninstructions: '{project-root}/secret.txt'\ntemplate: '"+shop+"/secret.txt'\ndata: ../../../../../secret.txt\n")
		f.Add(byte(n), "---\nname: x\nmain_config: '{project-root}/.env'\n---\n[[bmad-snapshot:../../../secret.md]] {a} {config_source}:x {{.x}}\nworkflow.md render_skill.py")
		f.Add(byte(n), "```yaml\nagent:\n  name: x\npersona:\n  role: y\ndependencies:\n  data: [../../secret.txt, /etc/passwd, ../../.env]\n```\n<agent name=\"x\"><item cmd=\"a\" exec=\"{project-root}/secret.txt\">x</item><item cmd=\"b\" workflow=\""+shop+"/.env\">x</item>")
		f.Add(byte(n), "a: &a [x]\nb: &b [*a, *a]\n<<: *b\n")
		f.Add(byte(n), "code: ../..\nagents: [{code: x}, y]\na: {default: {b: c}, result: '{project-root}/{value}/secret.txt'}\nb: {default: '{a}', result: '{b}{value}'}\n")
		f.Add(byte(n), `{"plugins": [{"name": "../x", "source": "..", "skills": ["..", "../etc", "/etc", "./docs", "src", ".git", "extra/bakery-score/"]}]}`)
	}
	f.Fuzz(func(t *testing.T, which byte, text string) {
		if strings.Contains(text, canary) {
			return
		}
		s := spoilt[int(which)%len(spoilt)]
		from := source(with(fixtures[s.layout], map[string]string{s.name: text}))
		if strings.HasPrefix(s.layout, "source-") {
			from.Name = "git-x"
		}
		c := catalog.Open(from)
		for _, i := range c.Items() {
			if i.Path != "" && !fs.ValidPath(i.Path) {
				t.Fatalf("%s: the path %q", i.Full(), i.Path)
			}
			r, err := resolve.Item(c, i, at)
			if err != nil {
				sound(t, err)
				continue
			}
			if all := describe(t, r); strings.Contains(all, canary) {
				t.Fatalf("%s shows a file of the project:\n%s", i.Full(), all)
			}
			for _, m := range r.More {
				checkServed(t, c, m.URI)
			}
			for _, p := range r.Parts {
				checkServed(t, c, p.URI)
			}
			if i.URI != "" {
				checkServed(t, c, i.URI+"?view=resolved")
			}
		}
		listed, err := c.Files("")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range listed {
			checkServed(t, c, l.URI)
		}
		for _, k := range c.Knowledge("") {
			checkServed(t, c, k.URI)
		}
		if views, err := resolve.Config(c); err != nil {
			sound(t, err)
		} else if strings.Contains(asJSON(t, views), canary) {
			t.Fatal("the configuration shows a file of the project")
		}
		if told := problems(c) + asJSON(t, c.Modules()); strings.Contains(told, canary) {
			t.Fatalf("problems show a file of the project: %s", told)
		}
		for name := range around {
			if file, err := follow(c, name); err == nil {
				t.Fatalf("%s is served: %q", name, file.Data)
			}
		}
	})
}

// checkServed reads an address: a file of the installation, or an error that names the fault.
func checkServed(t *testing.T, c *catalog.Catalog, address string) {
	t.Helper()
	ref, err := catalog.ParseRef(address)
	if err != nil {
		if strings.ContainsAny(address, "\\") || len(address) > 1000 || strings.Contains(address, "%0") { // a name that no address can have
			return
		}
		t.Fatalf("the address %s: %v", address, err)
	}
	if !fs.ValidPath(ref.Path) {
		t.Fatalf("the address %s is %q", address, ref.Path)
	}
	file, err := follow(c, address)
	if err != nil {
		sound(t, err)
		return
	}
	if strings.Contains(string(file.Data), canary) {
		t.Fatalf("%s shows a file of the project: %q", address, file.Data)
	}
}

// sound checks that an error is one of the taxonomy, with a next step.
func sound(t *testing.T, err error) {
	t.Helper()
	if got := fault.From(err); got.Code == fault.Storage || got.Hint == "" || strings.Contains(got.Message+got.Hint, canary) {
		t.Fatalf("%s: %s (%s)", got.Code, got.Message, got.Hint)
	}
}

package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// TestConfig: the configuration of each installation is shown merged, with the files it is of.
func TestConfig(t *testing.T) {
	views, err := resolve.Config(project(t, "v6-skills", "v4"))
	if err != nil || len(views) != 3 {
		t.Fatalf("%d views, %v", len(views), err)
	}
	slices.SortFunc(views, func(a, b resolve.ConfigView) int { return strings.Compare(a.Installation, b.Installation) })
	v4, v6 := views[0], views[2]
	if v4.Installation != ".bmad-core" || v4.Version != "4.44.3" || strings.Join(v4.Files, " ") != "bmad://.bmad-core/core-config.yaml" {
		t.Errorf("version 4: %+v", v4)
	}
	if got, _ := v4.Values["core-config.yaml"].(map[string]any); got["devStoryLocation"] != "docs/stories" {
		t.Errorf("version 4: %v", v4.Values)
	}
	files := "bmad://_bmad/bmm/config.yaml bmad://_bmad/config.toml bmad://_bmad/config.user.toml bmad://_bmad/core/config.yaml bmad://_bmad/custom/config.toml bmad://_bmad/custom/config.user.toml"
	if v6.Installation != "_bmad" || v6.Source != catalog.Project || v6.Version != "6.12.0" || strings.Join(v6.Files, " ") != files {
		t.Errorf("version 6: %s %s %s %q", v6.Installation, v6.Source, v6.Version, v6.Files)
	}
	core, _ := v6.Values["core"].(map[string]any)
	agents, _ := v6.Values["agents"].(map[string]any)
	analyst, _ := agents["bmad-agent-analyst"].(map[string]any)
	for what, pair := range map[string][2]any{
		"the team's value":             {core["document_output_language"], "Spanish"},
		"the person's":                 {core["communication_language"], "Catalan"},
		"the installer's":              {core["project_name"], "lagoon"},
		"the team's of an agent":       {analyst["description"], "Asks the harbour master first."},
		"what nobody has said over it": {analyst["title"], "Business Analyst"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

// TestLayers: of the four layers of the configuration each goes over those before it, in the
// texts and in the lists of agents.
func TestLayers(t *testing.T) {
	files := layout(t, "v6-skills")
	layers := []string{"_bmad/config.toml", "_bmad/config.user.toml", "_bmad/custom/config.toml", "_bmad/custom/config.user.toml"}
	for _, name := range layers {
		files = with(files, map[string]string{name: ""})
	}
	files = with(files, map[string]string{".claude/skills/bmad-help/SKILL.md": "---\nname: bmad-help\n---\n{own_value}\n"})
	for n, name := range layers {
		value := string(rune('A' + n))
		files = with(files, map[string]string{name: "[core]\nown_value = \"" + value + "\"\n[agents.bmad-tea]\nname = \"" + value + "\"\n"})
		c := catalog.Open(source(files))
		if got := words(resolveItem(t, c, catalog.Task, "bmad-help")); !strings.HasSuffix(got, value+"\n") {
			t.Errorf("with %s: %q, want %s", name, got, value)
		}
		if got := find(t, c, catalog.Agent, "bmad-tea").DisplayName; got != value {
			t.Errorf("with %s the agent is %s, want %s", name, got, value)
		}
	}
}

// TestSecrets: the values of keys that name a secret are in no view, at any depth. The bytes of
// a file are still those of the file.
func TestSecrets(t *testing.T) {
	const value = "not-a-real-"
	files := with(layout(t, "v6-skills"), map[string]string{
		"_bmad/custom/config.toml": `
[core.deep.er]
API_KEY = "not-a-real-1"
[core.secrets]
inner = "not-a-real-2"
[[core.servers]]
name = "one"
AccessKey = "not-a-real-3"
auth = { bearer_token = ["not-a-real-4"], user = "shown" }
[modules.bmm]
private-key = "not-a-real-5"
passphrase = "not-a-real-6"
credentials = { a = "not-a-real-7" }
apiKeyFile = "not-a-real-8"
keyboard = "shown"
`,
		"_bmad/core/config.yaml": "user_name: Kim\nlist:\n  - {client_secret: not-a-real-9, url: shown}\n1: {passwd: not-a-real-10}\ntrue: {x: {db-password: not-a-real-11}}\n",
		"_bmad/custom/bmad-agent-dev.toml": "[agent]\ngithub_token = 'not-a-real-12'\n[agent.deep]\napi_key = 'not-a-real-13'\nshown = 'shown'\n" +
			"[[agent.menu]]\ncode = 'XX'\ndescription = 'x'\nprompt = 'y'\npassword = 'not-a-real-14'\n",
		".claude/skills/bmad-agent-dev/SKILL.md": "---\nname: bmad-agent-dev\n---\n{agent.github_token} {agent.deep.api_key} {agent.deep} {agent.menu} {api_key} {core.secrets.inner} {core.deep.er.API_KEY} {private-key} {passphrase}\n",
	})
	c := catalog.Open(source(files))
	views, err := resolve.Config(c)
	if err != nil {
		t.Fatal(err)
	}
	text := asJSON(t, views)
	if strings.Contains(text, value) {
		t.Errorf("the configuration shows a secret:\n%s", text)
	}
	if got := strings.Count(text, `"`+resolve.Masked+`"`); got != 17 || strings.Count(text, `"shown"`) != 3 {
		t.Errorf("%d values are masked, and %d shown:\n%s", got, strings.Count(text, `"shown"`), text)
	}
	for _, i := range c.Items() {
		r, err := resolve.Item(c, i, at)
		if err != nil {
			t.Errorf("%s: %v", i.Full(), err)
			continue
		}
		if text := describe(t, r); strings.Contains(text, value) {
			t.Errorf("%s shows a secret:\n%s", i.Full(), text)
		}
	}
	r := resolveItem(t, c, catalog.Agent, "bmad-agent-dev")
	if settings := asJSON(t, r.Settings); strings.Count(settings, resolve.Masked) != 3 || !strings.Contains(settings, `"shown": "shown"`) {
		t.Errorf("settings: %s", settings)
	}
	if got := words(r); !strings.HasSuffix(got, "{agent.github_token} {agent.deep.api_key} the settings above, under agent.deep the menu above {api_key} {core.secrets.inner} {core.deep.er.API_KEY} {private-key} {passphrase}\n") {
		t.Errorf("texts: %s", got)
	}
	for name, f := range files {
		if strings.HasPrefix(name, "_bmad/") && strings.Contains(string(f.Data), value) {
			if got := read(t, c, name); got != string(f.Data) {
				t.Errorf("%s is not as it is: %s", name, got)
			}
			if got := read(t, c, name+"?view=resolved"); strings.Contains(got, value) || !strings.Contains(got, resolve.Masked) {
				t.Errorf("%s, filled in: %s", name, got)
			}
		}
	}
	if got := read(t, c, "_bmad/bmm/config.yaml"); !strings.Contains(got, "api_key: not-a-real-api-key-of-yaml") {
		t.Errorf("the file of the fixture: %s", got)
	}
}

// TestSecretValues: no value shows a secret, whatever its key, in the configuration and in texts.
func TestSecretValues(t *testing.T) {
	tests := []struct{ config, want string }{
		{"x: postgres://u:pw-1@host/db", "postgres://********@host/db"},
		{"x: 'https://host/path?a=b:c@d'", "https://host/path?a=b:c@d"},
		{"x: 'git@host:repo and a@b.c'", "git@host:repo and a@b.c"},
		{"x: 'Authorization: Bearer abc.d3f'", "Authorization: Bearer ********"},
		{"x: All calls use bearer tokens, see docs.", "All calls use bearer tokens, see docs."},
		{"x: max_tokens=4096", "max_tokens=4096"},
		{"x: 'http://localhost:3000?u=a@b.c'", "http://localhost:3000?u=a@b.c"},
		{"x: 'http://localhost:3000/@scope/name'", "http://localhost:3000/@scope/name"},
		{"x: https://ghp_0123456789abcdefghij@github.com/x", "https://********@github.com/x"},
		{"auth_provider: keycloak", "keycloak"}, {"pass_rate: high", "high"}, {"session-cookie: abc", "{session-cookie}"},
		{"x: 'run with API_TOKEN=abc x=y'", "run with API_TOKEN=******** x=y"},
		{"x: plain text, tokens included", "plain text, tokens included"},
		{"auth: abc", "{auth}"}, {"my-pass: abc", "{my-pass}"}, {"bypass: abc", "abc"}, {"path: abc", "abc"}, {"author: abc", "abc"}, {"ssh_key: abc", "{ssh_key}"},
	}
	for _, tt := range tests {
		key, _, _ := strings.Cut(tt.config, ":")
		c := catalog.Open(source(with(layout(t, "v6-skills"), map[string]string{
			"_bmad/own/config.yaml": "a: b\n", "_bmad/core/config.yaml": tt.config + "\nlist:\n  - {name: API_KEY, value: hidden-1}\n", "_bmad/_config/manifest.yaml": "installation: {version: 6.12.0}\n",
			".claude/skills/bmad-help/SKILL.md": "---\nname: bmad-help\n---\n[{" + key + "}]\n",
		})))
		if got := words(resolveItem(t, c, catalog.Task, "bmad-help")); !strings.Contains(got, "["+tt.want+"]") {
			t.Errorf("%s: in a text %s, want %s", tt.config, got, tt.want)
		}
		views, err := resolve.Config(c)
		text := asJSON(t, views)
		if err != nil || strings.Contains(text, "hidden-1") || !strings.Contains(text, `"own.yaml"`) || !strings.HasPrefix(tt.want, "{") && !strings.Contains(text, `"`+tt.want+`"`) || strings.HasPrefix(tt.want, "{") && strings.Contains(text, `"abc"`) {
			t.Errorf("%s: in the configuration %s, %v", tt.config, text, err)
		}
	}
}

package resolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/format"
)

// realInstall returns a folder of TEST_BMAD_REAL_INSTALLS, or skips the test.
func realInstall(t *testing.T, version string) string {
	t.Helper()
	installs := os.Getenv("TEST_BMAD_REAL_INSTALLS")
	if installs == "" {
		t.Skip("TEST_BMAD_REAL_INSTALLS names no folder with real installations by version")
	}
	dir := filepath.Join(installs, version)
	if _, err := os.Stat(filepath.Join(dir, "_bmad", "scripts", "config_utils.py")); err != nil {
		t.Skipf("there is no installation of %s with the method's own scripts: %v", version, err)
	}
	if out, err := exec.Command("python3", "-c", "import tomllib").CombinedOutput(); err != nil {
		t.Skipf("there is no python3 with tomllib: %v: %s", err, out)
	}
	return dir
}

// python runs a program that has the method's own merging at hand, and returns its output.
func python(t *testing.T, install, program string, input []byte, args ...string) []byte {
	t.Helper()
	c := exec.Command("python3", append([]string{"-B", "-c", program, filepath.Join(install, "_bmad", "scripts")}, args...)...)
	c.Stdin = bytes.NewReader(input)
	var out, trouble bytes.Buffer
	c.Stdout, c.Stderr = &out, &trouble
	if err := c.Run(); err != nil {
		t.Fatalf("python3: %v: %s", err, trouble.String())
	}
	return out.Bytes()
}

// outcome is the result of merging: a value or an error.
type outcome struct {
	Value any  `json:"value"`
	Fails bool `json:"fails"`
}

const mergeCases = `
import json, sys
sys.path.insert(0, sys.argv[1])
from config_utils import ConfigError, merge_layers
out = []
for layers in json.load(sys.stdin):
    try:
        out.append({"value": merge_layers(layers), "fails": False})
    except ConfigError:
        out.append({"value": None, "fails": True})
json.dump(out, sys.stdout)
`

// TestMergeAsTheMethodDoes merges made-up layers by our rules and by the method's own script.
func TestMergeAsTheMethodDoes(t *testing.T) {
	install := realInstall(t, "6.12.0")
	r := rand.New(rand.NewPCG(6, 12))
	var cases [][]map[string]any
	for range 200 {
		var layers []map[string]any
		for range 2 + r.IntN(3) {
			layer := randomTable(r, 0)
			layer["m"] = randomList(r, 1, "code")
			layers = append(layers, layer)
		}
		cases = append(cases, layers)
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var want []outcome
	if err := json.Unmarshal(python(t, install, mergeCases, input), &want); err != nil || len(want) != len(cases) {
		t.Fatalf("%d answers for %d cases: %v", len(want), len(cases), err)
	}
	failed := 0
	for n, layers := range cases {
		got, err := format.MergeLayers(layers...)
		if (err != nil) != want[n].Fails {
			t.Errorf("case %d: %v, want an error: %v\n%s", n, err, want[n].Fails, toJSON(t, layers))
			continue
		}
		if want[n].Fails {
			failed++
			continue
		}
		if !reflect.DeepEqual(fromJSON(t, toJSON(t, got)), want[n].Value) {
			t.Errorf("case %d: %s\n got %s\nwant %s", n, toJSON(t, layers), toJSON(t, got), toJSON(t, want[n].Value))
		}
	}
	if failed == 0 || failed > len(cases)/2 {
		t.Errorf("%d of %d cases do not fit together: the cases are not what they are meant to be", failed, len(cases))
	}
}

// randomTable makes a table whose few keys meet those of others.
func randomTable(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for range r.IntN(4) {
		out[string(rune('a'+r.IntN(4)))] = randomValue(r, depth+1)
	}
	return out
}

func randomValue(r *rand.Rand, depth int) any {
	kind := r.IntN(8)
	if depth > 3 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		return string(rune('p' + r.IntN(4)))
	case 1:
		return float64(r.IntN(3))
	case 2:
		return r.IntN(2) == 0
	case 3, 4:
		return randomTable(r, depth)
	}
	return randomList(r, depth, [...]string{"code", "id", "code", "id", "", "text"}[r.IntN(6)])
}

// randomList makes a list of tables with a key, or with none, or of plain values.
func randomList(r *rand.Rand, depth int, key string) []any {
	out := []any{}
	for range r.IntN(4) {
		if key == "text" {
			out = append(out, randomValue(r, 4))
			continue
		}
		table := randomTable(r, depth+1)
		if key != "" && r.IntN(20) > 0 {
			table[key] = string(rune('A' + r.IntN(3)))
		}
		if r.IntN(12) == 0 {
			table["code"] = "K"
		}
		if r.IntN(30) == 0 {
			table[[...]string{"code", "id"}[r.IntN(2)]] = [...]any{"", 1.0, true}[r.IntN(3)]
		}
		out = append(out, table)
	}
	return out
}

const customizeCases = `
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from config_utils import ConfigError, load_central_config, load_customization
root = Path(sys.argv[2])
out = {}
for base in sorted(root.glob(".claude/skills/*/customize.toml")):
    try:
        out[base.parent.name] = {"value": load_customization(root, base.parent), "fails": False}
    except ConfigError:
        out[base.parent.name] = {"value": None, "fails": True}
out["config.toml"] = {"value": load_central_config(root), "fails": False}
json.dump(out, sys.stdout, default=str)
`

// team and person are layers that change something of every kind of skill.
const (
	team = "[agent]\nicon = \"*\"\nprinciples = [\"Numbers before words.\"]\n\n[[agent.menu]]\ncode = \"CP\"\ndescription = \"Ours\"\nprompt = \"Ask us.\"\n\n" +
		"[workflow]\non_complete = \"Ring the bell.\"\npersistent_facts = [\"The boats are wood.\"]\n\n[[workflow.review_layers]]\nid = \"blind-hunter\"\nname = \"Blind\"\ninstruction = \"\"\n"
	person = "[agent]\nrole = \"Mine\"\n\n[[agent.menu]]\ncode = \"CP\"\ndescription = \"Mine\"\nprompt = \"Ask me.\"\n\n[workflow]\nopen_spec = \"mine\"\nactivation_steps_append = [\"Say so.\"]\n"
)

// TestCustomizeAsTheMethodDoes merges the settings of every skill of a real installation, with
// a team's and a person's layer over each, by our rules and by the method's own script.
func TestCustomizeAsTheMethodDoes(t *testing.T) {
	install := realInstall(t, "6.12.0")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(install)); err != nil {
		t.Fatal(err)
	}
	settings, err := filepath.Glob(filepath.Join(dir, ".claude", "skills", "*", catalog.CustomizeFile))
	if err != nil || len(settings) == 0 {
		t.Fatalf("no skill has settings: %v", err)
	}
	for n, name := range settings {
		id := filepath.Base(filepath.Dir(name))
		for ending, text := range map[string]string{".toml": team, ".user.toml": person} {
			if ending == ".user.toml" && n%2 == 0 {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, "_bmad", "custom", id+ending), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "_bmad", "custom", "config.toml"), []byte("[core]\nuser_name = \"Kim\"\n\n[modules.bmm]\nproject_knowledge = \"{project-root}/k\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := map[string]outcome{}
	if err := json.Unmarshal(python(t, install, customizeCases, nil, dir), &want); err != nil {
		t.Fatal(err)
	}

	c := catalog.Open(catalog.Source{Name: catalog.Project, Dir: dir, FS: os.DirFS(dir)})
	compared := 0
	for _, item := range c.Items() {
		id := filepath.Base(item.Dir)
		expected, ok := want[id]
		if !item.Skill || !ok {
			continue
		}
		compared++
		r, err := newResolver(c, &item, Target{})
		if err == nil {
			_, _, err = r.loadLayers()
		}
		if (err != nil) != expected.Fails {
			t.Errorf("%s: %v, want an error: %v", id, err, expected.Fails)
			continue
		}
		if got := fromJSON(t, toJSON(t, r.tables)); !expected.Fails && !reflect.DeepEqual(got, expected.Value) {
			t.Errorf("%s:\n got %v\nwant %v", id, got, expected.Value)
		}
	}
	if compared != len(settings) || compared != len(want)-1 {
		t.Errorf("%d skills of %d were compared", compared, len(settings))
	}
	s, err := readSettings(c.Origins()[0].Installations[0], "bmm")
	if err != nil || !reflect.DeepEqual(fromJSON(t, toJSON(t, s.central)), want["config.toml"].Value) {
		t.Errorf("config.toml: %v\n got %v\nwant %v", err, s.central, want["config.toml"].Value)
	}
	if !strings.Contains(fmt.Sprint(s.central), "Kim") {
		t.Error("the team's layer of config.toml was not read")
	}
}

const renderCases = `
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import render_skill
root = Path(sys.argv[2])
out = {}
for skill in sys.argv[3:]:
    entry = render_skill.render(root, root / ".claude" / "skills" / skill)
    out[skill] = {"at": str(entry.parent), "texts": {p.relative_to(entry.parent).as_posix(): p.read_text(encoding="utf-8") for p in entry.parent.rglob("*.md")}}
json.dump(out, sys.stdout)
`

// TestRenderAsTheMethodDoes renders every skill of a real installation that has to be rendered,
// natively and by the method's own script. Ours differ in one thing: files are addresses.
func TestRenderAsTheMethodDoes(t *testing.T) {
	install := realInstall(t, "6.12.0")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(install)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"bmad-build.toml":           "[workflow]\non_complete = \"Ring the bell.\"\npersistent_facts = [\"The boats\\nare wood.\"]\n\n[[workflow.review_layers]]\nid = \"blind-hunter\"\nname = \"Blind\"\ninstruction = \"\"\n\n[[workflow.review_layers]]\nid = \"tide\"\nname = \"Tide\"\nwhen = \"it rains\"\ninstruction = \"Look.\"\n",
		"bmad-build-auto.user.toml": "[workflow]\nactivation_steps_append = [\"Say so.\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "_bmad", "custom", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := catalog.Open(catalog.Source{Name: catalog.Project, Dir: dir, FS: os.DirFS(dir)})
	var skills []string
	for _, i := range c.Items() {
		if i.Skill && entryIsTemplate(&i) {
			skills = append(skills, i.Name)
		}
	}
	if len(skills) < 2 {
		t.Fatalf("the skills to be rendered are %q", skills)
	}
	var want map[string]struct {
		At    string
		Texts map[string]string
	}
	if err := json.Unmarshal(python(t, install, renderCases, nil, append([]string{dir}, skills...)...), &want); err != nil {
		t.Fatal(err)
	}
	ctx := Target{Project: dir}
	for _, id := range skills {
		item := c.Origins()[0].Skills[id]
		for name, text := range want[id].Texts {
			got, _, err := Text(c, catalog.Ref{Path: item.Dir + "/" + name, Resolved: true}, ctx)
			if err != nil {
				t.Errorf("%s: %s: %v", id, name, err)
				continue
			}
			// If their text names a file of the rendered folder, ours has its address, or its
			// path if rendering changes nothing in it.
			expected := strings.ReplaceAll(text, want[id].At+"/", "FILE/")
			expected = strings.ReplaceAll(expected, want[id].At, filepath.Join(dir, item.Dir))
			ours := strings.ReplaceAll(string(got.Data), "bmad://"+item.Dir+"/", "FILE/")
			ours = strings.ReplaceAll(strings.ReplaceAll(ours, "?view=resolved", ""), filepath.Join(dir, item.Dir)+"/", "FILE/")
			expected = strings.ReplaceAll(expected, filepath.Join(dir, item.Dir)+"/", "FILE/")
			if ours != expected {
				t.Errorf("%s: %s\n got %s\nwant %s", id, name, ours, expected)
			}
		}
		if len(want[id].Texts) == 0 {
			t.Errorf("%s: nothing was rendered", id)
		}
	}
}

func fromJSON(t testing.TB, text string) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

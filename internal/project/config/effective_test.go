package config_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestEffective: each setting is shown as it holds, with the place that won and the others; a setting of the project that
// does not count is not shown as its. No place shows a password.
func TestEffective(t *testing.T) {
	c, _ := notices(t, map[string]string{
		".config/bmad-mcp/config.yaml": "gate: strict\nmax_rounds: 2\nlanguage: zh\nquorum: 2\nstages: {po: {gate_score: 92, gate: auto}}\n" +
			"store: postgres://ann:secret@db/bmad?password=secret\nsources: ['git+https://ann:secret@h/r.git']\n",
		"p/.claude/bmad-task.yaml": "gate: relay\nmax_rounds: 9\nlanguage: en\nmodel: cheap\nverify: make test\nquorum: 3\nmemory: on\n" +
			"stages:\n  po: {gate_score: 50}\n  architect: {gate_score: 97}\n  dev: {engines: [claude]}\n",
	}, "BMAD_VERIFY_TIMEOUT=90s", "BMAD_GATE=auto", "BMAD_LANGUAGE=zh", "BMAD_STORE=postgres://eve:secret@x/y", "BMAD_QA_VERIFY=make e2e")
	got := map[string]string{}
	for _, s := range c.Effective() {
		others := make([]string, len(s.Overrides))
		for i, m := range s.Overrides {
			others[i] = m.Text().String()
		}
		got[s.Key] = fmt.Sprintf("%s|%s|%s|%v|%s", s.Value, s.Origin.Place(), s.Guard, s.Changed, strings.Join(others, ", "))
	}
	const own, user = ".claude/bmad-task.yaml, line ", "~/.config/bmad-mcp/config.yaml, line "
	for key, want := range map[string]string{
		"gate":                        "strict|" + user + "1|tighten|true|relay (" + own + "1), auto (BMAD_GATE)",
		"quorum":                      "3|" + own + "6|tighten|true|2 (" + user + "4)",
		"max_rounds":                  "2|" + user + "2|tighten|true|9 (" + own + "2)",
		"language":                    "zh|" + user + "3|first|true|en (" + own + "3), zh (BMAD_LANGUAGE)",
		"document_language":           "auto|default||false|",
		"verify_timeout":              "1m30s|BMAD_VERIFY_TIMEOUT|first|true|",
		"model":                       "|default|person|false|cheap (" + own + "4)",
		"memory":                      "auto|default|tighten|false|on (" + own + "7)",
		"audit_floor":                 "60|default|tighten|false|",
		"store":                       "postgres://ann@db/bmad|" + user + "6|tighten|true|postgres://eve@x/y (BMAD_STORE)",
		"stages.po.gate":              "auto|" + user + "5|tighten|false|strict (" + user + "1), relay (" + own + "1), auto (BMAD_GATE)",
		"stages.po.gate_score":        "92|" + user + "5|tighten|true|50 (" + own + "9)",
		"stages.architect.gate_score": "97|" + own + "10|tighten|true|",
		"stages.dev.engines":          "claude|" + own + "11||true|",
		"stages.dev.verify":           "make test|" + own + "5|first|true|",
		"stages.qa.verify":            "make e2e|BMAD_QA_VERIFY|first|true|make test (" + own + "5)",
		"verify":                      "",
		"stages.qa.gate":              "",
	} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
	if text := fmt.Sprint(got); strings.Contains(text, "secret") || !strings.Contains(text, "h/r.git") {
		t.Errorf("a password is shown, or a repository is not: %s", text)
	}
	// One command for all is one row; without any, there is an empty one.
	for settings, want := range map[string]string{"verify: make": "make", "": ""} {
		c, err := load(t, settings, "")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range c.Effective() {
			if strings.HasSuffix(s.Key, "verify") {
				if n++; s.Key != "verify" || s.Value != want {
					t.Errorf("%q: got %+v", settings, s)
				}
			}
		}
		if n != 1 {
			t.Errorf("%q: %d rows", settings, n)
		}
	}
}

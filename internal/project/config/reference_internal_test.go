package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	aboutRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` .* \\| (.+) \\|$")
	guarded  = map[Guard]string{
		"":          "sets it",
		Tighten:     "tightens it",
		PersonFirst: "sets it if you do not",
		PersonOnly:  "has no say",
	}
)

// TestReference keeps the page with every setting: whose it is, and its default. People write the last column.
func TestReference(t *testing.T) {
	page := filepath.Join("..", "..", "..", "docs", "reference", "settings.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	ofAll, ofStage, _ := strings.Cut(string(text), "## Of a stage")
	values := defaults()
	var b strings.Builder
	b.WriteString("# Settings\n\nEvery key of a settings file. [Configuration](../configuration.md) has the order in which files and variables count, and\n" +
		"`bmad-mcp settings` shows what is in force.\n\n| Key | Variable | Default | A project's file | About |\n|---|---|---|---|---|\n")
	row := func(page, key, variable string, guard Guard) {
		about := ""
		for _, m := range aboutRow.FindAllStringSubmatch(page, -1) {
			if m[1] == key {
				about = m[2]
			}
		}
		if about == "" {
			t.Errorf("the page says nothing about %s", key)
		}
		value := values[key]
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", key, variable, value, strings.TrimSuffix(guarded[guard]+": "+tighterOf(key), ": "), about)
	}
	for _, s := range settings {
		variable := "`BMAD_" + strings.ToUpper(s.key) + "`"
		if slices.Contains([]string{"checks", "notify", "tool_servers"}, s.key) { // of the person's file alone
			variable = "–"
		}
		if s.set != nil {
			row(ofAll, s.key, variable, s.guard)
		}
	}
	b.WriteString("\n## Of a stage\n\nBelow `stages:` and the stage's id, such as `po`. The variable has the stage in its name, such as `BMAD_PO_GATE`.\n\n" +
		"| Key | Variable | Default | A project's file | About |\n|---|---|---|---|---|\n")
	for _, s := range stageSettings {
		row(ofStage, s.name, "`BMAD_STAGE_"+strings.ToUpper(s.name)+"`", stageGuard(s.name))
	}
	golden.Check(t, page, b.String())
}

// tighterOf says which of two values of a rule is the tighter one: words, the loosest first, or higher or fewer.
func tighterOf(key string) string {
	return map[string]string{
		"gate": strings.Join(workflow.Names(workflow.GateModes()), " < "), "ran": strings.Join(workflow.Names(workflow.Proofs()), " < "),
		"pause": strings.Join(workflow.Names(workflow.PauseModes()), " < "), "four_eyes": "false < true",
		"gate_score": "higher", "audit_floor": "higher", "quorum": "higher", "approvers": "fewer",
	}[key]
}

// defaults returns the values of the settings without any file or variable; those of a stage are of the first
// that has one.
func defaults() map[string]string {
	out, c := map[string]string{}, Default()
	for _, s := range c.Effective() {
		key := s.Key[strings.LastIndex(s.Key, ".")+1:]
		if out[key] == "" && s.Value != "0" {
			out[key] = strings.TrimPrefix(strings.Replace(filepath.ToSlash(s.Value), "m0s", "m", 1), "/")
		}
	}
	return out
}

// stageGuard returns the guard of a setting of one stage: that of the setting for all, or of a rule.
func stageGuard(name string) Guard {
	for _, s := range settings {
		if s.key == name {
			return s.guard
		}
	}
	if slices.ContainsFunc(policyRules, func(r policyRule) bool { return r.name == name }) {
		return Tighten
	}
	return ""
}

// TestSettingsAreFew: each setting is one more to read about. A new one has to be worth more than an old one.
func TestSettingsAreFew(t *testing.T) {
	if n := len(settings) - 1; n > 34 { // stages is a block
		t.Errorf("there are %d settings, want at most 34", n)
	}
	if n := len(stageSettings); n > 8 {
		t.Errorf("there are %d settings of a stage, want at most 8", n)
	}
}

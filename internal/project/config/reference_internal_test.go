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
)

var (
	exampleLine = regexp.MustCompile(`(?m)^( *)([a-z_]+): .*? # (.*)$`)
	ofVariable  = regexp.MustCompile(`^BMAD_[^;]*(; *|$)`)
	otherPage   = regexp.MustCompile(`see docs/([a-z-]+)\.md`)
	guarded     = map[Guard]string{
		"":          "sets it",
		Tighten:     "tightens it",
		PersonFirst: "sets it if you do not",
		PersonOnly:  "has no say",
	}
)

// TestReference keeps the page with every setting: whose it is, its default, and what its example in the other
// pages says about it.
func TestReference(t *testing.T) {
	about, values := examplesOfPages(t), defaults()
	var b strings.Builder
	b.WriteString("# Settings\n\nEvery key of a settings file. [Configuration](../configuration.md) shows them in an example, with the order in which files\n" +
		"and variables count.\n\n| Key | Variable | Default | A project's file | About |\n|---|---|---|---|---|\n")
	row := func(key, variable string, guard Guard, said ...string) {
		said = slices.DeleteFunc(said, func(text string) bool { return text == "" })
		if len(said) == 0 {
			t.Errorf("no example of the pages has %s", key)
			said = []string{""}
		}
		value := values[key]
		if value != "" {
			value = "`" + value + "`"
		}
		if guard == "" && strings.Contains(said[0], "user file") {
			guard = PersonOnly
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", key, variable, value, guarded[guard], said[0])
	}
	for _, s := range settings {
		variable := "`BMAD_" + strings.ToUpper(s.key) + "`"
		if slices.Contains([]string{"checks", "tool_servers"}, s.key) { // of the person's file alone
			variable = "–"
		}
		if s.set != nil {
			row(s.key, variable, s.guard, about[s.key])
		}
	}
	b.WriteString("\n## Of a stage\n\nBelow `stages:` and the stage's id, such as `po`. The variable has the stage in its name, such as `BMAD_PO_GATE`.\n\n" +
		"| Key | Variable | Default | A project's file | About |\n|---|---|---|---|---|\n")
	for _, s := range stageSettings {
		row(s.name, "`BMAD_STAGE_"+strings.ToUpper(s.name)+"`", stageGuard(s.name), about[s.name], about["  "+s.name])
	}
	golden.Check(t, filepath.Join("..", "..", "..", "docs", "reference", "settings.md"), b.String())
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

// examplesOfPages returns what the comments behind the settings in the examples of the pages say, by the
// key, which is indented below a stage.
func examplesOfPages(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if strings.HasSuffix(name, ".zh") {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range exampleLine.FindAllStringSubmatch(string(text), -1) {
			key, said := m[2], otherPage.ReplaceAllString(ofVariable.ReplaceAllString(m[3], ""), "[$1](../$1.md)")
			if m[1] != "" {
				key = "  " + key
			}
			if name != "configuration" {
				said = strings.TrimPrefix(said+"; ["+name+"](../"+name+".md)", "; ")
			}
			if out[key] == "" || name == "configuration" {
				out[key] = said
			}
		}
	}
	return out
}

// TestSettingsAreFew: each setting is one more to read about. A new one has to be worth more than an old one.
func TestSettingsAreFew(t *testing.T) {
	if n := len(settings) - 1; n > 32 { // stages is a block
		t.Errorf("there are %d settings, want at most 32", n)
	}
	if n := len(stageSettings); n > 8 {
		t.Errorf("there are %d settings of a stage, want at most 8", n)
	}
}

package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	yamlBlock  = regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```$")
	exampleRow = regexp.MustCompile(`(?m)^( *)([a-z_]+): (.+?) +# (BMAD_[A-Z_]+)`)
	validKeys  = regexp.MustCompile(`valid keys: (.*)`)
)

// TestConfigurationPage: the example in docs/configuration.md can be read, each of its variables
// sets the value beside it, and every setting is in an example of some page.
func TestConfigurationPage(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "docs")
	page, err := os.ReadFile(filepath.Join(folder, "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := yamlBlock.FindSubmatch(page)
	if example == nil {
		t.Fatal("the page has no example")
	}
	text := string(example[1])
	if _, err := load(t, "", text); err != nil {
		t.Errorf("the example: %v", err)
	}
	rows := exampleRow.FindAllStringSubmatch(text, -1)
	if len(rows) < 25 {
		t.Errorf("got %d rows with a variable, want the 25 of the example at least", len(rows))
	}
	for _, row := range rows {
		name := "BMAD_" + strings.ToUpper(row[2])
		if row[1] != "" {
			name = "BMAD_PO_" + strings.ToUpper(row[2])
		}
		if row[4] != name {
			t.Errorf("%s: got the variable %s, want %s", row[2], row[4], name)
		}
		value := strings.ReplaceAll(strings.Trim(row[3], "[]"), ", ", ",")
		if value == "" { // an empty list, which is the default
			continue
		}
		if _, err := load(t, "", "", row[4]+"="+value); err != nil {
			t.Errorf("%s=%s: %v", row[4], value, err)
		}
	}
	checkEverySetting(t, folder)
}

func checkEverySetting(t *testing.T, folder string) {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllSubmatch(page, -1) {
			examples.WriteString("\n" + string(block[1]))
		}
	}
	_, err = load(t, "", "nonsense: 1\n")
	if err == nil || !validKeys.MatchString(err.Error()) {
		t.Fatalf("got %v, want the valid keys", err)
	}
	for key := range strings.SplitSeq(validKeys.FindStringSubmatch(err.Error())[1], ", ") {
		if !strings.Contains(examples.String(), "\n"+key+":") {
			t.Errorf("no example in docs has the setting %s", key)
		}
	}
}

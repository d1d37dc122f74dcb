package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	yamlBlock  = regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```$")
	exampleRow = regexp.MustCompile(`(?m)^( *)([a-z_]+): (.+?) +# (BMAD_[A-Z_]+)`)
)

// TestConfigurationPage: the page begins with nine settings, its examples can be read, and each of their variables sets the
// value beside it.
func TestConfigurationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]string
	for _, example := range yamlBlock.FindAllSubmatch(page, -1) {
		keys = append(keys, nil)
		if _, err := load(t, "", string(example[1])); err != nil {
			t.Errorf("%s: %v", example[1], err)
		}
		for _, row := range exampleRow.FindAllStringSubmatch(string(example[1]), -1) {
			keys[len(keys)-1] = append(keys[len(keys)-1], row[2])
			name := "BMAD_" + strings.ToUpper(row[2])
			if row[1] != "" {
				name = "BMAD_PO_" + strings.ToUpper(row[2])
			}
			if row[4] != name {
				t.Errorf("%s: got the variable %s, want %s", row[2], row[4], name)
			}
			value := strings.ReplaceAll(strings.Trim(row[3], "[]"), ", ", ",")
			if _, err := load(t, "", "", row[4]+"="+value); err != nil {
				t.Errorf("%s=%s: %v", row[4], value, err)
			}
		}
	}
	if len(keys) == 0 || !slices.Equal(keys[0], []string{"gate", "verify", "workflow", "language", "pause", "store", "approvers", "four_eyes", "quorum"}) {
		t.Errorf("the page begins with %v", keys)
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// fill writes a template, such as a manifest of a package manager, with the values of KEY=VALUE, and
// with the checksums of SUMS: {{sum "bmad-mcp-linux-amd64.tar.gz"}}. SUMS may be - if it needs none.
func fill(from, to, sums string, pairs []string) error {
	known := map[string]string{}
	if sums != "-" {
		text, err := os.ReadFile(sums) //nolint:gosec // named by the script
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if sum, file, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
				known[file] = sum
			}
		}
	}
	values := map[string]string{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%s is not KEY=VALUE", pair)
		}
		values[key] = value
	}
	t, err := template.New(filepath.Base(from)).Option("missingkey=error").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"sum": func(parts ...string) (string, error) {
			if sum := known[strings.Join(parts, "")]; sum != "" {
				return sum, nil
			}
			return "", errors.New("no checksum of " + strings.Join(parts, ""))
		},
	}).ParseFiles(from)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(b.String()), 0o644) //nolint:gosec // for everyone to read
}

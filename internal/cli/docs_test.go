package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)(?: title=(\\S+))?\n(.*?)^```$")

// TestDocs runs the commands of the README and of the pages in docs, with the files that they
// show, in the order of the page. Chinese pages have the same commands.
func TestDocs(t *testing.T) {
	dir := t.TempDir()
	for _, page := range docsPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var script, files strings.Builder
		if filepath.Base(page) == "run.md" {
			script.WriteString("[!unix] skip 'the stand-in of an engine is started by a shell'\nenv PATH=$WORK/bin${:}$PATH\nenv STANDIN=$WORK/standin\nenv TMPDIR=$WORK\ndemo $STANDIN\nchmod 755 bin/claude\n")
			files.WriteString("-- bin/claude --\n#!/bin/sh\nexec stand-in \"$@\"\n")
		}
		if filepath.Base(page) == "team.md" {
			script.WriteString("[!postgres] skip 'PostgreSQL is not installed'\npostgres\n")
		}
		if filepath.Base(page) == "fleet.md" {
			script.WriteString("[!postgres] skip 'PostgreSQL is not installed'\n[!exec:git] skip 'git is not installed'\npostgres\n" +
				"exec git -C project init -q\nexec git -C project add .\nexec git -C project -c user.name=Ann -c user.email=ann@example.com commit -q -m Begin\n")
		}
		script.WriteString("cd project\n")
		n := 0
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			switch {
			case m[2] != "":
				n++
				fmt.Fprintf(&files, "-- shown-%d --\n%s", n, m[3])
				fmt.Fprintf(&script, "mkdir %s\ncp $WORK/shown-%d %s\n", filepath.ToSlash(filepath.Dir(m[2])), n, m[2])
			case m[1] == "sh":
				for line := range strings.Lines(m[3]) {
					if line = strings.TrimSpace(line); !strings.HasPrefix(line, "bmad-mcp ") {
						t.Fatalf("%s: the test cannot run %q", page, line)
					}
					fmt.Fprintf(&script, "exec %s\n", strings.ReplaceAll(line, `"`, "'"))
				}
			}
		}
		name := filepath.Base(filepath.Dir(page)) + "-" + strings.TrimSuffix(filepath.Base(page), ".md") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script.String()+files.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: setUpScript, Condition: hasPostgres,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"demo": demoDocuments, "postgres": postgres}})
}

// docsPages returns the English pages that people write.
func docsPages(t *testing.T) (out []string) {
	t.Helper()
	for _, folder := range []string{".", "docs", "docs/hosts"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*.md"))
		if err != nil || len(pages) == 0 {
			t.Fatal(pages, err)
		}
		for _, page := range pages {
			if !strings.HasSuffix(page, ".zh.md") && filepath.Base(page) != "CLAUDE.md" {
				out = append(out, page)
			}
		}
	}
	return out
}

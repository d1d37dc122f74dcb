// Package docs has the pages of the documentation, so that the program can show them.
package docs

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// files leaves out the page seeds: a quarter of all pages, for readers of the source.
//
//go:embed [^s]*.md s[^e]*.md se[^e]*.md hosts/*.md reference/*.md
var files embed.FS

// extension ends the file of a page. That of a translation has its language before it: decide.zh.md.
const extension = ".md"

// Index is the page that leads to all others.
const Index = "README"

// Names lists the pages, such as decide and hosts/codex, sorted; the index is left out.
func Names() (out []string) {
	_ = fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error {
		name, isPage := strings.CutSuffix(path, extension)
		if err == nil && isPage && name != Index && !strings.Contains(name, ".") {
			out = append(out, name)
		}
		return err
	})
	slices.Sort(out)
	return out
}

// Page returns the text of a page in a language, else in English; "" if no page has the name.
func Page(name, language string) string {
	if strings.Contains(name, ".") {
		return ""
	}
	for _, file := range []string{name + "." + language + extension, name + extension} {
		if text, err := files.ReadFile(file); err == nil {
			return string(text)
		}
	}
	return ""
}

// Title returns the heading of a page's text, and the text below it.
func Title(text string) (title, rest string) {
	title, rest, _ = strings.Cut(text, "\n")
	return strings.TrimPrefix(title, "# "), strings.TrimSpace(rest)
}

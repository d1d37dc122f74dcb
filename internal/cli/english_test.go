package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notOurs are the parts of an output that are in no language, or in that of their author: what is
// quoted, command lines, changes of files, and names that the program has in every language.
var notOurs = []*regexp.Regexp{
	regexp.MustCompile("(?s)`[^`]*`|“[^”]*”|「[^」]*」|\"[^\"\n]*\""),
	regexp.MustCompile(`(?m)^ *[-+@] ?.*$`),
	regexp.MustCompile(`(?m)^\t.*$`),
	regexp.MustCompile(`(?:bmad-mcp|claude|go install|echo|openssl)(?: [!-~]+)+`),
	regexp.MustCompile(`[!-~]*/[!-~]*`),
}

// sentence matches four English words in a row, of which at least one is not all capitals.
var sentence = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?(?: [A-Za-z]*[a-z]+(?:'[a-z]+)?){3,}`)

// EnglishIn returns what an output in Chinese has of English sentences, but for words of the
// person's own texts.
func EnglishIn(output string, own ...string) (found []string) {
	for _, part := range notOurs {
		output = part.ReplaceAllString(output, "\x00")
	}
	for _, m := range sentence.FindAllString(output, -1) {
		theirs := false
		for _, text := range own {
			theirs = theirs || strings.Contains(text, m)
		}
		if !theirs {
			found = append(found, m)
		}
	}
	return found
}

// OwnTexts returns the texts of the files in a folder.
func OwnTexts(folder string) (texts []string, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, name := range names {
		data, readErr := os.ReadFile(name)
		if readErr != nil {
			return nil, readErr
		}
		texts = append(texts, string(data))
	}
	return texts, err
}

// TestEnglishIsFound: the helper sees a sentence of ours, and nothing else.
func TestEnglishIsFound(t *testing.T) {
	for text, want := range map[string]int{
		"会话位于 po：nothing was changed on disk":                             1,
		"not allowed yet here, so it waits":                               1,
		"PO → Architect → SM → Dev → Review → QA":                         0,
		"  bmad-mcp task submit a-b --stage po --claude-result-path FILE": 0,
		"用 `generate the document for it` 说明":                             0,
		"你写道：“please do it again now”":                                    0,
		"  +  adds a line to it":                                          0,
		"见 docs/some folder/of/it":                                        0,
		"阶段 po generating":                                                0,
		"Claude Code，Claude Desktop，VS Code":                              0,
		"the answer of its author":                                        0,
	} {
		if got := EnglishIn(text, "x the answer of its author y"); len(got) != want {
			t.Errorf("%q: found %q", text, got)
		}
	}
}

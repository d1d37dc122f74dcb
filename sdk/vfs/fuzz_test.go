package vfs

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzEdit(f *testing.F) {
	f.Add("price X", "X", "$$5 and $&", false)
	f.Add("aaa", "aa", "é", true)
	f.Add("\xff", "", "\x00", true)
	f.Fuzz(func(t *testing.T, text, before, after string, all bool) {
		got, n, err := replaceText(text, before, after, all)
		if err != nil {
			if got != "" || n != 0 {
				t.Errorf("a refused edit returns %q, %d", got, n)
			}
			return
		}
		if want := strings.Join(strings.Split(text, before), after); got != want || n < 1 || n > 1 && !all {
			t.Errorf("%d times: %q, want %q", n, got, want)
		}
	})
}

func FuzzGlob(f *testing.F) {
	for _, glob := range []string{"/**/*.md", "/a?[!b]{c,[d-f]}", `/\`, "/[]", "/{", "/[^]", "/[[:alpha:]]", "/**é\xff", "/[a\\]"} {
		f.Add(glob, "/a/b.md")
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(glob) > maxPath {
			return
		}
		_, match, err := globIn("/", glob)
		if err != nil {
			return
		}
		match.MatchString(name)
		clean, err := Clean("/" + name)
		if err != nil {
			return
		}
		itself, err := globExpression(quoteGlob(clean))
		if err != nil || !regexp.MustCompile(`\A(?:`+itself+`)\z`).MatchString(clean) {
			t.Errorf("%q does not match itself: %q, %v", clean, itself, err)
		}
		if !strings.Contains(glob, "**") && !strings.HasPrefix(glob, "/") && !strings.ContainsAny(glob, "/{") && strings.Count(clean, "/") > 1 && match.MatchString(clean) {
			t.Errorf("%q crosses a slash in %q", glob, clean)
		}
	})
}

func FuzzShellWords(f *testing.F) {
	for _, command := range []string{`echo "a b" 'c' d\ e`, "a;b", `"\`, "'", "$(x)", "\\\x00", "ls -la /é"} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		words, err := shellWords(command)
		if err == nil && len(words) == 0 {
			t.Error("a command without words")
		}
		// Quoted words are read back as they are.
		var quoted []string
		for _, word := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		again, err2 := shellWords(strings.Join(quoted, " "))
		if err == nil && (err2 != nil || strings.Join(again, "\x00") != strings.Join(words, "\x00")) {
			t.Errorf("%q: %q, then %q, %v", command, words, again, err2)
		}
	})
}

func FuzzExecute(f *testing.F) {
	top := f.TempDir()
	in := filepath.Join(top, "in")
	if err := os.MkdirAll(filepath.Join(in, ".git"), 0o755); err != nil {
		f.Fatal(err)
	}
	const secret = "SWORDFISH"
	for name, text := range map[string]string{"in/.git/config": secret, "secret": secret, "in/a.md": "text\nmore\n"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	dir, err := OpenDir(in, DirOptions{ReadOnly: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = dir.Close() })
	for _, t := range allTools {
		f.Add(t.Name, `{"file_path":"/a.md","path":"/","pattern":"*","content":"x","old_string":"t","new_string":"u","command":"cat /a.md"}`)
	}
	f.Add("read_file", `{"file_path":"/../secret"}`)
	f.Add("read_file", `{"file_path":"/.GIT/config","offset":-1,"limit":9223372036854775807}`)
	f.Add("grep_search", `{"pattern":"(?i)s","glob":"**"}`)
	f.Add("bash_command", "{\"command\":\"cat '/.git/config'\"}\xff")
	f.Fuzz(func(t *testing.T, name, input string) {
		box := NewToolbox(NewOverlay(dir, nil), ToolOptions{})
		text, failed := box.Execute(context.Background(), name, input)
		if !utf8.ValidString(text) || len(text) > MaxResult+1000 || failed && text == "" || strings.Contains(text, "by a fault of its own") {
			t.Errorf("%d bytes: %.200q", len(text), text)
		}
		if strings.Contains(text, secret) && !strings.Contains(input, "W") && !strings.Contains(input, `\u`) && !strings.Contains(name, "W") {
			t.Errorf("a secret is read: %.200q", text)
		}
	})
}

func FuzzGrep(f *testing.F) {
	for _, pattern := range []string{"a.*b", "(?i)é", "(", "^$", "(?s).{5}", "[[:alpha:]]+", `\bx`} {
		f.Add(pattern, "first\naxb é\r\n\nlast", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, ignoreCase bool) {
		m := NewMem(nil)
		if len(text) > MaxFile || m.Write("/f", []byte(text)) != nil {
			return
		}
		in, err := json.Marshal(map[string]any{"pattern": pattern, "case_insensitive": ignoreCase})
		if err != nil {
			t.Fatal(err)
		}
		got, failed := NewToolbox(m, ToolOptions{}).Execute(context.Background(), "grep_search", string(in))
		if !utf8.ValidString(got) || len(got) > MaxResult+1000 || strings.Contains(got, "by a fault of its own") {
			t.Errorf("%d bytes: %.200q", len(got), got)
		}
		if !failed && !strings.HasPrefix(got, "/f:") && !strings.HasPrefix(got, "No matches found for pattern: ") {
			t.Errorf("%.200q", got)
		}
	})
}

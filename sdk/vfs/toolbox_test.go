package vfs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

func input(pairs ...any) string {
	in := map[string]any{}
	for n := 0; n < len(pairs); n += 2 {
		in[pairs[n].(string)] = pairs[n+1]
	}
	text, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// use uses a tool; the result of one that failed begins with "ERROR ".
func use(b *vfs.Toolbox, name string, pairs ...any) string {
	text, failed := b.Execute(context.Background(), name, input(pairs...))
	if failed {
		return "ERROR " + text
	}
	return text
}

func withFiles(t testing.TB, files ...string) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem(nil)
	for n := 0; n < len(files); n += 2 {
		write(t, m, files[n], files[n+1])
	}
	return m
}

// call is a tool with its arguments, and its result.
type call struct {
	tool string
	args []any
	want string
}

func with(args ...any) []any { return args }

func (c call) check(t *testing.T, b *vfs.Toolbox) {
	t.Helper()
	if got := use(b, c.tool, c.args...); got != c.want {
		t.Errorf("%s %v:\n%q, want\n%q", c.tool, c.args, got, c.want)
	}
}

func TestToolsSayWhatModelsKnow(t *testing.T) {
	const relative = "ERROR Path must be absolute (start with /)"
	b := vfs.NewToolbox(withFiles(t, "/a.md", "one\n", "/d/b.md", "two", "/nul", "a\x00b"), vfs.ToolOptions{})
	for _, c := range []call{
		{"read_file", with("file_path", "/a.md"), "one\n"},
		{"read_file", with("path", "/a.md"), "one\n"},
		{"read_file", with("file_path", "//d/../a.md"), "one\n"},
		{"read_file", with("file_path", "a.md"), relative},
		{"read_file", with("file_path", ""), relative},
		{"read_file", with("file_path", "/no"), "ERROR File not found: /no"},
		{"read_file", with("file_path", "/d"), "ERROR /d is a folder"},
		{"read_file", with("file_path", "/nul"), "ERROR /nul is not a text file (3 bytes)"},
		{"read_file", with(), "ERROR file_path is missing; required: file_path"},
		{"read_file", with("file_path", nil), "ERROR file_path is missing; required: file_path"},
		{"write_file", with("file_path", "/../etc/x", "content", "é"), "File written: /etc/x (2 bytes)"},
		{"write_file", with("path", "/e", "content", ""), "File written: /e (0 bytes)"},
		{"write_file", with("file_path", "/e"), "ERROR content is missing; required: file_path, content"},
		{"write_file", with("file_path", "e", "content", ""), relative},
		{"write_file", with("file_path", "/n", "content", "\x00"), "ERROR the content contains a NUL byte"},
		{"write_file", with("file_path", "/d", "content", "x"), "ERROR /d is a folder"},
		{"list_files", with(), "/a.md (4 bytes)\n/d/\n/e (0 bytes)\n/etc/\n/nul (3 bytes)"},
		{"list_files", with("path", "/d"), "/d/b.md (3 bytes)"},
		{"list_files", with("directory", "/d/"), "/d/b.md (3 bytes)"},
		{"list_files", with("path", "", "directory", "/d"), "/d/b.md (3 bytes)"},
		{"list_files", with("path", "/no"), "Directory is empty or does not exist: /no"},
		{"list_files", with("path", "/a.md"), "ERROR /a.md is a file, not a folder"},
		{"list_files", with("path", "d"), relative},
		{"glob_pattern", with(), "ERROR pattern is missing; required: pattern"},
		{"bash_command", with(), "ERROR command is missing; required: command"},
		{"ask", with(), "ERROR Unknown tool: ask. There are: read_file, write_file, edit_file, list_files, glob_pattern, grep_search, bash_command"},
	} {
		c.check(t, b)
	}
}

func TestAnEditIsLiteral(t *testing.T) {
	m := vfs.NewMem(nil)
	b := vfs.NewToolbox(m, vfs.ToolOptions{})
	for _, c := range []struct {
		text, before, after string
		all                 bool
		want, left          string
	}{
		{"price X", "X", "$$5 and $& $1", false, "File edited: /f", "price $$5 and $& $1"},
		{"a.b", ".", "+", false, "File edited: /f", "a+b"},
		{"aaa", "aa", "b", false, "File edited: /f", "ba"},
		{"x x", "x", "y", true, "File edited: /f (2 places)", "y y"},
		{"x", "x", "", true, "File edited: /f", ""},
		{"xx", "x", "y", false, "ERROR String appears 2 times in file. Please provide a unique string.", "xx"},
		{"abc", "", "y", false, "ERROR old_string is empty; write the whole file with write_file, or give the text to replace", "abc"},
		{"abc", "b", "b", false, "ERROR old_string and new_string are the same", "abc"},
		{"abc", "b", "\x00", false, "ERROR the content contains a NUL byte", "abc"},
		{"abc", strings.Repeat("é", 51), "y", false, `ERROR String not found in file: "` + strings.Repeat("é", 47) + `..."`, "abc"},
		{"line\r\n", "line\n", "y", false, "File edited: /f", "y"},
		{"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", false, "File edited: /f", "x\r\ny\r\nc\r\n"},
		{"a\r\nb\r\n", "b", "b\nc", false, "File edited: /f", "a\r\nb\r\nc\r\n"},
		{"a\r\nb\r\na\r\nb\r\n", "a\nb", "a\nc", true, "File edited: /f (2 places)", "a\r\nc\r\na\r\nc\r\n"},
		{"a\r\nb\r\nc\nd\n", "a\nb\n", "a\n", false, "File edited: /f", "a\r\nc\nd\n"},
		{"a\r\nb\r\nc\nd\n", "c\nd\n", "c\ne\n", false, "File edited: /f", "a\r\nb\r\nc\ne\n"},
		{"a\r\nb\r\n", "\r\n", "\n", true, "File edited: /f (2 places)", "a\nb\n"},
		{"a\r\nb\r\n", "a\nc\n", "x", false, `ERROR String not found in file: "a\nc\n"`, "a\r\nb\r\n"},
		{"a\nb\n", "a\nb", "a\nc", false, "File edited: /f", "a\nc\n"},
		{strings.Repeat("x", 5000), "x", strings.Repeat("y", 1000), true, "ERROR the file would have more than 4194304 bytes", strings.Repeat("x", 5000)},
	} {
		write(t, m, "/f", c.text)
		call{"edit_file", with("file_path", "/f", "old_string", c.before, "new_string", c.after, "replace_all", c.all), c.want}.check(t, b)
		if got := read(t, m, "/f"); got != c.left {
			t.Errorf("%q has become %q", c.text, got)
		}
	}
	call{"edit_file", with("file_path", "/no", "old_string", "", "new_string", ""), "ERROR File not found: /no"}.check(t, b)
	call{"edit_file", with("path", "/f", "new_string", "x"), "ERROR old_string is missing; required: file_path, old_string, new_string"}.check(t, b)
}

func TestAFileIsReadInPieces(t *testing.T) {
	var long strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&long, "line %d\n", n+1)
	}
	huge := strings.Repeat("é", vfs.MaxResult)
	m := withFiles(t, "/f", "1\n2\n3\n4", "/long", long.String(), "/huge", huge, "/two", "first\n"+huge+"\nlast\n", "/empty", "")
	b := vfs.NewToolbox(m, vfs.ToolOptions{})
	const most = int(^uint(0) >> 1)
	for _, c := range []call{
		{"read_file", with("file_path", "/f", "offset", 2, "limit", 2), "2\n3\n[lines 2 to 3 of 4; go on with offset 4]"},
		{"read_file", with("file_path", "/f", "offset", 3), "3\n4"},
		{"read_file", with("file_path", "/f", "limit", 4), "1\n2\n3\n4"},
		{"read_file", with("file_path", "/f", "offset", -7, "limit", -7), "1\n2\n3\n4"},
		{"read_file", with("file_path", "/f", "offset", 4, "limit", most), "4"},
		{"read_file", with("file_path", "/f", "offset", 5), "[the file has 4 lines]"},
		{"read_file", with("file_path", "/f", "offset", most, "limit", most), "[the file has 4 lines]"},
		{"read_file", with("file_path", "/empty", "offset", 9), "[the file has 0 lines]"},
		{"read_file", with("file_path", "/empty"), ""},
		{"read_file", with("file_path", "/two", "offset", 3), "last\n"},
	} {
		c.check(t, b)
	}
	if got := use(b, "read_file", "file_path", "/f", "offset", "2"); !strings.HasPrefix(got, "ERROR the input of read_file is not JSON of its schema") {
		t.Errorf("%q", got)
	}
	var whole strings.Builder
	for next := 1; next > 0; {
		text := use(b, "read_file", "file_path", "/long", "offset", next)
		if len(text) > vfs.MaxResult {
			t.Fatalf("a piece has %d bytes", len(text))
		}
		piece, note, more := strings.Cut(text, "\n[lines ")
		whole.WriteString(piece)
		next = 0
		if more {
			whole.WriteByte('\n')
			if _, err := fmt.Sscanf(note[strings.Index(note, "offset"):], "offset %d]", &next); err != nil {
				t.Fatal(err)
			}
		}
	}
	if whole.String() != long.String() {
		t.Error("the pieces are not the file")
	}
	for _, name := range []string{"/huge", "/two"} {
		text := use(b, "read_file", "file_path", name, "offset", strings.Count(name, "two")+1)
		if len(text) > vfs.MaxResult || !utf8.ValidString(text) || !strings.Contains(text, "é… [the rest of this line is left out]") {
			t.Errorf("%s: %d bytes, ending in %q", name, len(text), text[len(text)-100:])
		}
	}
}

func TestGlobs(t *testing.T) {
	m := withFiles(t)
	for _, name := range []string{"/a.md", "/b.md", "/c.txt", "/.env", "/docs/a.md", "/docs/x/a.md", "/docs/x/.b.md", "/we[i]rd/a,b.md", "/we[i]rd/{c}.md", "/é.md"} {
		write(t, m, name, "")
	}
	b := vfs.NewToolbox(m, vfs.ToolOptions{})
	for _, c := range []struct{ dir, pattern, want string }{
		{"/", "*", "/.env /a.md /b.md /c.txt /é.md"},
		{"/", "./*.txt", "/c.txt"},
		{"/", "**/a.md", "/a.md /docs/a.md /docs/x/a.md"},
		{"/", "docs/**", "/docs/a.md /docs/x/.b.md /docs/x/a.md"},
		{"/", "docs/*/*", "/docs/x/.b.md /docs/x/a.md"},
		{"/docs", "*.md", "/docs/a.md"},
		{"/docs", "/docs/*.md", "/docs/a.md"},
		{"/docs", "/*.md", ""},
		{"/", "?.md", "/a.md /b.md /é.md"},
		{"/", "[a-b].md", "/a.md /b.md"},
		{"/", "[!a].md", "/b.md /é.md"},
		{"/", "[^a].md", "/b.md /é.md"},
		{"/", "docs[!x]a.md", ""},
		{"/", "docs[/]a.md", "ERROR"},
		{"/", "docs[+-9]a.md", "ERROR"},
		{"/", "[é].md", "/é.md"},
		{"/", "{a,c}.*", "/a.md /c.txt"},
		{"/", "{,docs/}a.md", "/a.md /docs/a.md"},
		{"/", "{docs/{x,y}/,}a.md", "/a.md /docs/x/a.md"},
		{"/we[i]rd", "*", "/we[i]rd/a,b.md /we[i]rd/{c}.md"},
		{"/we[i]rd", "a,b.md", "/we[i]rd/a,b.md"},
		{"/we[i]rd", `\{c\}.md`, "/we[i]rd/{c}.md"},
		{"/we[i]rd", `{c\}.md`, "ERROR"},
		{"/", "}", ""},
		{"/", "[a", "ERROR"},
		{"/", "[]", "ERROR"},
		{"/", "[b-a]", "ERROR"},
		{"/", "{a", "ERROR"},
		{"/", "", "ERROR"},
		{"/", strings.Repeat("*", 2000), "ERROR"},
		{"/", "(a|b).md", ""},
		{"/", "a+.md", ""},
		{"/c.txt", "c*", ""},
		{"/no", "*", "ERROR"},
		{"no", "*", "ERROR"},
	} {
		got := strings.ReplaceAll(use(b, "glob_pattern", "path", c.dir, "pattern", c.pattern), "\n", " ")
		switch want := c.want; {
		case want == "ERROR":
			if !strings.HasPrefix(got, want) {
				t.Errorf("%q in %s: %q", c.pattern, c.dir, got)
			}
		case want == "":
			want = "No files matching pattern: " + c.pattern
			fallthrough
		case got != want:
			if got != want {
				t.Errorf("%q in %s: %q, want %q", c.pattern, c.dir, got, want)
			}
		}
	}
}

func TestGrep(t *testing.T) {
	m := withFiles(t, "/a.md", "Alpha\r\nbeta\nALPHA beta", "/d/b.go", "alpha()\n", "/d/c.md", "gamma", "/bin", "alpha\x00", "/d/min.js", strings.Repeat("z", 1000)+"needle"+strings.Repeat("z", 1000))
	b := vfs.NewToolbox(brokenFolder{withFolder(t, m, "/closed"), "/closed"}, vfs.ToolOptions{})
	for _, c := range []call{
		{"grep_search", with("pattern", "alpha"), "/d/b.go:1: alpha()"},
		{"grep_search", with("pattern", "alpha", "case_insensitive", true), "/a.md:1: Alpha\n/a.md:3: ALPHA beta\n/d/b.go:1: alpha()"},
		{"grep_search", with("pattern", "^Alpha$"), "/a.md:1: Alpha"},
		{"grep_search", with("pattern", "a", "glob", "*.md", "path", "/d"), "/d/c.md:1: gamma"},
		{"grep_search", with("pattern", "alpha", "glob", "d/*.go"), "/d/b.go:1: alpha()"},
		{"grep_search", with("pattern", "alpha", "glob", "*.{go,md}", "directory", "/d"), "/d/b.go:1: alpha()"},
		{"grep_search", with("pattern", "beta", "path", "/a.md"), "/a.md:2: beta\n/a.md:3: ALPHA beta"},
		{"grep_search", with("pattern", "beta", "path", "/a.md", "glob", "*.go"), "/a.md:2: beta\n/a.md:3: ALPHA beta"},
		{"grep_search", with("pattern", "nothing"), "No matches found for pattern: nothing"},
		{"grep_search", with("pattern", "x", "path", "/no"), "ERROR Directory is empty or does not exist: /no"},
		{"grep_search", with("pattern", ""), "ERROR the pattern has to have 1 to 1024 bytes"},
		{"grep_search", with("pattern", "(?=x)"), "ERROR the pattern is not a regular expression (RE2): error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		{"grep_search", with("pattern", strings.Repeat(".{999}", 100)), "ERROR the pattern has too many repetitions; write a simpler one"},
		{"grep_search", with("pattern", "x", "glob", "[a"), "ERROR the pattern \"/**/[a\" has a [ without its ]"},
	} {
		c.check(t, b)
	}
	if got := use(b, "grep_search", "pattern", "needle"); !strings.Contains(got, "needle") || len(got) > 1000 {
		t.Errorf("a hit in a long line shows %d bytes, without the match", len(got))
	}
}

func withFolder(t testing.TB, m *vfs.Mem, name string) *vfs.Mem {
	t.Helper()
	if err := m.Mkdir(name); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSearchesHaveLimits(t *testing.T) {
	m := withFiles(t, "/hits", strings.Repeat("hit\n", 500))
	for n := range 1500 {
		write(t, m, fmt.Sprintf("/many/%04d", n), "x")
	}
	b := vfs.NewToolbox(m, vfs.ToolOptions{})
	for tool, args := range map[string][]any{
		"list_files": with("path", "/many"), "glob_pattern": with("pattern", "many/*"),
	} {
		lines := strings.Split(use(b, tool, args...), "\n")
		if len(lines) != 1001 || !strings.HasPrefix(lines[1000], "[500 more ") {
			t.Errorf("%s: %d lines, the last is %q", tool, len(lines), lines[len(lines)-1])
		}
	}
	lines := strings.Split(use(b, "grep_search", "pattern", "hit"), "\n")
	if len(lines) != 201 || lines[200] != "[the search ended at 200 lines; search in a folder, or for less]" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tool := range []string{"grep_search", "glob_pattern"} {
		if got, _ := b.Execute(ctx, tool, `{"pattern":"x"}`); !strings.Contains(got, "the search ended after 0 files") {
			t.Errorf("%s goes on after it was cancelled: %.80q", tool, got)
		}
	}
}

func TestCommandsAreWords(t *testing.T) {
	m := withFiles(t, "/a b.md", "spaced", "/d/x.md", "x", "/y.md", "y")
	b := vfs.NewToolbox(m, vfs.ToolOptions{})
	const notAShell = "ERROR this is not a shell: no ; | & > < ` $( ) or several lines; run one simple command, and use write_file to write"
	calls := []call{
		{"bash_command", with("command", " pwd\n"), "/"},
		{"bash_command", with("command", "echo  a\t b ''"), "a b "},
		{"bash_command", with("command", `echo "a  b" 'c "d"' e\ f g"h"'i'`), `a  b c "d" e f ghi`},
		{"bash_command", with("command", `echo "a\n\"\\\$\`+"`"+`" '\n' \n \\`), "a\\n\"\\$` \\n n \\"},
		{"bash_command", with("command", "echo $HOME # %PATH% ~ * \\; \\> \\$(x)"), notAShell},
		{"bash_command", with("command", `echo $HOME # %PATH% ~ * \; \>`), "$HOME # %PATH% ~ * ; >"},
		{"bash_command", with("command", "echo 'open"), "ERROR a quote is not closed"},
		{"bash_command", with("command", `echo "open\"`), "ERROR a quote is not closed"},
		{"bash_command", with("command", "  "), "ERROR the command is empty"},
		{"bash_command", with("command", "''"), "ERROR Command not allowed: . Supported commands: mkdir, ls, pwd, echo, cat"},
		{"bash_command", with("command", "rm -rf /"), "ERROR Command not allowed: rm. Supported commands: mkdir, ls, pwd, echo, cat"},
		{"bash_command", with("command", "/bin/ls"), "ERROR Command not allowed: /bin/ls. Supported commands: mkdir, ls, pwd, echo, cat"},
		{"bash_command", with("command", "ls"), "/a b.md (6 bytes)\n/d/\n/y.md (1 bytes)"},
		{"bash_command", with("command", "ls -la /d"), "/d/x.md (1 bytes)"},
		{"bash_command", with("command", `cat "/a b.md" /y.md`), "spacedy"},
		{"bash_command", with("command", "cat"), "ERROR cat: the path is missing"},
		{"bash_command", with("command", "cat /no"), "ERROR File not found: /no"},
		{"bash_command", with("command", "mkdir -p /n/a '/n/b c'"), "Directory created: /n/a, /n/b c"},
		{"bash_command", with("command", "mkdir /ok no"), "ERROR Path must be absolute (start with /)"},
		{"bash_command", with("command", "mkdir -m 777 /z"), "ERROR mkdir: the option -m is not supported"},
		{"bash_command", with("command", "mkdir -p"), "ERROR mkdir: the path is missing"},
		{"bash_command", with("command", "mkdir /z && rm -rf /"), notAShell},
	}
	for _, c := range ";|&<>()\n\r" {
		calls = append(calls, call{"bash_command", with("command", "echo a"+string(c)+"b"), notAShell},
			call{"bash_command", with("command", "echo 'a"+string(c)+"b'"), "a" + string(c) + "b"},
			call{"bash_command", with("command", `echo "a`+string(c)+`b"`), "a" + string(c) + "b"})
	}
	for _, text := range []string{"`id`", "$(id)", "${HOME}"} {
		calls = append(calls, call{"bash_command", with("command", "echo "+text), notAShell},
			call{"bash_command", with("command", `echo "`+text+`"`), notAShell},
			call{"bash_command", with("command", "echo '"+text+"'"), text})
	}
	for _, c := range calls {
		c.check(t, b)
	}
	if got := listPaths(t, m, "/") + listPaths(t, m, "/n"); got != "/a b.md /d/ /n/ /y.md/n/a/ /n/b c/" {
		t.Errorf("the commands left %q", got)
	}
}

func TestAllowedCommandsAreRun(t *testing.T) {
	var ran []string
	b := vfs.NewToolbox(vfs.NewMem(nil), vfs.ToolOptions{Commands: []string{"go test ./...", "echo 'a;b' | wc", "false", "noise"},
		Run: func(_ context.Context, command string) (string, bool) {
			ran = append(ran, command)
			if command == "noise" {
				return strings.Repeat("\xffé", vfs.MaxResult) + "the summary", true
			}
			return strings.TrimPrefix("ran "+command, "ran false"), command == "false"
		}})
	const refusal = ". Supported commands: mkdir, ls, pwd, echo, cat; and these as they stand: go test ./...; echo 'a;b' | wc; false; noise"
	for _, c := range []call{
		{"bash_command", with("command", "go test ./..."), "ran go test ./..."},
		{"bash_command", with("command", "  go   test ./...  "), "ran go test ./..."},
		{"bash_command", with("command", "echo 'a;b' | wc"), "ran echo 'a;b' | wc"},
		{"bash_command", with("command", "false"), "ERROR the command failed without an output"},
		{"bash_command", with("command", "go test ./... -run X"), "ERROR Command not allowed: go" + refusal},
		{"bash_command", with("command", "go test"), "ERROR Command not allowed: go" + refusal},
		{"bash_command", with("command", "pwd"), "/"},
	} {
		c.check(t, b)
	}
	if got := strings.Join(ran, ","); got != "go test ./...,go test ./...,echo 'a;b' | wc,false" {
		t.Errorf("ran %s", got)
	}
	if got := use(b, "bash_command", "command", "noise"); len(got) > vfs.MaxResult+1000 || !utf8.ValidString(got) || !strings.HasSuffix(got, "the summary") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-50:])
	}
	for _, tool := range b.Tools() {
		if tool.Name == "bash_command" && !strings.HasSuffix(tool.Description, "go test ./...; echo 'a;b' | wc; false; noise") {
			t.Errorf("%q", tool.Description)
		}
	}
	unable := vfs.NewToolbox(vfs.NewMem(nil), vfs.ToolOptions{Commands: []string{"id"}})
	call{"bash_command", with("command", "id"), "ERROR Command not allowed: id. Supported commands: mkdir, ls, pwd, echo, cat"}.check(t, unable)
}

func TestAReaderCannotWrite(t *testing.T) {
	m := withFiles(t, "/a", "x")
	b := vfs.NewToolbox(m, vfs.ToolOptions{ReadOnly: true})
	var names []string
	for _, tool := range b.Tools() {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "read_file list_files glob_pattern grep_search bash_command" {
		t.Errorf("%s", got)
	}
	for _, c := range []call{
		{"write_file", with("file_path", "/a", "content", "y"), "ERROR Unknown tool: write_file. There are: " + strings.Join(names, ", ")},
		{"edit_file", with("file_path", "/a", "old_string", "x", "new_string", "y"), "ERROR Unknown tool: edit_file. There are: " + strings.Join(names, ", ")},
		{"bash_command", with("command", "mkdir /d"), "ERROR the files are for reading"},
		{"read_file", with("file_path", "/a"), "x"},
	} {
		c.check(t, b)
	}
	if got := listPaths(t, m, "/"); got != "/a" {
		t.Errorf("%q", got)
	}
}

func TestEveryToolIsDescribed(t *testing.T) {
	for _, tool := range vfs.NewToolbox(vfs.NewMem(nil), vfs.ToolOptions{}).Tools() {
		var form struct {
			Type       string
			Properties map[string]struct{ Type string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema, &form); err != nil || form.Type != "object" || len(form.Properties) == 0 || tool.Description == "" {
			t.Errorf("%s: %v, %+v", tool.Name, err, form)
		}
		for _, key := range form.Required {
			if form.Properties[key].Type == "" {
				t.Errorf("%s requires %s, and does not describe it", tool.Name, key)
			}
		}
	}
}

func TestInputThatIsNotJSON(t *testing.T) {
	b := vfs.NewToolbox(withFiles(t, "/a", ""), vfs.ToolOptions{})
	for _, in := range []string{"{", "[]", `"x"`, "1", `{"file_path":1}`, `{"file_path":"/x","content":"a"} tail`, "{\"file_path\":\"/x\",\"content\":\"\xff\"}", "\x00"} {
		text, failed := b.Execute(context.Background(), "write_file", in)
		if !failed || !strings.HasSuffix(text, "; required: file_path, content") {
			t.Errorf("%q: %q", in, text)
		}
	}
	for _, in := range []string{"", " \n", "{}", "null"} {
		if text, failed := b.Execute(context.Background(), "list_files", in); failed || text != "/a (0 bytes)" {
			t.Errorf("%q: %q", in, text)
		}
	}
	if text, _ := b.Execute(context.Background(), "list_files", "{"); !strings.HasSuffix(text, "; there are no required keys") {
		t.Errorf("%q", text)
	}
	if text, failed := b.Execute(context.Background(), strings.Repeat("\xff", 1<<20), "{}"); !failed || len(text) > vfs.MaxResult+1000 || !utf8.ValidString(text) {
		t.Errorf("a long name is repeated in %d bytes", len(text))
	}
}

// panicking is a file system with a fault.
type panicking struct{}

func (panicking) Read(string) ([]byte, error)     { panic("read: " + strings.Repeat("x", 1<<20)) }
func (panicking) Write(string, []byte) error      { panic("write") }
func (panicking) Mkdir(string) error              { panic("mkdir") }
func (panicking) Stat(string) (vfs.Info, error)   { panic("stat") }
func (panicking) List(string) ([]vfs.Info, error) { panic("list") }

func TestAFaultOfTheFilesIsAResult(t *testing.T) {
	for _, fsys := range []vfs.FS{panicking{}, vfs.NewOverlay(panicking{}, nil)} {
		b := vfs.NewToolbox(fsys, vfs.ToolOptions{})
		for _, tool := range b.Tools() {
			for range 2 { // no lock stays behind
				got := use(b, tool.Name, "file_path", "/a", "content", "x", "old_string", "a", "new_string", "b", "pattern", "a", "command", "mkdir /a")
				if !strings.HasPrefix(got, "ERROR The tool "+tool.Name+" failed by a fault of its own: ") || len(got) > vfs.MaxResult+1000 {
					t.Errorf("%s: %.100q", tool.Name, got)
				}
			}
		}
	}
}

func TestLongArgumentsAreNotRepeatedWhole(t *testing.T) {
	b := vfs.NewToolbox(withFiles(t, "/a", strings.Repeat("x", 20_000)), vfs.ToolOptions{})
	long := strings.Repeat("é", 100_000)
	for _, command := range []string{"echo " + long, long, "mkdir -" + long, "mkdir" + strings.Repeat(" /x", 100_000), "cat" + strings.Repeat(" /a", 100_000)} {
		if got := use(b, "bash_command", "command", command); len(got) > vfs.MaxResult+1000 || !utf8.ValidString(got) {
			t.Errorf("%.10q returns %d bytes", command, len(got))
		}
	}
}

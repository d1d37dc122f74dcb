package hosts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

var entry = hosts.Entry{Name: "bmad", Command: "/home/ana/go/bin/bmad-mcp"}

// samples returns files as people have them, by the host that reads them.
func samples(t testing.TB) map[string]hosts.Host {
	t.Helper()
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 9 {
		t.Fatal("samples are missing", err)
	}
	out := map[string]hosts.Host{}
	for _, file := range files {
		for _, h := range hosts.All() {
			if strings.HasPrefix(filepath.Base(file), h.ID+"-") {
				out[file] = h
			}
		}
	}
	return out
}

// decoded returns the settings that a host reads from a file.
func decoded(t testing.TB, h hosts.Host, text []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	if len(bytes.TrimSpace(text)) == 0 {
		return out
	}
	text, err := hujson.Standardize(slices.Clone(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%s cannot read it any more: %v\n%s", h.Name, err, text)
	}
	return out
}

func serverKey(h hosts.Host) string {
	if h.ID == "vscode" {
		return "servers"
	}
	return "mcpServers"
}

// TestRoundTrip puts the server into real files and takes it out again: nothing else changes on the
// way, and in the end nothing at all.
func TestRoundTrip(t *testing.T) {
	for file, h := range samples(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		variants := map[string][]byte{
			"":               data,
			"crlf":           bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
			"no newline":     bytes.TrimRight(data, "\n"),
			"empty lines":    append(bytes.TrimRight(data, "\n"), "\n\n\n"...),
			"with arguments": data,
		}
		for name, before := range variants {
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) {
				e := entry
				if name == "with arguments" {
					e.Args, e.Pass = []string{"--cwd", `C:\a "b"`}, []string{"XDG_STATE_HOME"}
				}
				after, err := h.Add(before, e)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := h.Find(after); err != nil {
					t.Fatal(err)
				}
				if name == "" {
					golden.Check(t, filepath.Join("testdata", "golden", filepath.Base(file)), string(after))
				}
				key := serverKey(h)
				want, got := decoded(t, h, before), decoded(t, h, after)
				servers, ok := got[key].(map[string]any)
				if !ok {
					t.Fatalf("no %s in\n%s", key, after)
				}
				ours, _ := servers["bmad"].(map[string]any)
				if ours["command"] != e.Command || name == "with arguments" && !reflect.DeepEqual(ours["args"], []any{"--cwd", `C:\a "b"`}) {
					t.Fatalf("the entry is %v in\n%s", ours, after)
				}
				delete(servers, "bmad")
				if len(servers) == 0 && want[key] == nil {
					delete(got, key)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("something else has changed:\n%s", after)
				}
				if crlf := bytes.Count(after, []byte("\r\n")); crlf > 0 && crlf != bytes.Count(after, []byte("\n")) {
					t.Errorf("line ends are mixed:\n%q", after)
				}
				again, err := h.Add(after, e)
				if err != nil || !bytes.Equal(again, after) {
					t.Errorf("a second time: %v\n%s", err, again)
				}
				found, err := h.Find(after)
				if i := slices.IndexFunc(found, func(f hosts.FoundEntry) bool { return f.Name == "bmad" }); err != nil || i < 0 || found[i].Command != e.Command {
					t.Errorf("found %v, %v", found, err)
				}
				back, err := h.Remove(after, "bmad")
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(back, before) {
					t.Errorf("taken out again it is not as before:\n%q\nwant\n%q", back, before)
				}
				if none, err := h.Remove(back, "bmad"); err != nil || !bytes.Equal(none, back) {
					t.Errorf("taken out twice: %v", err)
				}
			})
		}
	}
}

// TestNewFile starts a file, and takes the only entry out of it again.
func TestNewFile(t *testing.T) {
	for _, h := range hosts.All() {
		if h.ID == "codex" { // not changed here
			continue
		}
		text, err := h.Add(nil, entry)
		if err != nil {
			t.Fatalf("%s: %v", h.ID, err)
		}
		golden.Check(t, filepath.Join("testdata", "golden", "new-"+h.ID), string(text))
		if snippet := h.Snippet(entry); snippet != string(text) {
			t.Errorf("%s: the snippet is another:\n%s", h.ID, snippet)
		}
		back, err := h.Remove(text, "bmad")
		if err != nil || len(decoded(t, h, back)) > 0 {
			t.Errorf("%s: %q, %v", h.ID, back, err)
		}
	}
}

// TestExisting changes command and arguments of an entry and keeps the rest of it.
func TestExisting(t *testing.T) {
	cursor, _ := hosts.Lookup("cursor")
	vscode, _ := hosts.Lookup("vscode")
	const other = `{"mcpServers": {"bmad": {"command": "/opt/other/server"}}}`
	for _, c := range []struct {
		name   string
		host   hosts.Host
		before string
		args   []string
		want   string // "": refused
	}{
		{"moved", cursor, "{\"mcpServers\": {\"bmad\": {\"env\": {\"A\": \"b\"}, \"command\": \"bmad-mcp\", /* mine */ \"disabled\": true,}}}", nil,
			"{\"mcpServers\": {\"bmad\": {\"env\": {\"A\": \"b\"}, \"command\": \"/home/ana/go/bin/bmad-mcp\", /* mine */ \"disabled\": true,}}}"},
		{"arguments in front", cursor, `{"mcpServers": {"bmad": {"args": ["x", "long one"], "command": "C:\\x\\bmad-mcp.exe"}}}`, []string{"y"},
			`{"mcpServers": {"bmad": {"args": ["y"], "command": "/home/ana/go/bin/bmad-mcp"}}}`},
		{"arguments added", cursor, "{\n  \"mcpServers\": {\n    \"bmad\": {\n      \"command\": \"bmad-mcp\" // ours\n    }\n  }\n}\n", []string{"y"},
			"{\n  \"mcpServers\": {\n    \"bmad\": {\n      \"command\": \"/home/ana/go/bin/bmad-mcp\", // ours\n      \"args\": [\"y\"]\n    }\n  }\n}\n"},
		{"another", cursor, other, nil, "{\"mcpServers\": {\"bmad\": {\n      \"type\": \"stdio\",\n      \"command\": \"/home/ana/go/bin/bmad-mcp\"\n    }}}"},
		{"one line", vscode, `{"servers":{"a":{"command":"x"}}}`, nil,
			`{"servers":{"a":{"command":"x"}, "bmad": {"type": "stdio", "command": "/home/ana/go/bin/bmad-mcp"}}}`},
		{"one line, no servers", vscode, `{ "inputs": [] }`, nil,
			`{ "inputs": [], "servers": {"bmad": {"type": "stdio", "command": "/home/ana/go/bin/bmad-mcp"}} }`},
		{"one line with a comma", vscode, `{"inputs": [],}`, nil,
			`{"inputs": [], "servers": {"bmad": {"type": "stdio", "command": "/home/ana/go/bin/bmad-mcp"}},}`},
		{"empty", vscode, "{\n  \"servers\": {}\n}\n", nil,
			"{\n  \"servers\": {\n    \"bmad\": {\n      \"type\": \"stdio\",\n      \"command\": \"/home/ana/go/bin/bmad-mcp\"\n    }\n  }\n}\n"},
		{"a comment in front of the first key", vscode, "{\n  /* theme */ \"a\": 1\n}\n", nil,
			"{\n  /* theme */ \"a\": 1,\n  \"servers\": {\n    \"bmad\": {\n      \"type\": \"stdio\",\n      \"command\": \"/home/ana/go/bin/bmad-mcp\"\n    }\n  }\n}\n"},
		{"not an object", vscode, `{"servers":[]}`, nil, ""},
		{"null", vscode, `{"servers":null}`, nil, ""},
		{"a list", vscode, `[]`, nil, ""},
		{"cut off", vscode, `{"servers":{`, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entry
			e.Args = c.args
			got, err := c.host.Add([]byte(c.before), e)
			if c.want == "" {
				if err == nil {
					t.Fatalf("taken:\n%s", got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Fatalf("%v, got\n%s\nwant\n%s", err, got, c.want)
			}
			decoded(t, c.host, got)
			if strings.Contains(c.before, "bmad") || c.name == "empty" { // an empty list goes, and nobody minds
				return
			}
			if back, err := c.host.Remove(got, "bmad"); err != nil || string(back) != c.before {
				t.Errorf("taken out again: %v\n%s", err, back)
			}
		})
	}
}

// TestRemoveKeepsComments takes entries out from between comments.
func TestRemoveKeepsComments(t *testing.T) {
	cursor, _ := hosts.Lookup("cursor")
	for _, c := range []struct{ name, before, want string }{
		{"the line before ends in a comment",
			"{ \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // mine\n    \"bmad\": {\"command\": \"bmad-mcp\"} } }\n",
			"{ \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // mine\n } }\n"},
		{"so does the brace's line",
			"{ \"mcpServers\": { // mine\n \"bmad\": {\"command\": \"bmad-mcp\"}, \"a\": {\"command\": \"x\"} } }",
			"{ \"mcpServers\": { // mine\n \"a\": {\"command\": \"x\"} } }"},
		{"a comment that ends in a brace",
			"{\"mcpServers\": { // like {\n  \"bmad\": {\"command\": \"bmad-mcp\"}\n}}", "{\"mcpServers\": { // like {\n}}"},
		{"a comment behind it",
			"{\n  \"mcpServers\": {\n    \"bmad\": {\"command\": \"bmad-mcp\"} // ours\n  }\n}\n", "{\n  \"mcpServers\": { // ours\n  }\n}\n"},
		{"a block comment in front",
			"{\"mcpServers\": {\"a\": {}, /* // */ \"bmad\": {\"command\": \"bmad-mcp\"},}}", "{\"mcpServers\": {\"a\": {}, /* // */}}"},
		{"the first of two",
			"{\"mcpServers\": {\n  \"bmad\": {\"command\": \"bmad-mcp\"},\n  \"a\": {}\n}}", "{\"mcpServers\": {\n  \"a\": {}\n}}"},
		{"twice", "{\"mcpServers\": {\"bmad\": {\"command\": \"bmad-mcp\"}, \"bmad\": {\"command\": \"bmad-mcp\"}}}", ""},
		{"two lists", "{\"mcpServers\": {\"a\": {}}, \"mcpServers\": {\"bmad\": {\"command\": \"bmad-mcp\"}}}", ""},
	} {
		got, err := cursor.Remove([]byte(c.before), "bmad")
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: taken:\n%s", c.name, got)
		case c.want != "" && (err != nil || string(got) != c.want):
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

// TestRefusesWhatTheHostDoesNotRead leaves files alone that the host ignores or refuses.
func TestRefusesWhatTheHostDoesNotRead(t *testing.T) {
	for _, c := range []struct {
		host, text, words string // "": taken
	}{
		{"claude-code", "{\n  // mine\n}", "not valid JSON"},
		{"claude-code", "{\"a\": 1,}", "not valid JSON"},
		{"claude-desktop", "{\"a\": 1,}", "not valid JSON"},
		{"claude-code", "\xef\xbb\xbf{}", "byte order mark"},
		{"claude-code", " \n", "empty"},
		{"gemini", "{\"a\": [1,\n2,]}", "line 2 ends with a comma"},
		{"gemini", "\xef\xbb\xbf{}", "byte order mark"},
		{"gemini", "{ // fine\n}", ""},
		{"cursor", "\xef\xbb\xbf{\"a\": 1,}", ""},
		{"vscode", " \n", ""},
		{"vscode", "{", "unexpected EOF"},
		{"cursor", strings.Repeat("[", 90_000), "unexpected EOF"},
		{"cursor", strings.Repeat("[", 1_000_000), "deeper than 100000"},
		{"cursor", "{ // \"\n/* \" */ \"\\\"a\": " + strings.Repeat(`{"a":`, 1_000_000), "deeper than 100000"},
		{"cursor", "{ // " + strings.Repeat("[", 20_000) + "\n/* " + strings.Repeat("{", 20_000) + " */ \"\\\"" + strings.Repeat("[", 20_000) + "\": 1 }", ""},
	} {
		h, _ := hosts.Lookup(c.host)
		got, err := h.Add([]byte(c.text), entry)
		switch {
		case c.words == "" && err != nil:
			t.Errorf("%s %q: %v", c.host, c.text, err)
		case c.words == "":
			if strings.HasPrefix(c.text, "\xef\xbb\xbf") != strings.HasPrefix(string(got), "\xef\xbb\xbf") {
				t.Errorf("%s: the byte order mark is gone", c.host)
			}
		case err == nil || !strings.Contains(err.Error(), c.words):
			t.Errorf("%s %q: %v, want %q", c.host, c.text, err, c.words)
		}
	}
}

// TestCodex reads the settings of Codex, and the entry that it is to have.
func TestCodex(t *testing.T) {
	codex, _ := hosts.Lookup("codex")
	tuned, err := os.ReadFile("testdata/codex.toml")
	if err != nil {
		t.Fatal(err)
	}
	e := entry
	e.Args, e.Pass = []string{"--cwd", `C:\a "b"`}, []string{"XDG_STATE_HOME"}
	snippet := codex.Snippet(e)
	golden.Check(t, filepath.Join("testdata", "golden", "new-codex"), snippet)
	for _, c := range []struct{ text, want string }{
		{string(tuned), `[{docs /opt/docs/docs-mcp [--index C:\docs] map[DOCS_TOKEN:abcé]   true } {inline npx [-y inline-mcp] map[]   false } {remote  [] map[] https://remote.example.invalid/mcp  true }]`},
		{snippet, `[{bmad /home/ana/go/bin/bmad-mcp [--cwd C:\a "b"] map[]   true }]`},
		{"\xef\xbb\xbfmcp_servers.bmad.command = 'bmad-mcp' # here\r\nx = nan\r\n", "[{bmad bmad-mcp [] map[]   false }]"},
		{"", "[]"},
		{"a = 1\na = 2\n", "line 2, column 1"},
		{"mcp_servers = 3\n", "line 1, column 15"},
	} {
		found, err := codex.Find([]byte(c.text))
		if got := fmt.Sprint(found); err != nil && !strings.HasPrefix(err.Error(), c.want) || err == nil && got != c.want {
			t.Errorf("%q: got %s, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// FuzzEdit puts the server into any file that a host could read, and takes it out.
func FuzzEdit(f *testing.F) {
	for file, h := range samples(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(h.ID, data)
	}
	f.Add("cursor", []byte(`{"mcpServers": {/* a */} // b`+"\n}"))
	f.Add("vscode", []byte("{\"servers\":{\"a\":{},\t}\n,}"))
	f.Fuzz(func(t *testing.T, id string, before []byte) {
		h, ok := hosts.Lookup(id)
		if !ok || id == "codex" {
			return
		}
		after, err := h.Add(before, entry)
		if err != nil {
			return
		}
		got := decoded(t, h, after)
		found, err := h.Find(after)
		if err != nil || !slices.ContainsFunc(found, func(f hosts.FoundEntry) bool { return f.Name == "bmad" && f.Command == entry.Command }) {
			t.Fatalf("not there: %v, %v\n%q", found, err, after)
		}
		back, err := h.Remove(after, "bmad")
		if err != nil {
			return // refused, which harms nothing
		}
		left := decoded(t, h, back)
		for _, all := range []map[string]any{got, left} {
			for _, key := range []string{"mcpServers", "servers"} {
				if servers, ok := all[key].(map[string]any); ok {
					if delete(servers, "bmad"); len(servers) == 0 {
						delete(all, key)
					}
				}
			}
		}
		if a, b := fmt.Sprint(got), fmt.Sprint(left); a != b { // in which NaN is like NaN
			t.Fatalf("something else is another:\n%q\n%q", after, back)
		}
	})
}

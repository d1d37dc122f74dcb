package catalog_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

func TestParseRef(t *testing.T) {
	tests := []struct {
		text string
		want catalog.Ref
	}{
		{"bmad://_bmad/bmm/config.yaml", catalog.Ref{Path: "_bmad/bmm/config.yaml"}},
		{"_bmad/bmm/config.yaml", catalog.Ref{Path: "_bmad/bmm/config.yaml"}},
		{" bmad://core/tasks/help.md\n", catalog.Ref{Path: "core/tasks/help.md"}},
		{"BMAD://x.md", catalog.Ref{Path: "x.md"}},
		{"./x.md", catalog.Ref{Path: "x.md"}},
		{"{project-root}/_bmad/x.md", catalog.Ref{Path: "_bmad/x.md"}},
		{"{project_root}/_bmad/x.md", catalog.Ref{Path: "_bmad/x.md"}},
		{"bmad://.claude/skills/bmad-prd/SKILL.md?view=resolved", catalog.Ref{Path: ".claude/skills/bmad-prd/SKILL.md", Resolved: true}},
		{"bmad://x.md?offset=2048", catalog.Ref{Path: "x.md", Offset: 2048}},
		{"bmad://x.md?view=resolved&offset=7&cwd=%2Fsrv%2Fshop", catalog.Ref{Path: "x.md", Resolved: true, Offset: 7, Cwd: "/srv/shop"}},
		{"bmad://x.md?", catalog.Ref{Path: "x.md"}},
		{"bmad://x.md?view=", catalog.Ref{Path: "x.md"}},
		{"bmad://~user/.claude/skills/x/SKILL.md", catalog.Ref{Source: "user", Path: ".claude/skills/x/SKILL.md"}},
		{"bmad://~git-1a2b/src/x.md?view=resolved", catalog.Ref{Source: "git-1a2b", Path: "src/x.md", Resolved: true}},
		{"~user/x.md", catalog.Ref{Source: "user", Path: "x.md"}},
		{"bmad://~a%20b/x.md", catalog.Ref{Source: "a b", Path: "x.md"}},
		{"bmad://%7Euser/x.md", catalog.Ref{Path: "~user/x.md"}},
		{"bmad://~user", catalog.Ref{Path: "~user"}},
		{"bmad://a%20b/%23c%3Fd%25.md", catalog.Ref{Path: "a b/#c?d%.md"}},
		{"bmad://a+b.md", catalog.Ref{Path: "a+b.md"}},
		{"bmad://a/", catalog.Ref{Path: "a"}},
		{"bmad://ä/日本.md", catalog.Ref{Path: "ä/日本.md"}},
		{"bmad://a@b:c.md", catalog.Ref{Path: "a@b:c.md"}},
		{"bmad://.../..x/x..", catalog.Ref{Path: ".../..x/x.."}},
	}
	for _, tt := range tests {
		if got, err := catalog.ParseRef(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	const out, empty = "leads out of the folders", "names no file"
	tests := []struct{ text, why string }{
		{"", empty}, {"bmad://", empty}, {".", empty}, {"bmad://.", empty}, {"  ", empty}, {"bmad://?view=resolved", empty},
		{"bmad://~user/", empty}, {"bmad://~user/.", empty},
		{"..", out}, {"bmad://../x", out}, {"bmad://a/../../x", out}, {"bmad://a/..", out}, {"bmad://a/../b", out}, {"bmad://a/./b", out}, {"bmad://a//b", out},
		{"bmad://%2e%2e/x", out}, {"bmad://%2E%2e%2fx", out}, {"bmad://a%2F..%2F..%2Fx", out}, {"bmad://a/%2e%2e/b", out}, {"./../x", out},
		{"{project-root}/../x", out}, {"bmad://~user/../x", out}, {"bmad://~user/%2e%2e/x", out}, {"bmad://~user//x", out},
		{"bmad://%252e%252e/\xff", out}, {"bmad://\xff\xfe", out},
		{"/etc/passwd", "absolute path"}, {"bmad:///etc/passwd", "absolute path"}, {"bmad://%2Fetc/passwd", "absolute path"}, {"{project-root}//etc/passwd", "absolute path"},
		{`a\..\b`, "no path has"}, {`bmad://C:\Windows\win.ini`, "no path has"}, {"bmad://a%5Cb", "no path has"}, {"bmad://a%00b", "no path has"}, {"bmad://a\x00", "no path has"}, {"bmad://a%0Ab", "no path has"}, {"bmad://~user/a%5C..", "no path has"},
		{"file:///etc/passwd", "only bmad://"}, {"https://example.com/x", "only bmad://"}, {"bmad2://x", "only bmad://"}, {"://x", "only bmad://"}, {"_bmad://x", "only bmad://"},
		{"bmad://a%zz", "two hexadecimal digits"}, {"bmad://100%", "two hexadecimal digits"}, {"bmad://~%zz/x", "two hexadecimal digits"},
		{"bmad://~/x", "name of its source"},
		{"bmad://x?view=raw", "only other view"}, {"bmad://x?view=Resolved", "only other view"},
		{"bmad://x?offset=-1", "number of bytes"}, {"bmad://x?offset=1.5", "number of bytes"}, {"bmad://x?offset=99999999999999999999", "number of bytes"},
		{"bmad://x?a=%zz", "follows the ?"}, {"bmad://x?a=1;b=2", "follows the ?"},
		{"bmad://" + strings.Repeat("a/", 1500) + "x", "too long"}, {"bmad://x?cwd=" + strings.Repeat("a", 2500), "too long"},
	}
	for _, tt := range tests {
		got, err := catalog.ParseRef(tt.text)
		wantFault(t, tt.text, err, fault.InvalidArgument, tt.why, "bmad://")
		if got != (catalog.Ref{}) {
			t.Errorf("%q: an error and %+v", tt.text, got)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.20q: a message of %d bytes", tt.text, len(err.Error()))
		}
	}
}

// odd are names of files as people and systems make them.
var odd = []string{
	"a b.md", "100%.md", "%2e%2e", "#1.md", "what?.md", "a+b.md", "~x", "~/x", "a~b", "ä/ü.md", "日本/語.md", "me@home.md", "a:b.md", "a&b=c;d.md", "{x}/[y].md", "'\"`.md",
	"$HOME", "a,b", "...", "..a", ".hidden/x", "a\u00a0b", "e\u0301.md", "🧙.md", "-", "a=b", "x?view=resolved", "(1)|<2>",
}

// TestAddress: an address leads back to the path that it was made of.
func TestAddress(t *testing.T) {
	for _, name := range odd {
		name = strings.TrimPrefix(name, "/")
		for _, source := range []string{catalog.Project, "user", "git-1", "a b", "~odd", "ä/?#%"} {
			address := catalog.Address(source, name)
			got, err := catalog.ParseRef(address)
			want := catalog.Ref{Source: source, Path: name}
			if source == catalog.Project {
				want.Source = ""
			}
			if err != nil || got != want {
				t.Errorf("%q of %q is %s, and that is %+v, %v", name, source, address, got, err)
			}
			if strings.ContainsAny(address, " \n\t\"<>") {
				t.Errorf("%s is no address that can stand in a text", address)
			}
		}
		for _, ref := range []catalog.Ref{{Path: name}, {Path: name, Resolved: true, Offset: 9, Cwd: "/srv/a b&c"}, {Source: "user", Path: name, Offset: 1}} {
			if got, err := catalog.ParseRef(ref.String()); err != nil || got != ref {
				t.Errorf("%+v is %s, and that is %+v, %v", ref, ref, got, err)
			}
		}
	}
	for _, tt := range []struct{ source, name, want string }{
		{catalog.Project, "_bmad/x.md", "bmad://_bmad/x.md"}, {"", "_bmad/x.md", "bmad://_bmad/x.md"}, {"user", "x.md", "bmad://~user/x.md"},
		{catalog.Project, "~user/x.md", "bmad://%7Euser/x.md"}, {"", "~user/x.md", "bmad://%7Euser/x.md"}, {"user", "~x/y", "bmad://~user/~x/y"},
		{catalog.Project, "a b/c#d", "bmad://a%20b/c%23d"}, {catalog.Project, "a@b:c$d", "bmad://a@b:c$d"}, {catalog.Project, "a+b", "bmad://a%2Bb"},
	} {
		if got := catalog.Address(tt.source, tt.name); got != tt.want {
			t.Errorf("%q of %q is %s, want %s", tt.name, tt.source, got, tt.want)
		}
	}
}

// FuzzParseRef: an accepted address is a path within, and its address leads back to it.
func FuzzParseRef(f *testing.F) {
	for _, name := range odd {
		f.Add(catalog.Address(catalog.Project, name))
		f.Add(catalog.Address("git-1", name) + "?view=resolved&offset=3")
	}
	for _, text := range []string{"", "..", "bmad://%2e%2e/x", "/etc/passwd", `a\b`, "bmad://~user/../x", "bmad://~%7E/%7Ex", "~~/~", "{project-root}/./x", "bmad://a%2Fb?cwd=/x&cwd=y", "file://x", "\xff%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := catalog.ParseRef(text)
		if err != nil {
			if got := fault.From(err); got.Code != fault.InvalidArgument || got.Hint == "" || len(got.Message) > 1000 {
				t.Fatalf("%q: %v (%s)", text, err, got.Hint)
			}
			return
		}
		if !fs.ValidPath(r.Path) || r.Path == "." || strings.ContainsAny(r.Path, "\x00\\\n\r") || r.Offset < 0 {
			t.Fatalf("%q is %+v", text, r)
		}
		again, err := catalog.ParseRef(r.String())
		if len(r.String()) > 2000 { // escaping has made it longer than an address may be
			return
		}
		if err != nil || again != r {
			t.Fatalf("%q is %+v, its address %s is %+v, %v", text, r, r, again, err)
		}
	})
}

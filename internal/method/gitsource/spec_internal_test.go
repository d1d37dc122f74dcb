package gitsource

import (
	"encoding/base64"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"git+https://example.org/org/repo.git#main:/src", "git+https://me:p%40ss@example.org:8443/a%20b#v1.0",
		"git+ssh://git@example.org/~me/repo", "git+file:///C:/srv/repo#:/docs/", "git+https://[::1]/é", "git+https://h/-x#-y:/-z",
		"git+ssh://-oProxyCommand=x@h/r", "git+https://u:1/p@h/r", "git+https://h/%2e%2e#a..b", "git+http://h/r?x#",
		"npm:@scope/name@1.2.3-a.b#:/src", "npm:name@latest", "npm:a~b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q gives %q, which is refused: %v", text, s, err)
		}
		bare := s
		bare.sealed = nil
		if again != bare || again.Key() != s.Key() {
			t.Errorf("%q: %q is read as %q", text, s, again)
		}
		for _, arg := range []string{s.url(), s.ref, s.sub, s.host, s.user, strings.TrimLeft(s.path, "/"), s.Key()} {
			if arg != "-c" && strings.HasPrefix(arg, "-") {
				t.Errorf("%q: %q could be read as an option", text, arg)
			}
			if strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%q: control characters in %q", text, arg)
			}
		}
		if s.url() == "" || strings.ContainsAny(s.Key(), `/\:`) || s.Key()[0] == '.' {
			t.Errorf("%q: url %q, key %q", text, s.url(), s.Key())
		}
		if s.sealed != nil && strings.ContainsAny(s.login().header(), "\r\n\x00") {
			t.Errorf("%q: more than a header: %q", text, s.login().header())
		}
	})
}

func TestLoginIsTakenOut(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct{ address, said, want string }{
		{"alice:hunter22", "fatal: hunter22 is wrong for alice", "*** is wrong for ***"},
		{"alice:hunter22", "remote: HUNTER22", "***"},
		{"alice:p%40ss%2Fw+rd", "got p@ss/w+rd and p%40ss%2Fw+rd and p%40ss%2fw%2brd", "got *** and *** and ***"},
		{"alice:hunter22", "token " + b64([]byte("alice:hunter22")) + "!", "token ***!"},
		{"alice:hunter2", "token " + b64([]byte("alice:hunter2")) + " and " + b64([]byte("hunter2")), "token *** and ***"},
		{"alice:h%75nter%20%C3%A92", "h%75nter%20%c3%a92, hunter+é2", "***, ***"},
		{"x:hunter22", "an x in exit", "an *** in exit"},
		{"ghp_0123456789", "no access for ghp_0123456789", "no access for ***"},
		{":hunter22", "hunter22", "***"},
		{"", "fatal: unable to access 'https://bob:pw@proxy.example.org/x'", "unable to access 'https://***@proxy.example.org/x'"},
		{"", "> Authorization: Basic YWxpY2U6", "> Authorization: Basic ***"},
		{"", "authorization: Bearer abc", "authorization: Bearer ***"},
		{"", "fatal: Authorization failed", "Authorization failed"},
		{"alice:hunter22", "a\x1b[31mhunter\x0022\nhint: x\n\nerror:  b  c\nfatal: b c", "a [31mhunter 22; b c"},
		{"", "fatal: it is dubious\nTo allow it, call:\n\n\tgit config x", "it is dubious; To allow it, call: git config x"},
		{"alice:hun%20%20ter", "hun  ter", "***"},
	} {
		text := "git+https://example.org/repo"
		if c.address != "" {
			text = "git+https://" + c.address + "@example.org/repo"
		}
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.login().cleanLine(c.said); got != c.want {
			t.Errorf("%s: %q is told as %q, not %q", c.address, c.said, got, c.want)
		}
	}
	var none *login
	if got := none.cleanLine(strings.Repeat("é", 2*maxProblem)); len(got) > maxProblem || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes are told", len(got))
	}
}

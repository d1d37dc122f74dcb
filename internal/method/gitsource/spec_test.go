package gitsource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"git+https://example.org/org/repo.git":                           "",
		"git+https://example.org/org/repo.git#main":                      "",
		"git+https://example.org/org/repo.git#v6.0.1:/src/bmm":           "",
		"git+https://example.org/org/repo.git#:/src":                     "",
		"git+https://example.org:8443/repo#feature/x_1+2":                "",
		"git+https://[::1]:8443/repo":                                    "",
		"git+https://example.org/a%20b/%C3%A9":                           "",
		"git+https://example.org/repo#0123abc":                           "",
		"git+https://example.org/repo#a:/-/x":                            "refused",
		"git+https://example.org/repo#a:/x/@scope":                       "",
		"git+https://example.org/repo/":                                  "git+https://example.org/repo",
		"git+https://example.org/repo#:/src/":                            "git+https://example.org/repo#:/src",
		"git+HTTPS://example.org/repo":                                   "git+https://example.org/repo",
		"git+https://example.org/é":                                      "git+https://example.org/%C3%A9",
		"git+https://me:secret@example.org/org/repo.git#main":            "git+https://example.org/org/repo.git#main",
		"git+https://token@example.org/repo":                             "git+https://example.org/repo",
		"git+https://:secret@example.org/repo":                           "git+https://example.org/repo",
		"git+https://me:a%2Fb%40c@example.org/repo":                      "git+https://example.org/repo",
		"git+ssh://git@example.org/org/repo.git#main":                    "",
		"git+ssh://example.org:2222/~me/repo":                            "",
		"git+file:///srv/git/repo.git#main:/docs":                        "",
		"git+file:///C:/git/repo":                                        "",
		"git+file:///srv/my%20repo":                                      "",
		"git+file:///srv/@home/repo":                                     "",
		"":                                                               "refused",
		"/srv/git/repo.git":                                              "refused",
		"https://example.org/repo":                                       "refused",
		"git+http://example.org/repo":                                    "refused",
		"git+git://example.org/repo":                                     "refused",
		"git+ext://example.org/repo":                                     "refused",
		"git+ext::sh -c x":                                               "refused",
		"git+":                                                           "refused",
		"git+https:example.org/repo":                                     "refused",
		"git+https:///repo":                                              "refused",
		"git+https://example.org":                                        "refused",
		"git+https://example.org/":                                       "refused",
		"git+https://-oProxyCommand=x/repo":                              "refused",
		"git+https://%2dx/repo":                                          "refused",
		"git+https://ex ample.org/repo":                                  "refused",
		"git+https://example.org/re po":                                  "refused",
		"git+https://example.org/repo\n":                                 "refused",
		"git+https://example.org/repo%0a":                                "refused",
		"git+https://example.org/repo\u202e":                             "refused",
		"git+https://example.org/\xff":                                   "refused",
		"git+https://example.org/%ff":                                    "refused",
		"git+https://example.org/a/../b":                                 "refused",
		"git+https://example.org/a/%2e%2e/b":                             "refused",
		"git+https://example.org/a//b":                                   "refused",
		"git+https://example.org/-x":                                     "refused",
		"git+https://example.org/%2dx":                                   "refused",
		"git+https://example.org\\repo":                                  "refused",
		"git+https://example.org/a%5cb":                                  "refused",
		"git+https://example.org/repo?x=1":                               "refused",
		"git+https://example.org/repo?":                                  "refused",
		"git+https://example.org:x/repo":                                 "refused",
		"git+https://@example.org/repo":                                  "refused",
		"git+https://a%3Ab:secret@example.org/repo":                      "refused",
		"git+https://me:sec%0aret@example.org/repo":                      "refused",
		"git+https://me:12/secret@example.org/repo":                      "refused",
		"git+https://me:secr#et@example.org/repo":                        "refused",
		"git+https://me:12/x#secret@example.org/repo":                    "refused",
		"git+https://me:secret%@example.org/repo":                        "refused",
		"git+ssh://git@example.org:org/repo.git":                         "refused",
		"git+ssh://git:secret@example.org/repo":                          "refused",
		"git+ssh://-oProxyCommand=x@example.org/repo":                    "refused",
		"git+ssh://-oProxyCommand=x/repo":                                "refused",
		"git+ssh://@example.org/repo":                                    "refused",
		"git+file://srv/git/repo.git":                                    "refused",
		"git+file://localhost/srv/repo":                                  "refused",
		"git+file://me@/srv/repo":                                        "refused",
		"git+file:///":                                                   "refused",
		"git+file:repo":                                                  "refused",
		"git+https://example.org/repo#":                                  "refused",
		"git+https://example.org/repo#:":                                 "refused",
		"git+https://example.org/repo#:/":                                "refused",
		"git+https://example.org/repo#main:":                             "refused",
		"git+https://example.org/repo#main:src":                          "refused",
		"git+https://example.org/repo#main:/../x":                        "refused",
		"git+https://example.org/repo#main:/a/./b":                       "refused",
		"git+https://example.org/repo#main://a":                          "refused",
		"git+https://example.org/repo#main:/a:b":                         "refused",
		"git+https://example.org/repo#main:/a\\b":                        "refused",
		"git+https://example.org/repo#main:/" + strings.Repeat("a", 501): "refused",
		"git+https://example.org/repo#-x":                                "refused",
		"git+https://example.org/repo#.x":                                "refused",
		"git+https://example.org/repo#/x":                                "refused",
		"git+https://example.org/repo#x/":                                "refused",
		"git+https://example.org/repo#x.":                                "refused",
		"git+https://example.org/repo#x.lock":                            "refused",
		"git+https://example.org/repo#x.lock/y":                          "refused",
		"git+https://example.org/repo#x/.y":                              "refused",
		"git+https://example.org/repo#a..b":                              "refused",
		"git+https://example.org/repo#a//b":                              "refused",
		"git+https://example.org/repo#a@{1}":                             "refused",
		"git+https://example.org/repo#a~1":                               "refused",
		"git+https://example.org/repo#a^{commit}":                        "refused",
		"git+https://example.org/repo#a*":                                "refused",
		"git+https://example.org/repo#é":                                 "refused",
		"git+https://example.org/repo#$(x)":                              "refused",
		"git+https://example.org/repo#" + strings.Repeat("a", 201):       "refused",
		"git+https://example.org/" + strings.Repeat("a", 2000):           "refused",
		"npm:name":              "",
		"npm:name@1.2.3":        "",
		"npm:@scope/name@1.2.3": "",
		"npm:@scope/name":       "",
		"npm:@my-scope/a.b_c~d@6.0.0-Beta.5#:/src": "",
		"npm:name@latest":                          "",
		"npm:name@next-11#:/a/b":                   "",
		"npm:name@v6-alpha":                        "",
		"npm:name#:/src/":                          "npm:name#:/src",
		"npm:":                                     "refused",
		"npm:@":                                    "refused",
		"npm:@scope":                               "refused",
		"npm:@scope/":                              "refused",
		"npm:@/name":                               "refused",
		"npm:/name":                                "refused",
		"npm:@scope/name/more":                     "refused",
		"npm:scope/name":                           "refused",
		"npm:Name":                                 "refused",
		"npm:@Scope/name":                          "refused",
		"npm:..":                                   "refused",
		"npm:../x":                                 "refused",
		"npm:@../x":                                "refused",
		"npm:@scope/..":                            "refused",
		"npm:@scope%2fname":                        "refused",
		"npm:.hidden":                              "refused",
		"npm:-x":                                   "refused",
		"npm:_":                                    "refused",
		"npm:na me":                                "refused",
		"npm:na\\me":                               "refused",
		"npm:näme":                                 "refused",
		"npm:name?x=y":                             "refused",
		"npm:name\n":                               "refused",
		"npm://name":                               "refused",
		"npm:" + strings.Repeat("a", 101):          "refused",
		"npm:name@":                                "refused",
		"npm:name@1":                               "refused",
		"npm:name@1.2":                             "refused",
		"npm:name@^1.2.3":                          "refused",
		"npm:name@~1.2.3":                          "refused",
		"npm:name@>=1.2.3":                         "refused",
		"npm:name@1.2.x":                           "refused",
		"npm:name@x":                               "refused",
		"npm:name@*":                               "refused",
		"npm:name@v1.2.3":                          "refused",
		"npm:name@1.2.3 || 2.0.0":                  "refused",
		"npm:name@1.2.3-":                          "refused",
		"npm:name@1.2.3-a..b":                      "refused",
		"npm:name@1.2.3/../x":                      "refused",
		"npm:name@../x":                            "refused",
		"npm:name@npm:other@1":                     "refused",
		"npm:name@1.2.3@4.5.6":                     "refused",
		"npm:name@file:x":                          "refused",
		"npm:name@1.2.3#":                          "refused",
		"npm:name@1.2.3#v1":                        "refused",
		"npm:name@1.2.3#v1:/src":                   "refused",
		"npm:name@1.2.3#:":                         "refused",
		"npm:name@1.2.3#:/../x":                    "refused",
		"npm:name@1.2.3:/src":                      "refused",
		"NPM:name":                                 "refused",
		"git+npm:name":                             "refused",
	} {
		if want == "" {
			want = text
		}
		s, err := gitsource.Parse(text)
		if want != "refused" {
			if err != nil || s.String() != want {
				t.Errorf("%q: %q, %v; want %q", text, s, err, want)
			}
			continue
		}
		if !fault.Is(err, fault.InvalidArgument) || s != (gitsource.Spec{}) {
			t.Errorf("%q: %q, %v; want it refused", text, s, err)
			continue
		}
		if hint := fault.From(err).Hint; !strings.Contains(hint, "git+https://host/org/repo.git#ref:/folder") && hint != "write git+"+text {
			t.Errorf("%q: hint %q", text, hint)
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "secr") {
			t.Errorf("%q: the error shows a password: %v", text, err)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"git+http://example.org/repo":              "use git+https://",
		"git+ssh://git@example.org:org/repo.git":   "a host ends with /",
		"git+file://srv/repo":                      "absolute path",
		"git+https://example.org/repo?ref=x":       "query",
		"https://example.org/repo":                 "begin with git+",
		"npm:name@^1.2":                            "one exact version",
		"npm:Name":                                 "small letters",
		"npm:name@1.2.3#v2":                        "the version stands after @",
		"git+https://me:12/secret@example.org/rep": "%2F",
	} {
		if _, err := gitsource.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q in it", text, err, want)
		}
	}
}

func TestKey(t *testing.T) {
	key := func(text string) string { return parseSpec(t, text).Key() }
	base := key("git+https://example.org/Org/repo.git#main")
	if !strings.HasPrefix(base, "example.org-org-repo-") {
		t.Errorf("nobody knows %q again", base)
	}
	for _, same := range []string{
		"git+https://example.org/Org/repo.git#main:/src",
		"git+https://me:secret@example.org/Org/repo.git#main",
		"git+https://example.org/Org/repo.git/#main:/other",
	} {
		if key(same) != base {
			t.Errorf("%s has a copy of its own", same)
		}
	}
	seen := map[string]string{base: "the first"}
	for _, other := range []string{
		"git+https://example.org/Org/repo.git",
		"git+https://example.org/Org/repo.git#next",
		"git+https://example.org/org/repo.git#main",
		"git+https://example.org:444/Org/repo.git#main",
		"git+ssh://example.org/Org/repo.git#main",
		"git+ssh://git@example.org/Org/repo.git#main",
		"git+file:///example.org/Org/repo.git#main",
	} {
		k := key(other)
		if seen[k] != "" {
			t.Errorf("%s shares a copy with %s", other, seen[k])
		}
		seen[k] = other
	}
	long := key("git+file:///" + strings.Repeat("é/../"[:2]+"/", 300) + "x")
	if len(long) > 80 || strings.Trim(long, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		t.Errorf("no name for a folder: %q", long)
	}
}

// TestNoCredentialsInPrint prints a Spec in every way that somebody might.
func TestNoCredentialsInPrint(t *testing.T) {
	s := parseSpec(t, "git+https://alice:hunter22@example.org/repo")
	in := struct{ inner gitsource.Spec }{s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
		fmt.Fprintf(&out, verb+verb+verb+verb, s, &s, in, []gitsource.Spec{s})
	}
	data, err := json.Marshal([]any{s, in})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "spec", s, "in", in)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "spec", s, "in", in)
	for _, secret := range []string{"hunter22", "alice", fmt.Sprintf("%x", "hunter22"), fmt.Sprintf("%x", "alice")} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is shown in %s", secret, out.String())
		}
	}
	if !strings.Contains(out.String(), "git+https://example.org/repo") {
		t.Error("nothing was printed")
	}
}

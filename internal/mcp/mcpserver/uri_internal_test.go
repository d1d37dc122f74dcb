package mcpserver

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		text string
		want address // the zero one: refused
	}{
		{"bmad-task://sessions", address{view: "sessions"}},
		{"bmad-task://sessions/", address{view: "sessions"}},
		{"bmad-task://sessions?cwd=%2Fhome%2Fme%2Fa%20b", address{view: "sessions", cwd: "/home/me/a b"}},
		{`bmad-task://sessions?cwd=C%3A%5Cwork`, address{view: "sessions", cwd: `C:\work`}},
		{"bmad-task://workflow", address{view: "workflow"}},
		{"bmad-task://sessions/build-a-clock", address{view: "session", session: "build-a-clock"}},
		{"bmad-task://sessions/7d3f/history", address{view: "history", session: "7d3f"}},
		{"bmad-task://sessions/..%2F..%2Fetc%2Fpasswd", address{view: "session", session: "../../etc/passwd"}}, // which is no session's id
		{"bmad-task://tasks/x/artifacts/po", address{view: "po", session: "x"}},
		{"bmad-task://tasks/x/artifacts/01-product-requirements.md?cwd=/p", address{view: "01-product-requirements.md", session: "x", cwd: "/p"}},

		{"bmad-task://tasks/x/artifacts/session", address{}},
		{"bmad-task://tasks/x/artifacts/workflow", address{}},
		{"bmad-task://tasks/x", address{}},
		{"bmad-task://sessions/x/y", address{}},
		{"bmad-task://sessions//history", address{}},
		{"bmad-task://sessions/a/history/b", address{}},
		{"bmad-task:sessions", address{}},
		{"bmad-task://", address{}},
		{"bmad-task://me@sessions", address{}},
		{"bmad-task://sessions#x", address{}},
		{"bmad://sessions", address{}},
		{"file:///etc/passwd", address{}},
		{"", address{}},
		{"%", address{}},
	} {
		got, err := parseAddress(c.text)
		if c.want == (address{}) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%q: %+v, %v; want it refused", c.text, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
}

// FuzzAddress looks for an address that is read and leads elsewhere than the one that is
// made of what was read.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"bmad-task://sessions/a%2Fb", "bmad-task://tasks/deng-lu/artifacts/po", "bmad-task://sessions/x/history?cwd=/a", "bmad-task://sessions"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAddress(text)
		if err != nil || a.session == "" {
			return
		}
		again := sessionURI(a.session)
		if strings.HasPrefix(text, scheme+"://tasks/") {
			again = artifactURI(a.session, a.view)
		}
		b, err := parseAddress(again)
		if err != nil || b.session != a.session {
			t.Errorf("%q gives %+v, whose address %q gives %+v, %v", text, a, again, b, err)
		}
	})
}

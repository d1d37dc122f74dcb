package git

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestTransportOf checks what git would take for an address, and that no address runs a program.
func TestTransportOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/x.git": "https", "http://u:p@h:80/x": "http", "HTTPS://h/x": "https",
		"ssh://git@h/x": "ssh", "git+ssh://h/x": "ssh", "git://h/x": "git", "file:///a/b": "file",
		"git@h:x/y.git": "ssh", "h:x": "ssh", "[::1]:x": "ssh", "u@[::1]:x": "ssh", "/a/b": "file",
		"../x": "file", "x y": "file", "./a:b": "file", `C:\x`: "file", "C:/x": "file", "a/b://c": "file",
		"": "", "-x": "", "--upload-pack=x": "", "ext::sh -c x": "", "::x": "", "fd::1": "", "https::x": "",
		"a.b+c::x": "", "ext://x": "", "ftp://h/x": "", "://x": "", "x\ny": "", "x\x00": "",
		"ssh://-oProxyCommand=x/y": "", "ssh://u@-oProxyCommand=x/y": "", "-oProxyCommand=x:y": "", "u@-oProxyCommand=x:y": "", "h:-x": "", ":x": "", strings.Repeat("x", 3000): "",
	} {
		if got, err := transportOf(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", address, got, err, want)
		}
	}
}

// TestLateRemote checks the words if a remote takes too long, and that moving data may take longer than an answer.
func TestLateRemote(t *testing.T) {
	for what, want := range map[string]string{
		"ls-remote": "the remote did not answer within 2m0s", "push": "git push did not end within 30m0s", "fetch": "git fetch did not end within 30m0s",
	} {
		r := &remote{desk: &desk{limit: timeLimit}}
		if what != "ls-remote" {
			r.limit = transferLimit
		}
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		_, err := r.run(ctx, what)
		cancel()
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
}

// FuzzReadBundle reads bundles that others made.
func FuzzReadBundle(f *testing.F) {
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 64)
	for _, text := range []string{
		"", "# v2 git bundle\n-" + one + " x\n" + two + " refs/heads/x\n\nPACKx",
		"# v3 git bundle\n@object-format=sha1\n" + one + " HEAD\n\nPACK", "# v2 git bundle\n\nPACK", "# v2 git bundle\n--all\n\nPACK",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readBundle(data)
		if err != nil {
			return
		}
		for _, hash := range append(b.bases, b.head) {
			if !commitForm.MatchString(hash) {
				t.Errorf("%q is not a hash", hash)
			}
		}
		if !strings.HasPrefix(string(b.pack), "PACK") {
			t.Errorf("%.20q is not a pack", b.pack)
		}
	})
}

// TestPasswordsAreMasked checks that no word of an address that may be secret is shown.
func TestPasswordsAreMasked(t *testing.T) {
	for address, text := range map[string]string{
		"https://user:hunter22@h/x": "cannot reach https://user:hunter22@h/x", "https://hunter22@h/x": "hunter22", "https://u:hunter%32%32@h/x": "hunter22, hunter%32%32",
	} {
		if got := withoutPassword(text, address); strings.Contains(got, "hunter") {
			t.Errorf("%s: %q", address, got)
		}
	}
	if got := withoutPassword("git@h", "ssh://git@h/x"); got != "git@h" {
		t.Errorf("got %q", got)
	}
}

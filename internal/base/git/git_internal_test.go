package git

import (
	"slices"
	"strings"
	"testing"
)

// TestEnvironment checks that git gets the person's variables that it needs, and none that asks them or
// belongs to another repository.
func TestEnvironment(t *testing.T) {
	c := Call{Protocol: "https", Repository: "/r", Tree: "/w", Secrets: []string{"http.https://example.org/repo.extraHeader", "Authorization: Basic x"}, Env: []string{"GIT_INDEX_FILE=/i"}}
	inherited := strings.Fields(`HOME=/home/me PATH=/bin https_proxy=x LANG=de SSH_AUTH_SOCK=/s
		GIT_CONFIG_GLOBAL=/g GIT_CONFIG_SYSTEM=/s GIT_CONFIG_NOSYSTEM=1 GIT_EXEC_PATH=/e GIT_SSH_COMMAND=ssh GIT_SSH= GIT_SSL_CAINFO=/c
		GIT_PROXY_SSL_CERT=/p GIT_HTTP_USER_AGENT=u
		GIT_DIR=/x GIT_WORK_TREE=/x GIT_INDEX_FILE=/x GIT_OBJECT_DIRECTORY=/x GIT_ALTERNATE_OBJECT_DIRECTORIES=/x GIT_COMMON_DIR=/x
		GIT_NAMESPACE=x GIT_PREFIX=x GIT_CONFIG=/x GIT_CONFIG_PARAMETERS=x GIT_TEMPLATE_DIR=/x GIT_DEFAULT_HASH=x GIT_TRACE=/x
		GIT_TRACE_CURL=1 GIT_CURL_VERBOSE=1 GIT_ASKPASS=/ask SSH_ASKPASS=/ask SSH_ASKPASS_REQUIRE=force GIT_TERMINAL_PROMPT=1
		GIT_ALLOW_PROTOCOL=ext GCM_INTERACTIVE=always LC_ALL=de LANGUAGE=de git_dir=/x BMAD_STORE=postgres://u:secret@h/d bmad_x=y PGPASSWORD=secret
		GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c GIT_CONFIG_KEY_1=d.e GIT_CONFIG_VALUE_1= GIT_CONFIG_KEY_2=f.g`)
	want := strings.Fields(`HOME=/home/me PATH=/bin https_proxy=x LANG=de SSH_AUTH_SOCK=/s
		GIT_CONFIG_GLOBAL=/g GIT_CONFIG_SYSTEM=/s GIT_CONFIG_NOSYSTEM=1 GIT_EXEC_PATH=/e GIT_SSH_COMMAND=ssh GIT_SSL_CAINFO=/c
		GIT_PROXY_SSL_CERT=/p GIT_HTTP_USER_AGENT=u
		GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c GIT_CONFIG_KEY_1=d.e GIT_CONFIG_VALUE_1=
		GIT_CONFIG_KEY_2=http.https://example.org/repo.extraHeader GIT_CONFIG_VALUE_2=Authorization:+Basic+x GIT_CONFIG_COUNT=3
		GIT_DIR=/r GIT_ALLOW_PROTOCOL=https GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= GIT_LFS_SKIP_SMUDGE=1
		SSH_ASKPASS_REQUIRE=never GCM_INTERACTIVE=never LC_ALL=C GIT_WORK_TREE=/w GIT_INDEX_FILE=/i`)
	got := c.environment(inherited)
	for i, entry := range got {
		got[i] = strings.ReplaceAll(entry, " ", "+")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, odd := range []string{"-1", "x", "99999999999999999999", ""} {
		got := c.environment([]string{"GIT_CONFIG_COUNT=" + odd, "GIT_CONFIG_KEY_0=a.b"})
		if !slices.Contains(got, "GIT_CONFIG_KEY_0=http.https://example.org/repo.extraHeader") && !slices.Contains(got, "GIT_CONFIG_KEY_1=http.https://example.org/repo.extraHeader") {
			t.Errorf("a count of %q: %q", odd, got)
		}
	}
}

// TestTailHasWholeLines checks that no line is cut, because half of a secret would not be masked.
func TestTailHasWholeLines(t *testing.T) {
	var one, many lastLines
	for range 3 * maxSaid {
		_, _ = one.Write([]byte("hunter22 "))
		_, _ = many.Write([]byte("hunter22\n"))
	}
	if len(one.data) > 3*maxSaid || one.String() != "" {
		t.Errorf("%d bytes are kept, told is %.40q", len(one.data), one.String())
	}
	for line := range strings.Lines(many.String()) {
		if line != "hunter22\n" {
			t.Errorf("part of a line: %q", line)
		}
	}
	if many.String() == "" {
		t.Error("nothing is kept")
	}
}

package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestWriteSettings has git read what was written for it.
func TestWriteSettings(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	all := []setting{
		{key: "a.b", value: "c"}, {key: "a.b", value: ""}, {key: "a.b", isBare: true}, {key: "a.x y.b", value: " c # d ; \"e\" \\f "},
		{key: "url.https://u:p@h/?a=b.c.insteadof", value: "x\ny\tz\r\n\b"}, {key: "a.D \"]= \\ E.b", value: "ü\r"}, {key: "a..b", value: "\""},
	}
	name := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(name, []byte(settingsText(all)), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Call{Env: []string{"GIT_CONFIG_GLOBAL=" + name, "GIT_CONFIG_NOSYSTEM=1"}}.listSettings(t.Context())
	got = slices.DeleteFunc(got, func(s setting) bool { return s.scope != "global" })
	for i := range got {
		got[i].scope = ""
	}
	if !slices.Equal(got, all) || err != nil {
		t.Errorf("git reads %+v, %v", got, err)
	}
}

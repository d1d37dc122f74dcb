package reach_test

import (
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// TestJudge lists the ways in which paths may be used, none of which exists.
func TestJudge(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	rules := reach.NewRules([]string{"/home/ana", "/Users/ana", "/var/accounts/ana"}, []string{
		"XDG_CONFIG_HOME=/srv/ana/config", "XDG_STATE_HOME=/srv/ana/state", "GNUPGHOME=/srv/ana/pgp", "DOCKER_CONFIG=relative", "HOME=/elsewhere",
	})
	// A letter for each way: o opened, k known, l listed, a asked.
	for path, ways := range map[string]string{
		// Projects.
		"/home/ana/src/relay":                           "okla",
		"/home/ana/src":                                 "okla",
		"/home/ana/Documents":                           "okla",
		"/home/ana/sshd":                                "okla",
		"/home/ana/src/.config":                         "okla",
		"/home/ana/src/relay/.claude/worktrees/one":     "okla",
		"/home/anabel/src":                              "okla",
		"/srv/projects/relay":                           "okla",
		"/tmp/demo":                                     "okla",
		"/mnt/c/Users/x/src":                            "okla",
		"/var/lib/jenkins/workspace/relay":              "okla",
		"/Users/ana/Library/Mobile Documents/x/relay":   "okla",
		"/Users/ana/Library/CloudStorage/Dropbox/relay": "okla",
		"/srv/ana/config/nvim":                          "okla",
		"/srv/ana/config":                               "okla",
		"/run/media/ana/stick/relay":                    "okla",
		"/home/ana/snap/code/relay":                     "okla",
		"/proceedings/relay":                            "okla",
		"/home/ana/src/gh":                              "okla",
		// Hidden folders of a home, for a person who works in them.
		"/home/ana/.dotfiles":                 "okl",
		"/home/ana/.config/nvim":              "okl",
		"/home/ana/.config/ghostty":           "okl",
		"/home/ana/.cursor/worktrees/relay/x": "okl",
		"/home/ana/.codex/worktrees/1/relay":  "okl",
		"/home/ana/.claude/skills/mine":       "okl",
		"/home/ana/.cargo/registry/src/x":     "okl",
		"/home/ana/.Emacs.d":                  "okl",
		"/Users/ana/Library/Fonts":            "okl",
		"/Users/ana/AppData/Local/Temp/x":     "okl",
		// The system's.
		"/etc":                "ok",
		"/etc/nginx":          "ok",
		"/private/etc/nginx":  "ok",
		"/dev/shm/relay":      "ok",
		"/run/user/1000/doc":  "ok",
		"/run/secrets/x":      "ok",
		"/proc":               "",
		"/proc/1/root/home/x": "",
		"/sys/kernel":         "",
		// Homes, and the folders above them.
		"/":                 "",
		"/home":             "",
		"/HOME":             "",
		"/home/ana":         "",
		"/home/Ana":         "",
		"/Users":            "",
		"/Users/ana":        "",
		"/var":              "",
		"/var/accounts":     "",
		"/var/accounts/ana": "",
		// Credentials, and the folders below and above them.
		"/home/ana/.ssh":                                 "",
		"/home/ana/.SSH/keys":                            "",
		"/home/ana/.ſsh":                                 "",
		"/home/ana/.gnupg/private-keys-v1.d":             "",
		"/home/ana/.aws":                                 "",
		"/home/ana/.aws/sso/cache":                       "",
		"/home/ana/.kube":                                "",
		"/home/ana/.docker":                              "",
		"/home/ana/.config":                              "",
		"/home/ana/.config/gh":                           "",
		"/home/ana/.config/gcloud/legacy":                "",
		"/home/ana/.config/google-chrome/Default":        "",
		"/home/ana/.config/bmad-mcp":                     "",
		"/home/ana/.local":                               "",
		"/home/ana/.local/share/keyrings":                "",
		"/home/ana/.local/state/bmad-mcp":                "",
		"/home/ana/.mozilla/firefox/x":                   "",
		"/home/ana/.password-store":                      "",
		"/home/ana/.terraform.d":                         "",
		"/home/ana/.claude":                              "",
		"/home/ana/.codex":                               "",
		"/home/ana/.m2":                                  "",
		"/home/ana/snap/firefox/common":                  "",
		"/Users/ana/Library":                             "",
		"/Users/ana/Library/Keychains":                   "",
		"/Users/ana/library/keychains/login":             "",
		"/Users/ana/Library/Application Support":         "",
		"/Users/ana/Library/Application Support/Firefox": "",
		"/Users/ana/AppData/Roaming":                     "",
		"/Users/ana/AppData/Roaming/Microsoft/Protect/x": "",
		"/var/accounts/ana/.ssh":                         "",
		"/home/bob/.ssh":                                 "",
		"/srv/backup/ana/.gnupg":                         "",
		"/srv/ana/config/gh":                             "",
		"/srv/ana/config/bmad-mcp":                       "",
		"/srv/ana/state/bmad-mcp/turns":                  "",
		"/srv/ana/pgp":                                   "",
	} {
		got := ""
		for _, way := range []struct {
			letter string
			by     reach.Way
		}{{"o", reach.Opened}, {"k", reach.Known}, {"l", reach.Listed}, {"a", reach.Asked}} {
			why := rules.Judge(path, way.by)
			if why.Empty() {
				got += way.letter
			} else if !strings.HasPrefix(why.String(), "it ") && !strings.HasSuffix(why.String(), " are kept there") {
				t.Errorf("%s: %q does not go on a sentence", path, why)
			}
		}
		if got != ways {
			t.Errorf("%s: %q, want %q (%s)", path, got, ways, rules.Judge(path, reach.Asked))
		}
	}
}

// TestHomesOfTheAccount checks that a home that the environment has made up does not open the true one, which
// is not HOME's if the tests themselves run with another.
func TestHomesOfTheAccount(t *testing.T) {
	account, err := user.Current()
	if err != nil {
		t.Skip("SKIPPED: the account of this process is not known: ", err)
	}
	if account.HomeDir == "" || account.HomeDir == filepath.Dir(account.HomeDir) {
		t.Skip("SKIPPED: the account of this process has no home")
	}
	made := t.TempDir()
	t.Setenv("HOME", made)
	t.Setenv("USERPROFILE", made)
	rules := reach.NewRules(nil, nil)
	for _, home := range []string{account.HomeDir, made} {
		for _, below := range []string{".", ".ssh", filepath.Join(".config", "gh")} {
			if rules.Judge(filepath.Join(home, below), reach.Opened).Empty() {
				t.Errorf("%s may be used", filepath.Join(home, below))
			}
		}
	}
}

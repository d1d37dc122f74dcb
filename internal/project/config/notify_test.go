package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// TestNotifySetting: only the person's own file says who is told, a wrong value is refused with its line, and no secret of it is
// shown.
func TestNotifySetting(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		environ             []string
		want                string
		ignored, wrong      string
	}{
		{name: "nothing"},
		{name: "a command", user: "notify: [notify-send, hush, \"{text}\"]\n", want: "notify-send …"},
		{name: "a service", user: "notify: ntfy https://ntfy.sh/hush\n", want: "ntfy https://ntfy.sh/…"},
		{name: "off", user: "notify: off\n"},
		{name: "an empty list", user: "notify: []\n"},
		{name: "without a value", user: "notify:\n"},
		{name: "of the project", project: "notify: [beep, hush]\n", ignored: "notify does not count: only your own file can name a place for notices"},
		{name: "of the project, beside the person's", user: "notify: beep\n", project: "notify: slack https://hooks.slack.com/hush\n", want: "beep", ignored: "notify does not count"},
		{name: "of the project, off", user: "notify: beep\n", project: "notify: off\n", want: "beep", ignored: "notify does not count"},
		{name: "of the project, wrong", project: "notify: [./beep, hush]\n", ignored: "notify does not count"},
		{name: "a variable", environ: []string{"BMAD_NOTIFY=ntfy https://ntfy.sh/hush"}, ignored: "notify does not count"},
		{name: "a wrong one", user: "gate: auto\nnotify: https://host.example/hush\n", wrong: "line 2: notify: a webhook has its secret behind the address"},
		{name: "a block", user: "notify:\n  url: https://host.example/hush\n", wrong: "line 1: notify takes a value, not a block"},
		{name: "lists", user: "notify: [[hush]]\n", wrong: "line 1: expected a list of plain values"},
		{name: "a near key", user: "notifi: beep\n", wrong: "line 1: unknown key \"notifi\", did you mean notify?"},
		{name: "twice", user: "notify: beep\nnotify: boop\n", wrong: "line 2: notify is in line 1 already"},
	} {
		got, err := load(t, c.project, c.user, c.environ...)
		effective := got.Effective()
		at := slices.IndexFunc(effective, func(s config.Setting) bool { return s.Key == "notify" })
		shown := fmt.Sprint(err, got.Ignored)
		if c.wrong == "" {
			shown += fmt.Sprint(effective[at])
		}
		if strings.Contains(shown, "hush") {
			t.Errorf("%s: it is shown: %s", c.name, shown)
		}
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %s", c.name, err, c.wrong)
			}
			continue
		}
		if err != nil || got.Notify.String() != c.want || got.Notify.IsNone() != (c.want == "") || effective[at].Value != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got.Notify, err, c.want)
		}
		if text := lang.Join(got.Ignored, "\n").String(); !strings.Contains(text, c.ignored) || c.ignored == "" && text != "" {
			t.Errorf("%s: not counted: %s; want %s", c.name, text, c.ignored)
		}
	}
}

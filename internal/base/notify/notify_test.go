package notify

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// TestPlain makes names harmless, wherever they are carried.
func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"dark-mode":                       "dark-mode",
		"时钟":                              "时钟",
		"座位预约系统.v2":                       "座位预约系统_v2",
		"हिन्दी":                          "हिन्दी",
		"ภาษาไทย":                         "ภาษาไทย",
		"cafe\u0301":                      "cafe\u0301",
		"ว\u0e31\u0e49น":                  "ว\u0e31\u0e49น",
		"\u0338x":                         "_x",
		"-\u0301-x":                       "_-x",
		"x" + strings.Repeat("\u0301", 9): "x\u0301\u0301\u0301______",
		"a<\u0338b":                       "a__b",
		"a\ufe0fb":                        "a_ufe0fb",
		"a\u034fb":                        "a_u034fb",
		"\u3164":                          "_u3164",
		"1\u20e3":                         "1_",
		"a\u200db":                        "a_u200db",
		"my project":                      "my_project",
		"--delete":                        "delete",
		"-.-x":                            "_-x",
		"../etc":                          "___etc",
		"evil.example":                    "evil_example",
		"10.0.0.1":                        "10_0_0_1",
		"$(rm -rf ~)":                     "__rm_-rf___",
		"<!channel> *x* `y`":              "__channel___x___y_",
		"a\r\nClick: http://evil":         "a_Click__http___evil",
		"%PATH%":                          "_PATH_",
		"a\u202eb":                        "a_u202eb",
		"":                                "",
		strings.Repeat("x", 500):          strings.Repeat("x", 60),
	} {
		if got := PlainName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzPlain: no name has more than letters with their marks, digits and two signs, nothing in it is hidden, none begins
// like an option, and a plain name stays.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"dark-mode", "--x", "\xff\xfe", "ㅤ", "a\x00b", "\u202ex", "हिन्दी", "e\u0301\u0301\u0301\u0301", "-\u0338<"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := PlainName(name)
		for _, r := range got {
			if !unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc) && !strings.ContainsRune("-_", r) {
				t.Errorf("%q: %q has %q", name, got, r)
			}
		}
		if visible.Hides(got) || strings.HasPrefix(got, "-") || len([]rune(got)) > maxName || PlainName(got) != got {
			t.Errorf("%q: %q", name, got)
		}
	})
}

// TestText says each event in both languages, in words of which none means anything to a shell.
func TestText(t *testing.T) {
	for event, want := range map[Event][2]string{
		Decision:   {"bmad-mcp: dark-mode in clock waits for your decision at po", "bmad-mcp：clock 的 dark-mode 在 po 等你决定"},
		Questions:  {"bmad-mcp: dark-mode in clock waits for your answers at po", "bmad-mcp：clock 的 dark-mode 在 po 等你回答问题"},
		FailedWork: {"bmad-mcp: the work of dark-mode in clock failed at po and waits for your decision", "bmad-mcp：clock 的 dark-mode 在 po 的工作没有通过，等你决定"},
		Ended:      {"bmad-mcp: dark-mode in clock is complete", "bmad-mcp：clock 的 dark-mode 已完成"},
		Failed:     {"bmad-mcp: dark-mode in clock has stopped at po by an error", "bmad-mcp：clock 的 dark-mode 在 po 因错误停止"},
		Budget: {"bmad-mcp: dark-mode in clock has stopped at po because its budget or its time is used up",
			"bmad-mcp：clock 的 dark-mode 在 po 停止：预算或时间已用完"},
		Test:    {"bmad-mcp: a test of notices", "bmad-mcp：通知测试"},
		"newer": {"bmad-mcp: a test of notices", "bmad-mcp：通知测试"},
	} {
		n := Notice{Event: event, Run: "dark-mode", Project: "clock", Stage: "po"}
		for i, l := range []lang.Language{lang.English, "zh"} {
			got := n.Text(l)
			if got != want[i] || strings.ContainsAny(got, "$`\"'\\!&|;<>()[]{}*?#~%^\n") {
				t.Errorf("%s: %s, want %s", event, got, want[i])
			}
		}
	}
}

// TestIDOf gives one notice one id.
func TestIDOf(t *testing.T) {
	if a, b := IDOf("s 3", Decision), IDOf("s 3", Decision); a != b || len(a) != 28 {
		t.Errorf("%s and %s", a, b)
	}
	if IDOf("s 3", Decision) == IDOf("s 4", Decision) || IDOf("s 3", Decision) == IDOf("s 3", Questions) {
		t.Error("two notices have one id")
	}
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestParse reads the forms of the setting, and refuses others without their secrets.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   string // the target for people, or a part of the error
	}{
		{"none", []string{""}, ""},
		{"an empty list", nil, ""},
		{"off", []string{"off"}, ""},
		{"no", []string{"false"}, ""},
		{"a program", []string{"beep"}, "beep"},
		{"a command", []string{"notify-send", "{text}"}, "notify-send …"},
		{"an absolute one", []string{"/opt/my tools/tell", "-x"}, "/opt/my tools/tell …"},
		{"a secret argument", []string{"curl", "-HAuthorization: Bearer hush"}, "curl …"},
		{"a shell by itself", []string{"sh", "-c", `say "$1"`, "_", "{text}"}, "sh …"},
		{"a service", []string{"ntfy https://ntfy.sh/hush"}, "ntfy https://ntfy.sh/…"},
		{"a service with a token", []string{"ntfy  https://ntfy.sh/hush  tk_hush"}, "ntfy https://ntfy.sh/…"},
		{"a service at home", []string{"ntfy http://192.168.1.2:8080/hush"}, "ntfy http://192.168.1.2:8080/…"},
		{"slack", []string{"slack https://hooks.slack.com/services/T/B/hush"}, "slack https://hooks.slack.com/…"},
		{"a webhook", []string{"https://host.example/hush?key=hush " + secret}, "https://host.example/…"},
		{"a line", []string{"notify-send {text}"}, "error: a command is a list"},
		{"part of an argument", []string{"sh", "-c", "say {text}"}, "error: {text} is an argument by itself"},
		{"of the project", []string{"./hush.sh", "x"}, "error: the program is a path inside some project"},
		{"of the project, by folder", []string{"node_modules/.bin/hush"}, "error: the program is a path inside some project"},
		{"of the project, above", []string{`..\hush`, "x"}, "error: the program is a path inside some project"},
		{"nothing", []string{"", "x"}, "error: the command has no program"},
		{"a list of an address", []string{"https://host.example/hush", secret}, "error: an address stands in one line"},
		{"a character", []string{"a", "hush\x00"}, "error: the command has a character"},
		{"without a secret", []string{"https://host.example/hush"}, "error: a webhook has its secret behind the address"},
		{"a short secret", []string{"https://host.example/hush whsec_aHVzaA=="}, "error: a webhook has its secret behind the address"},
		{"another secret", []string{"https://host.example/hush hushhushhushhushhushhushhushhush"}, "error: a webhook has its secret behind the address"},
		{"more words", []string{"https://host.example/hush " + secret + " x"}, "error: a webhook has its secret behind the address"},
		{"a password", []string{"https://me:hush@host.example/ " + secret}, "error: the address is not one of a webhook"},
		{"a mark", []string{"https://host.example/#hush " + secret}, "error: the address is not one of a webhook"},
		{"another scheme", []string{"ftp://host.example/hush " + secret}, "error: the address is not one of a webhook"},
		{"a file", []string{"file:///hush " + secret}, "error: the address is not one of a webhook"},
		{"no host", []string{"https://:443/hush " + secret}, "error: the address is not one of a webhook"},
		{"no topic", []string{"ntfy https://ntfy.sh/"}, "error: write ntfy and the address of a topic"},
		{"no address", []string{"ntfy hush"}, "error: write ntfy and the address of a topic"},
		{"a topic alone", []string{"ntfy"}, "error: write ntfy and the address of a topic"},
		{"a bad token", []string{"ntfy https://ntfy.sh/hush hüsh"}, "error: write ntfy and the address of a topic"},
		{"slack and more", []string{"slack https://hooks.slack.com/services/hush x"}, "error: write slack and the address"},
		{"slack alone", []string{"slack"}, "error: write slack and the address"},
	} {
		target, err := Parse(c.values)
		got := target.String()
		if err != nil {
			got = "error: " + strings.TrimPrefix(err.Error(), "notify: ")
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want) || c.want == "") || strings.Contains(got, "hush") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if target.IsNone() != (err != nil || c.want == "") {
			t.Errorf("%s: a target: %v", c.name, !target.IsNone())
		}
	}
}

// TestFailure keeps the last failure until a notice arrives.
func TestFailure(t *testing.T) {
	state := t.TempDir() + "/new"
	if f, ok := LastFailure(state); ok {
		t.Errorf("%+v", f)
	}
	if err := Forget(state); err != nil {
		t.Error(err)
	}
	want := Failure{At: time.Unix(1600000000, 0).UTC(), Target: "beep", Why: "it broke"}
	if err := want.Keep(state); err != nil {
		t.Fatal(err)
	}
	if f, ok := LastFailure(state); !ok || f != want {
		t.Errorf("%+v, %v", f, ok)
	}
	if err := Forget(state); err != nil {
		t.Error(err)
	}
	if f, ok := LastFailure(state); ok {
		t.Errorf("%+v", f)
	}
}

package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

const zh = Language("zh")

// TestSay checks that a sentence and the sentences within it are in one language, and that a sentence
// stays English if the catalogue lacks it.
func TestSay(t *testing.T) {
	t.Parallel()
	wrapped := Errorf("the draft %s is missing on disk: %w", "a.md", fs.ErrNotExist)
	for _, tt := range []struct {
		got, want string
	}{
		{English.Say("say what to change"), "say what to change"},
		{Language("").Say("%d of %d", 1, 2), "1 of 2"},
		{English.Count(1, "line"), "1 line"},
		{English.Count(2, "line"), "2 lines"},
		{zh.Count(2, "noun"), "2 nouns"},
		{zh.Count(1, "line"), "1 行"},
		{zh.Count(2, "line"), "2 行"},
		{zh.Say("no sentence of the catalogue has %d words", 8), "no sentence of the catalogue has 8 words"},
		{zh.Say("%s = %s", T("Cancel this run"), fmt.Errorf("x")), "取消本次运行 = x"},
		{zh.Say("%s", Join([]Text{T("none"), T("none")}, "; 100 %")), "无; 100 %无"},
		{T("%s, %d", "a", 1).String(), "a, 1"},
		{wrapped.Error(), "the draft a.md is missing on disk: file does not exist"},
		{Of(fmt.Errorf("100 %%")).In(zh), "100 %"},
		{Of(wrapped).String(), wrapped.Error()},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	if two := Errorf("%w, %w", fs.ErrExist, fs.ErrClosed); !errors.Is(two, fs.ErrExist) || !errors.Is(two, fs.ErrClosed) {
		t.Error("two causes are not reachable")
	}
	if !errors.Is(wrapped, fs.ErrNotExist) {
		t.Error("the cause is not reachable")
	}
}

// TestChoose checks that the setting comes first, then the script of the text, then the locale.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setting, written string
		locale, want     Language
	}{
		{"auto", "", English, English},
		{"auto", "", zh, zh},
		{"auto", "12345", zh, zh},
		{"en", "做一个登录服务", zh, English},
		{"zh", "Build a clock", English, zh},
		{"auto", "做一个登录服务", English, zh},
		{"auto", "登录", English, zh},
		{"auto", "Build a clock", zh, English},
		{"auto", "Fix bug", zh, English},
		{"auto", "修复 login page 的 redirect bug", English, zh},
		{"auto", "给 OAuth login 加上 GitHub provider 支持", English, zh},
		{"auto", "用 Go 写一个 CLI", English, zh},
		{"auto", "用 React 写 TODO list app with JWT login", English, zh},
		{"auto", "登录 button of the page is broken for the users", zh, English},
		{"auto", "API", zh, zh},
		{"auto", "API", English, English},
		{"auto", "%s %d %n 100%", zh, zh},
		{"auto", "１２３ＡＢＣ", zh, zh},
		{"auto", `"做一个登录服务"`, English, zh},
		{"auto", "「做一个登录服务」", English, zh},
		{"auto", "Fix the 登录 button label", zh, English},
		{"auto", "Add 中文 support to the CLI", zh, English},
		{"auto", `Show "登录失败" when it fails`, zh, English},
		{"auto", "把 `func main() { return the error to it }` 改掉", English, zh},
		{"auto", "ログインを直す", zh, zh}, // no catalogue: the locale
		{"auto", "Исправить вход", English, English},
		{"auto", "Исправить вход", zh, zh},
	} {
		if got := Choose(tt.setting, tt.written, tt.locale); got != tt.want {
			t.Errorf("Choose(%q, %q, %s) = %s, want %s", tt.setting, tt.written, tt.locale, got, tt.want)
		}
	}
}

// TestLocale checks that the first variable that is set decides, as in POSIX.
func TestLocale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want Language
	}{
		{nil, English},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, zh},
		{map[string]string{"LANG": "zh-Hans"}, zh},
		{map[string]string{"LANG": "zh.UTF-8"}, zh},
		{map[string]string{"LANG": "C.UTF-8"}, English},
		{map[string]string{"LANG": "zhx_CN"}, English},
		{map[string]string{"LANG": "fr_FR.UTF-8"}, English},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW"}, zh},
		{map[string]string{"LANG": "zh_CN", "LC_MESSAGES": "C"}, English},
		{map[string]string{"LANG": "zh_CN", "LC_ALL": "", "LC_MESSAGES": ""}, zh},
	} {
		if got := Locale(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.env, got, tt.want)
		}
	}
	if got := Settings(); !slices.Equal(got, []string{"auto", "en", "zh"}) {
		t.Errorf("got settings %q", got)
	}
}

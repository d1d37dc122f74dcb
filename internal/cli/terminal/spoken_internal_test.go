package terminal

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
)

// TestSpoken checks that each sentence that is put into other words is one of the program's, and that the other words
// name nothing of the tool and can be said in each language.
func TestSpoken(t *testing.T) {
	tool := regexp.MustCompile(`session_id|_result|role_prompt|next_call|pass cwd|call status|true or false|%!`)
	for format := range spoken {
		verbs := regexp.MustCompile(`%[sqdv]`).FindAllString(format, -1)
		args := make([]any, len(verbs))
		for i := range args {
			args[i] = "x"
		}
		for _, l := range lang.All() {
			if l != lang.English && l.Say(format, args...) == lang.English.Say(format, args...) {
				t.Errorf("%s: no sentence of the program is %q", l, format)
			}
			if text := lang.T(format, args...).Reworded(spoken, nil).In(l); tool.MatchString(text) || strings.TrimSpace(text) == "" {
				t.Errorf("%q becomes %q", format, text)
			}
		}
	}
}

// TestSpokenKeepsTheRest checks that a refusal keeps what it names, and its language.
func TestSpokenKeepsTheRest(t *testing.T) {
	refused := fault.New(fault.InvalidArgument, "%s %q is not inside the project %s", "claude_result_path", "../x", "/p").
		WithHint("pass session_id; the task names are: %s%s", "sign-in", ", …").Offer([]string{"sign-out"})
	for l, want := range map[lang.Language][2]string{
		"en": {`--claude-result-path "../x" is not inside the project /p`, "did you mean sign-out? name one of them: sign-in, …"},
		"zh": {`--claude-result-path "../x" 不在项目 /p 内`, "你指的是 sign-out 吗？写出其中一个：sign-in, …"},
	} {
		if got := refused.Translated(l).Reworded(Spoken); got.Message != want[0] || got.Hint != want[1] || got.Code != fault.InvalidArgument {
			t.Errorf("%s: %q, %q", l, got.Message, got.Hint)
		}
	}
}

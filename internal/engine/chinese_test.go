package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
)

const chinese = lang.Language("zh")

// refusedInChinese checks that a refusal can be said in Chinese, whatever language its caller
// has: every refusal of every test comes by here.
func refusedInChinese(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e := fault.From(err)
	for _, text := range []string{e.In(chinese), e.Advice().In(chinese)} {
		if found := langtest.English(text); len(found) > 0 {
			t.Errorf("English in Chinese: %q\nof %s", found, text)
		}
	}
}

// repliedInChinese checks that a reply has no sentence in English but those of the role prompt,
// which is for the model.
func repliedInChinese(t testing.TB, r *reply.Reply, given ...string) {
	t.Helper()
	shown := *r
	shown.RolePrompt, shown.Resource = "", nil
	data, err := shown.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	eachText(all, func(text string) {
		for _, g := range given {
			text = strings.ReplaceAll(text, g, "")
		}
		if found := langtest.English(text); len(found) > 0 {
			t.Errorf("English in Chinese: %q\nof %s", found, text)
		}
	})
}

func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, each := range v {
			eachText(each, f)
		}
	case map[string]any:
		for _, each := range v {
			eachText(each, f)
		}
	}
}

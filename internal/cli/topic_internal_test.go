package cli

import "testing"

// TestFlow checks that paragraphs and list items are put into one line each, and nothing else is.
func TestFlow(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"paragraph", "one\ntwo\n\nthree\n", "one two\n\nthree\n"},
		{"heading", "# A\nb\nc\n## D\n", "# A\nb c\n## D\n"},
		{"list", "- one\n  two\n- three\n\n1. a\n   b", "- one two\n- three\n\n1. a b"},
		{"table", "text\n| a | b |\n|---|---|\n| 1 | 2 |\nafter", "text\n| a | b |\n|---|---|\n| 1 | 2 |\nafter"},
		{"quotation", "> one\n> two", "> one\n> two"},
		{"code", "a\n```sh\nb\nc\n```\nd\ne", "a\n```sh\nb\nc\n```\nd e"},
		{"link", "see [Who\ndecides](decide.md#a) and [Codex](../hosts/codex.zh.md)", "see Who decides (help decide) and Codex (help hosts/codex)"},
		{"link to a page that is not in the program", "- [Requirements](seeds.md): asked for", "- Requirements: asked for"},
		{"other link", "[here](https://example.org/a.md)", "[here](https://example.org/a.md)"},
	} {
		if got := flowParagraphs(c.page); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

package format

import (
	"html"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Front has the values of a file's front matter.
type Front struct {
	Name        string
	Description string
	// Values has every plain value of it.
	Values map[string]string
}

// FrontMatter splits a Markdown text into front matter and the rest; ok is false if there is none. Invalid
// YAML in front matter, for example with a colon in a sentence, is read line by line.
func FrontMatter(text string) (Front, string, bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return Front{}, text, false
	}
	head, body, ok := strings.Cut(rest, "\n---")
	if !ok {
		return Front{}, text, false
	}
	_, body, _ = strings.Cut(body, "\n")
	out := Front{Values: map[string]string{}}
	var any map[string]any
	if err := yaml.Unmarshal([]byte(head), &any); err == nil {
		for key, value := range any {
			if s, ok := value.(string); ok {
				out.Values[key] = s
			}
		}
	} else {
		for line := range strings.Lines(head) {
			if key, value, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(key, " \t#-") {
				out.Values[key] = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}
	out.Name, out.Description = OneLine(out.Values["name"]), OneLine(out.Values["description"])
	return out, body, true
}

// fence finds the fenced blocks of a text, with their language.
var fence = pattern.New("(?ms)^```(yaml|yml|xml)\n(.*?)^```")

// YAMLBlock returns the first fenced block of YAML.
func YAMLBlock(text string) string {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] != "xml" {
			return m[2]
		}
	}
	return ""
}

// ClassicBlock returns the YAML of an agent of version 4: the fenced block of the file, else front matter
// of the same form, as some people write it.
func ClassicBlock(text string) string {
	if block := YAMLBlock(text); block != "" {
		return block
	}
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if head, _, ok := strings.Cut(rest, "\n---"); ok && Section(head, "agent") != "" {
			return head
		}
	}
	return ""
}

// Section returns the part of a YAML text under one key at the left edge.
func Section(text, key string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		edge := line[0] != ' ' && line[0] != '\t' && line[0] != '\n' && line[0] != '#' && line[0] != '-'
		if edge {
			in = strings.HasPrefix(line, key+":")
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String()
}

var (
	// AgentTag finds the opening tag of an agent.
	AgentTag = pattern.New(`<agent\b([^>]*)>`)
	// TaskTag finds the opening tag of a task or a tool.
	TaskTag = pattern.New(`<(?:task|tool)\b([^>]*)>`)

	attribute = pattern.New(`([A-Za-z][\w-]*)\s*=\s*"([^"]*)"`)
)

// Attributes reads the attributes of an XML tag, as lenient as the models for which it is written.
func Attributes(tag string) map[string]string {
	out := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
		out[m[1]] = OneLine(html.UnescapeString(m[2]))
	}
	return out
}

// TagAttributes returns the attributes of the first tag found by an expression.
func TagAttributes(tag *pattern.Pattern, text string) map[string]string {
	m := tag.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return Attributes(m[1])
}

package intake

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// Plain removes the wrapping of a text: a byte order mark, quotes of JSON around the whole, a model's
// reasoning, escapes written twice, and a Markdown fence around the whole. Words around the fence stay: they may
// state a verdict.
func Plain(text string) string {
	text, around := unwrapText(text)
	return strings.TrimSpace(around + "\n\n" + text)
}

// PlainReport is Plain for a report. One inside an object becomes the text, with the other fields as a block behind it.
func PlainReport(st workflow.Stage, text string) string {
	plain := Plain(text)
	blocks := jsonblock.Find(plain, func(string) bool { return true }, nil)
	if len(blocks) != 1 || blocks[0].Object == nil || len(blocks[0].Raw) < len(plain) || hasAny(blocks[0].Object, []string{"criteria", "findings", "checks"}) {
		return plain
	}
	object := unwrap(canonicalizeFields(blocks[0].Object))
	document, ok := documentOf(st, object)
	if !ok {
		return plain
	}
	maps.DeleteFunc(object, func(key string, value any) bool {
		text, isText := value.(string)
		return slices.Contains(genericKeys, key) || isText && strings.TrimSpace(text) == document
	})
	if len(object) == 0 {
		return document
	}
	return document + "\n\n```json\n" + jsonblock.Format(object, "  ") + "\n```"
}

// unwrapText removes the wrapping of a text, and returns the words around a fence apart.
func unwrapText(text string) (plain, around string) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"))
	for range 3 {
		var inner string
		if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil || isBlank(inner) {
			break
		}
		text = strings.TrimSpace(inner)
	}
	text = withoutReasoning(text)
	if isEscaped(text) {
		text = unescape.Replace(text)
	}
	return withoutFence(text)
}

// The marks around a model's reasoning.
var (
	reasoningBegins = pattern.New(`(?i)^[ \t]*<(?:think|thinking|thoughts?|reasoning|scratchpad)>`)
	reasoningEnds   = pattern.New(`(?i)</(?:think|thinking|thoughts?|reasoning|scratchpad)>`)
)

// withoutReasoning returns a text without the reasoning in it. The first mark may be missing: hosts put it
// into the prompt.
func withoutReasoning(text string) string {
	if !reasoningEnds.MatchString(text) && !reasoningBegins.MatchString(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	for last >= 0 && !reasoningEnds.MatchString(lines[last]) {
		last--
	}
	var kept []string
	inside, fence := false, openFence("")
	for i, line := range lines {
		if !inside {
			fence.read(line)
		}
		if fence != "" {
			kept = append(kept, line)
			continue
		}
		if reasoningBegins.MatchString(line) && (i <= last || isBlank(strings.Join(kept, ""))) {
			inside = true
		}
		if at := reasoningEnds.FindStringIndex(line); at != nil {
			ends := isBlank(line[at[1]:]) && !strings.ContainsAny(line[:at[0]], "<`")
			if inside {
				inside, line = false, line[at[1]:]
			} else if ends || at[0] == 0 {
				kept, line = nil, line[at[1]:]
			}
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// openFence is the mark of the fence that is open, "" if none is.
type openFence string

// read takes the next line.
func (f *openFence) read(line string) {
	mark, info, ok := markdown.Fence(line)
	switch {
	case !ok:
	case *f == "":
		*f = openFence(mark)
	case info == "" && strings.HasPrefix(mark, string(*f)):
		*f = ""
	}
}

// escapedBreak matches the escape of a line end before the beginning of a block.
var escapedBreak = pattern.New(`\\n(?:\\n|#|[-*] |\{)|^\{\\"`)

// unescapedObject matches the beginning of an object of JSON as it should be.
var unescapedObject = pattern.New(`\{\s*"`)

// isEscaped reports whether a text is one line because the line ends in it are escaped.
func isEscaped(text string) bool {
	if strings.Contains(text, "\n") {
		return false
	}
	first, object := escapedBreak.FindStringIndex(text), unescapedObject.FindStringIndex(text)
	return first != nil && (object == nil || first[0] < object[0]) // and not the break in an object's text
}

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "", `\t`, "\t", `\"`, `"`)

// maxAround bounds the words before a fence around a whole document.
const maxAround = 500

// withoutFence removes a Markdown fence around a whole document. A block of JSON behind the fence stays; the
// words before and behind it are returned apart.
func withoutFence(text string) (body, around string) {
	lines := strings.Split(text, "\n")
	open, mark, info := 0, "", ""
	for ; open < len(lines) && mark == ""; open++ {
		mark, info, _ = markdown.Fence(lines[open])
	}
	before := strings.Join(lines[:max(0, open-1)], "\n")
	if mark == "" || len(before) > maxAround || heading.MatchString(before) {
		return text, ""
	}
	for _, end := range closingLines(lines, open, mark) {
		inside, behind := strings.TrimSpace(strings.Join(lines[open:end], "\n")), strings.Join(lines[end+1:], "\n")
		words, facts := behind, ""
		if at := factsBegin.FindStringIndex(behind); at != nil {
			words, facts = behind[:at[0]], behind[at[0]:]
		}
		if around = strings.TrimSpace(before + "\n\n" + words); !heading.MatchString(behind) && isWrapped(info, inside, around) {
			return strings.TrimSpace(inside + "\n\n" + facts), around
		}
	}
	return text, ""
}

// isWrapped reports whether a fence is the wrapping of a document and no sample in one, by the language
// and the words around it.
func isWrapped(info, inside, around string) bool {
	sections := len(heading.FindAllStringIndex(inside, 2))
	language, _, _ := strings.Cut(strings.ToLower(info), " ")
	switch language {
	case "markdown", "md":
		return around == "" || sections > 0 && len(inside) > len(around)
	case "", "text", "txt", "plaintext":
		// A comment in a shell script looks like a heading.
		isDocument := strings.HasPrefix(inside, "#") && sections > 0
		return isDocument && (around == "" || sections > 1 && len(inside) > 2*len(around))
	}
	return false
}

// factsBegin matches the beginning of a block of facts behind a document.
var factsBegin = pattern.New("(?m)^[ \t]*(?:```|~~~|\\{)")

// maxClosing bounds the lines tried as the end of a fence around a document.
const maxClosing = 20

// closingLines returns the lines that may close the fence around a document, the last first: in front of each and
// behind it all other fences are closed. from is the first line in the fence.
func closingLines(lines []string, from int, mark string) (out []int) {
	var fence openFence
	var candidates []int
	for i := from; i < len(lines); i++ {
		wasOpen := fence != ""
		if fence.read(lines[i]); !wasOpen && strings.TrimSpace(lines[i]) == mark {
			candidates = append(candidates, i)
		}
	}
	for _, i := range slices.Backward(candidates[max(0, len(candidates)-maxClosing):]) {
		var behind openFence
		for _, line := range lines[i+1:] {
			behind.read(line)
		}
		if behind == "" {
			out = append(out, i)
		}
	}
	return out
}

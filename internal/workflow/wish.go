package workflow

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// An objective wishes for Codex if it has the name as a word. The name inside a longer one, in a
// path or in code is not a wish, and an objective that rules the engine out once has none.

// wishesCodex reports whether an objective asks for the engine Codex.
func wishesCodex(objective string) bool {
	text, wished := strings.ToLower(objective), false
	for at := 0; ; {
		i := strings.Index(text[at:], string(Codex))
		if i < 0 {
			return wished
		}
		before, after := text[:at+i], text[at+i+len(Codex):]
		at += i + len(Codex)
		if insideName(before, after) {
			continue
		}
		if ruledOut(before, after) {
			return false
		}
		wished = true
	}
}

// insideName reports whether a word between two texts is only a part of a name, path or piece of
// code: "codex-config", ".codex/config.toml", "codexification".
func insideName(before, after string) bool {
	b, _ := utf8.DecodeLastRuneInString(before)
	a, width := utf8.DecodeRuneInString(after)
	next, _ := utf8.DecodeRuneInString(after[min(width, len(after)):])
	switch {
	case strings.HasSuffix(before, string(Claude)+"/"), strings.HasPrefix(after, "/"+string(Claude)): // both are meant
		return false
	case inName(b), inName(a), strings.ContainsRune("-./\\@#$`", b), strings.HasSuffix(before, "::"), a == '`':
		return true
	}
	return after != "" && strings.ContainsRune("-./\\@:", a) && inName(next)
}

// inName reports whether a character joins a Latin name: Chinese is written without spaces.
func inName(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || unicode.Is(unicode.Latin, r)
}

// ruledOut reports whether the words around a name rule it out.
func ruledOut(before, after string) bool {
	if i := strings.LastIndexAny(before, ".;:!?,。；：！？，"); i >= 0 {
		before = before[i+1:] // another clause
	}
	before = whyNot.ReplaceAllString(before, "") // a question for it
	return keepsOut.MatchString(before) && keptOut.MatchString(after) || negation.MatchString(before) || chineseNegation.MatchString(before) || negated.MatchString(after)
}

var (
	whyNot = pattern.New(`\bwhy (?:not|don['’]?t (?:we|you|i))\b`)
	// negation matches a negation with at most words for a use before the name.
	negation = pattern.New(`(?:^|[^\p{L}])(?:no|not|never|nor|without|avoid|avoiding|exclude|excluding|skip|skipping` +
		`|disable|except|except for|cannot|nobody|nothing|ban|forbid|stop|hate|distrust` +
		`|leave out|leaving out|(?:everything|anything|all) but|(?:instead|rather|other) (?:of|than)|(?:do|does|did|ca|wo|is|are|should` +
		`|would|must|need)n['’]?t)\s` +
		`(?:\s*["'“‘*]*(?:use|using|usage|call|calling|run|running|involve|involving|include|including|add|adding` +
		`|employ|employing|let|have|having|ask|asking|want|need|help|with|by|of|on|for|via|through|to|rely` +
		`|wants|from|trust|like|work|relying|depend|depending|any|the|a|an|openai|engine|please|claude|or|and)\s+){0,6}["'“‘*]*$`)
	chineseNegation = pattern.New(`(?:不|别|別|勿|无需|无须|無需|禁止|禁用|避免|而非|没有|沒有)(?:再|去|要|想|得|能|可|可以|准|许|允许|必|需要|是|使用|用|采用` +
		`|採用|调用|調用|借助|依赖|依賴|通过|让|引入|任何|openai|claude|的|和|或|或者|与|、|[\s“「"])*$`)
	// negated matches words behind the name against it: that it takes no part. What its work must not do is another thing.
	negated = pattern.New(`^["'”’*]*\s*(?:(?:(?:is|are|was|must|may|might|should|shall|will|would|can|could|does|do|did|need|has) ?not` +
		`|(?:is|are|must|should|would|could|does|do|did|need|has|wo|ca)n['’]?t|not|(?:must |may |shall |should |will |can )?never)(?: to)?` +
		`(?:\s+(?:be )?(?:wanted|needed|required|used|involved|asked|called|allowed|trusted|run` +
		`|write|touch|see|read|take part|participate|help|work|join|act|contribute)\b|\s*(?:$|[.;!]))` +
		`|(?:is|are) (?:forbidden|banned|off|out|broken|excluded)\b` +
		`|(?:must|should|shall|has to|to|can) (?:stay|keep|remain) (?:out|away|off)\b|(?:(?:must|should|shall|may|can|will) )?do nothing\b` +
		`|[:,]? ?no(?:thing|t| thanks)?\s*(?:$|[.;!])` +
		`|(?:不要|不用|不可以|不需要|别|禁用)(?:$|[用使，。；,.;\s])|(?:不得|不能|不可|不应|不许|不准|禁止)(?:被)?(?:写|参与|插手|使用|用|碰|动))`)
	// keepsOut and keptOut match the words around a name that is kept out.
	keepsOut, keptOut = pattern.New(`(?:keep|keeping|leave|leaving)\s+["'“‘*]*$`), pattern.New(`^["'”’*]*\s+(?:out|away|aside|alone|off)\b`)
)

// EnginesFor returns the engines for the stage, given the objective: codex joins a CodexOnRequest
// stage when the objective asks for it.
func (s Stage) EnginesFor(objective string) []Engine {
	engines := slices.Clone(s.Engines)
	if s.CodexOnRequest && !slices.Contains(engines, Codex) && wishesCodex(objective) {
		engines = append(engines, Codex)
	}
	return engines
}

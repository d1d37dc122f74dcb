package audit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// A marker, for example TODO, is left over if it begins a line or a cell, stands alone in it, or
// has a colon behind it. Elsewhere a text may be about it.
var (
	marker = pattern.New(`(?:^|[|:：(（\[【]|[.!?] |[-*+] |#+ |\d[.)] |\*\*|__|>)\s*(?:\[[ xX]?\]\s*)?(TODO|FIXME` +
		`|XXX+|TBD|TBC)\b(?:\s*[:：]|\s*[)）\]】|]|\s*(?:\*\*|__)|\s*[(（]|\s*[.。…]?\s*$|\s+[–—-])`)
	markerStart = pattern.New(`^\s*(?:[-*+>] |\d+[.)] |#+ )*\s*(?:\[[ xX]?\]\s*)?(?:\*\*)?(?:TODO|FIXME|TBD|XXX+)(?:\*\*)? +([A-Za-z]+)`)
	markerColon = pattern.New(`\b(?:TODO|FIXME|TBD)[:：]`)
	toBeDone    = pattern.New(`(?:\b(?:is|are|still|remains?|currently|date|owner|value|figure|numbers?)[ :]+)(?:TBD` +
		`|TBC)\b|\bto be (?:determined|defined|decided later|filled in)\b`)
	loneWord  = pattern.New(`(?i)(?:^|[|:：]|[-*+] )\s*(?:\*\*)?\s*(?:tbd|todo|tbc)\s*(?:\*\*)?\s*(?:\||$)`)
	lorem     = pattern.New(`(?i)lorem ipsum`)
	bracketed = pattern.New(`(?i)(?:^|[\s|(（:：*])\[\s*(?:insert|your|add|fill(?: in)?|enter|describe|specify` +
		`|name of|placeholder|to be |product name|project name|feature|company|date|role|number|benefit|goal(?: \d)?` +
		`|metric(?: \d)?|risk \d|item \d|x{2,3}|\.{3}|…)\b?[^\]\n]{0,80}\](?:[^(\[:]|$)`)
	angled     = pattern.New(`(?i)<(?:your|insert|enter|fill in|describe|add|project|product|feature|company)[ _-][^<>\n]{1,60}>`)
	curly      = pattern.New(`\{\{[^{}\n]{0,60}\}\}`)
	curlyTopic = pattern.New(`(?i)variable|template|placeholder|merge (?:field|tag)|mustache|handlebars|jinja|liquid|helm|变量|模板|占位`)
	wholeDoc   = pattern.New(`(?i)[(（]the whole markdown document[)）]`)
	emptyStory = pattern.New(`(?i)\bas an? (?:…|\.\.\.|_{2,}|\[[^\]]*\]|<[^>]*>|\{[^}]*\})[^\n]{0,40}\bI (?:want` +
		`|can|need)|作为(?:一个|一名|一位)?\s*(?:…|\.\.\.|X{2,}|_{2,}|\[[^\]]*\]|【[^】]*】|<[^>]*>|〈[^〉]*〉)`)
	emptySteps = pattern.New(`(?i)\bgiven (?:…|\.\.\.|_{2,}|\[[^\]]*\]),? when (?:…|\.\.\.|_{2,}|\[[^\]]*\])`)
	hanMarker  = pattern.New(`(?:^|[\s|:：,，、(（\[【。;；\-*])(?:待补充|待补|待定|待完善|待填写|待填|待明确|待商定|待讨论|待决定|此处填写[^|\n]{0,20}` +
		`|请在此[^|\n]{0,20}|(?:在)?此处补充[^|\n]{0,10})(?:$|[\s|)）\]】。;；,，、*!！])`)
	notLeft     = pattern.New(`(?i)\b(?:no|without|any|zero|never|removed?|grep|search(?:ed)? for|means|word|marker)\b[^|.]{0,24}$|(?:没有|无|不含|清除|搜索)[^|。]{0,12}$`)
	quoteBefore = "\"'“‘「『”"
	// spokenOf are the words behind a marker in a thing of the product: a TODO list, TBD items.
	spokenOf = []string{"list", "lists", "item", "items", "app", "apps", "application", "file", "files", "entry",
		"entries", "comment", "comments", "task", "tasks", "manager", "marker", "markers", "is", "are", "and", "or",
		"in", "was", "were", "has"}
)

// findPlaceholders finds texts left to be filled in.
func findPlaceholders(c check, s *document) *miss {
	var lines []int
	_, title := s.Title()
	for i, l := range s.Said {
		isTitle := title >= 0 && s.Heads[title].Line == i
		if isTitle || strings.TrimSpace(l) == "" {
			continue
		}
		if hasPlaceholder(l) || slices.ContainsFunc(c.Words, func(w string) bool { return strings.Contains(l, w) }) {
			lines = append(lines, i)
		}
	}
	return atLines(lines)
}

// suspect matches lines that may hold a placeholder.
var suspect = pattern.New(`(?i)todo|tb[dc]|fixme|xxx|to be |lorem|[\[<]|\{\{|markdown document|as a|作为|given|待|此处|请在此`)

func hasPlaceholder(l string) bool {
	if !suspect.MatchString(l) {
		return false
	}
	lower := strings.ToLower(l)
	switch {
	case containsAny(lower, "todo", "tbd", "tbc", "fixme", "xxx", "to be ") && hasMarker(l),
		strings.Contains(lower, "lorem") && lorem.MatchString(l),
		strings.Contains(l, "[") && bracketed.MatchString(quoted.ReplaceAllString(l, " ")),
		strings.Contains(l, "<") && angled.MatchString(l),
		strings.Contains(l, "{{") && curly.MatchString(l) && !curlyTopic.MatchString(l),
		strings.Contains(lower, "markdown document") && wholeDoc.MatchString(l),
		containsAny(lower, "as a", "作为") && emptyStory.MatchString(l),
		strings.Contains(lower, "given") && emptySteps.MatchString(l):
		return true
	}
	if containsAny(l, "待", "此处", "请在此") {
		at := hanMarker.FindStringIndex(l)
		return at != nil && !notLeft.MatchString(l[:at[0]])
	}
	return false
}

// hasMarker reports whether a line has a marker, for example TODO, and is not about the marker.
func hasMarker(l string) bool {
	for _, re := range []*pattern.Pattern{marker, markerColon, toBeDone} {
		at := re.FindStringSubmatchIndex(l)
		if at == nil {
			continue
		}
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3] // the word alone
		}
		if !talksAbout(l, from, to) {
			return true
		}
	}
	if m := markerStart.FindStringSubmatch(l); m != nil && !slices.Contains(spokenOf, strings.ToLower(m[1])) {
		return true
	}
	return loneWord.MatchString(l)
}

// talksAbout reports whether the word at from–to is quoted or denied: "no TODO".
func talksAbout(l string, from, to int) bool {
	before := strings.TrimRight(l[:from], " ")
	last, _ := utf8.DecodeLastRuneInString(before)
	inName := strings.HasPrefix(l[to:], ".") && len(l) > to+1 && markdown.IsWordByte(l[to+1])
	return strings.ContainsRune(quoteBefore, last) || inName || notLeft.MatchString(before)
}

// findCopied finds lines of the role prompts' examples. One may be a
// coincidence, two are not.
func findCopied(c check, s *document) *miss {
	var lines []int
	for i, l := range s.Lines {
		if len(l) > 20 && slices.ContainsFunc(c.Words, func(w string) bool { return strings.Contains(l, w) }) {
			lines = append(lines, i)
		}
	}
	if len(lines) < 2 {
		return nil
	}
	return atLines(lines)
}

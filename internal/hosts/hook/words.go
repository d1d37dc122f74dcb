package hook

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// A prompt is an order only if it is nothing else: a few words, each sentence an order or a remark
// beside one. Descriptions of a task use the same verbs, and pasted text may hold orders to somebody
// else.

// maxOrder is the greatest number of words in an order. Two characters of Chinese count as one.
const maxOrder = 12

const (
	verbs   = `(?:confirm|approve|accept)`
	objects = `(?:it|them|this|that|these|(?:the |this |that |my )?` +
		`(?:document|doc|draft|prd|requirements?|architecture|design|sprint plan|plan|gate|result|work|risks?|spec|` +
		`version|stage|po|architect|sm|dev|review|qa|qa report|report|review report))`
	// all means every coming gate.
	all = `(?:all|everything|each of them|every gate|all of (?:it|them)|all gates|all the gates|all stages|them all)`
	// polite words stand before an order, and tails after it.
	polite = `(?:(?:yes|yep|yeah|ok|okay|sure|please|then|now|and|so|just|` +
		`fine|great|good|perfect|nice|cool|thanks|thank you|alright|all right|looks good|looks fine|looks great|lgtm|` +
		`i agree|agreed|ship it|go ahead|go ahead and|you can|you may|i)[\s,!:–—-]+)*`
	tails = `(?:[\s,–—-]+(?:please|now|as it is|as is|for me now|thanks|thank you|too|then|` +
		`and (?:go on|continue|proceed|carry on|move on|go ahead|start|begin|save it|save)(?: (?:with|to) ` + nextStep + `)?))*`
	nextStep = `(?:it|the (?:next (?:stage|step)|architecture|architect|plan|development|review|sprints?))`
	remark   = `(?:yes|yep|yeah|ok|okay|sure|` +
		`fine|great|good|perfect|nice|nice work|good work|great work|well done|cool|thanks|thank you|alright|all right|` +
		`(?:it |that |this |the \w+ )?looks (?:good|fine|great|right)(?: to me)?|lgtm|` +
		`i agree|agreed|go ahead|i(?: have|'ve)? read it|i like it|all good|no changes|no objections?|nothing to change|` +
		`ship it|done|hi|hello)`
	// task is a preceding instruction: one clause with the verb at the beginning.
	task = `(?:please )?` +
		`(?:write|build|run|do|make|create|draft|finish|go through|start|continue|go on|submit|hand in|update|revise|fix|` +
		`add|produce|generate|prepare|complete|work|implement|design|plan|review)\b[^.!?\n;]{0,50}?`
	chinese = `(?:确认|批准|同意|通过|接受)`
)

var (
	order = pattern.New(`^` + polite + verbs + `(?: ` + objects + `)?` + tails + `$`)
	after = pattern.New(`^` + polite + `(` + task + `)[\s,]+(?:and )?then (?:please )?` + verbs + ` (` + objects + `|` + all + `)` + tails + `$`)
	// standing matches orders for all coming gates.
	standing = pattern.New(`^` + polite + verbs + ` ` + all + `(?: (?:without asking(?: me)?|automatically|for me|from now on))*` + tails + `$|` +
		`^` + polite + verbs + ` (?:` + objects + ` )?(?:without asking(?: me)?|for me|on my behalf|automatically|yourself)` + tails + `$|` +
		`^` + polite + `(?:go|run|work) through (?:all |all the |the )?(?:gates|stages)(?: without asking(?: me)?)$|` +
		`^` + polite + `(?:do not|don't|no need to) (?:ask|wait for) me(?:,? (?:just |and )?` +
		`(?:build it|do it|go on|continue|proceed|confirm|confirm it|approve|approve it|run it|finish it|keep going))?$|` +
		`^` + polite + `decide (?:it |everything |all |for me |yourself )*(?:on my behalf|for me|yourself)` + tails + `$`)
	plainRemark = pattern.New(`^` + remark + `$`)
	// described matches the words of a clause about somebody else's doing, or a time.
	described = pattern.New(`\b(?:where|when|whenever|if|once|who|whom|which|that|users?|admins?|managers?|` +
		`customers?|people|they|he|she|should|must|can|could|may|might|will|would|app|tool|form|page|button|dialog|` +
		`service|system|endpoint|api)\b`)

	chineseOrder = pattern.New(`^(?:(?:好的?|行|可以|嗯|没问题|看起来不错|看起来很好|看过了|我看过了|不错|很好|谢谢|辛苦了)[，,。!！\s]*)*(?:请|就|那就|那|直接|请直接|替我|帮我|请帮我|我)?` +
		chinese + `(?:一下|了)?(?:它|这个|该|这份|这一版)?(?:文档|需求文档|需求|prd|架构|架构设计|设计|计划|冲刺计划|方案|风险|草稿|版本)?(?:吧|了|就行|即可|就好)?(?:[，,。\s]*(?:然后)?(?:继续|开始|开始开发|进入下一步|进入下一阶段|谢谢)(?:吧)?)?$`)
	chineseAfter    = pattern.New(`^(?:请)?(?:写完|做完|完成|跑完)(?:[^，,。如果让由叫给等]{0,8})?(?:以?后|之后|就)?[，,]?(?:就|直接|请)*(?:确认|批准)(?:它|吧|就行)?$`)
	chineseStanding = pattern.New(`^(?:请|写完|做完|后面|之后|接下来|就|直接|都)*(?:全部|都)(?:直接)?(?:确认|批准|同意)(?:就行|即可|吧)?$|` +
		`^(?:全程)?(?:都)?(?:不用|不必|无需)(?:再)?问我(?:了)?(?:[，,]?(?:直接|都)?(?:做|继续|确认|批准|做完)(?:就行|吧)?)?$`)
	// ends splits sentences. pasted matches the beginning of a line from elsewhere, for example of a list, a
	// quotation or a log.
	ends   = pattern.New(`[.!?;。！？；\n]+(?:\s+|$)|[。！？；\n]+`)
	pasted = pattern.New("(?m)^\\s*(?:[-*+>|#$]\\s|>|\\d+[.)]\\s|```|\\[|\\d{2}:\\d{2})")

	// yeses matches an answer to a question about a decision.
	yeses = pattern.New(`(?i)^[\s\p{P}\p{S}]*(yes|ok|okay|go ahead|是|好|可以)\b|^(是|好|可以)`)
	// decidings matches a question about a decision, choices an answer with one.
	decidings = pattern.New(`(?i)\b` + verbs + `\b|` + chinese)
	choices   = pattern.New(`(?i)^[\s\p{P}\p{S}]*` + verbs + `\b`)
	// doubts matches words that take a choice back, or put it off.
	doubts = pattern.New(`(?i)\b(?:do not|don't|never|not|before|until|unless|once i|after i|nobody|only i|i will|i'll|i want to|i'd)\b[^.!?\n]{0,40}\b` + verbs + `|` +
		`\b(?:ask me|wait for my|let me (?:read|see|look|review|check)|myself)\b|\?\s*$|不要|先别|别` + chinese + `|先问|等我|我来`)
)

// saysTo reports whether a prompt tells the assistant to decide for the person: once (said), or
// always.
func saysTo(text string) (said, always bool) {
	text = strings.TrimSpace(text)
	if wordsIn(text) > maxOrder || pasted.MatchString(text) || strings.ContainsAny(text, "?？") {
		return false, false
	}
	for _, sentence := range ends.Split(text, -1) {
		sentence = strings.ToLower(strings.TrimFunc(sentence, isDecoration))
		sentence = strings.ReplaceAll(sentence, "’", "'")
		switch {
		case sentence == "", plainRemark.MatchString(sentence):
		case standing.MatchString(sentence), chineseStanding.MatchString(sentence):
			always = true
		case order.MatchString(sentence), chineseOrder.MatchString(sentence), chineseAfter.MatchString(sentence):
			said = true
		default:
			m := after.FindStringSubmatch(sentence)
			if m == nil || described.MatchString(m[1]) {
				return false, false // if there is an order, it is a part of another text
			}
			said = true
			always = always || strings.HasPrefix(m[2], "all") || strings.HasPrefix(m[2], "every") || strings.HasPrefix(m[2], "each")
		}
	}
	return said, always
}

// isDecoration reports whether a character may surround a sentence, as blanks, emoji, quotes and stops do.
func isDecoration(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || r == '\ufe0f' || r == '\u200d'
}

// wordsIn counts the words of a text, two characters of Chinese as one.
func wordsIn(text string) int {
	han := 0
	rest := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Han, r) {
			han++
			return ' '
		}
		return r
	}, text)
	return len(strings.FieldsFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("'’-", r)
	})) + (han+1)/2
}

// choosesTo reports whether the person has chosen or typed a yes to a question.
func choosesTo(response json.RawMessage) bool {
	var r struct {
		Answers map[string]string `json:"answers"`
	}
	if json.Unmarshal(response, &r) != nil {
		return false
	}
	for question, answer := range r.Answers {
		if doubts.MatchString(answer) {
			continue
		}
		said, always := saysTo(answer)
		if said || always || choices.MatchString(answer) {
			return true
		}
		if decidings.MatchString(question) && yeses.MatchString(answer) {
			return true
		}
	}
	return false
}

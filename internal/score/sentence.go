package score

import (
	"slices"
	"strings"
)

// How the tokens of a sentence stand to each other.

// separators are the marks that end the clause of a word.
var separators = marksOf(": ： | ｜ → ⇒ ➜ = — – - > … ⟶ ] ) ） , ， . \" ( （ \\ ! ！ < / [ 、 ? ？ “ ” ~ 】 【 { } 」 「")

// labelSeparators are the marks between a label and its value.
var labelSeparators = marksOf(": ： | ｜ → ⇒ ➜ = — – - > … ⟶ . ]")

func marksOf(list string) map[string]bool {
	out := map[string]bool{}
	for _, mark := range strings.Fields(list) {
		out[mark] = true
	}
	return out
}

// head returns the index of the first token that is not a mark: of a list, a heading, a quotation.
func (s sentence) head() int {
	for i, t := range s.tokens {
		if t.isWord || t.isNumber || t.is != 0 && t.is != isOf && t.is != isNone && t.is != isNone|isNeutralResult {
			if t.isNumber && i+1 < len(s.tokens) && (s.tokens[i+1].text == "." || s.tokens[i+1].text == ")" || s.tokens[i+1].text == "、") && i+2 < len(s.tokens) {
				continue // the number of an item
			}
			return i
		}
	}
	return len(s.tokens)
}

func (s sentence) lastWord() int {
	for i := len(s.tokens) - 1; i >= 0; i-- {
		if t := s.tokens[i]; t.isWord || t.isNumber || t.has(isPass|isFail) {
			return i
		}
	}
	return -1
}

// symbol reports whether a token is a mark such as ❌ and no word.
func (t token) symbol() bool { return !t.isWord && !t.isNumber }

func (s sentence) separatorBefore(i int) bool {
	for i--; i >= 0; i-- {
		t := s.tokens[i]
		if labelSeparators[t.text] {
			return true
		}
		if t.isWord || t.isNumber || t.has(isFail) {
			return false
		}
	}
	return false
}

// next returns the index of the next token that is not a mark, and whether marks precede it.
func (s sentence) next(i int) (at int, marks bool) {
	for i++; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.isWord || t.isNumber || t.has(isPass|isFail) && t.symbol() {
			return i, marks
		}
		marks = marks || separators[t.text]
	}
	return i, marks
}

// zeroAfter reports whether what follows says that there is none of it.
func (s sentence) zeroAfter(i int) bool {
	for steps := 0; steps < 4; steps++ {
		i++
		for i < len(s.tokens) && s.tokens[i].symbol() && !s.tokens[i].has(isNone|isFail|isPass) {
			i++
		}
		if i >= len(s.tokens) {
			return false
		}
		t := s.tokens[i]
		switch {
		case t.isNumber:
			return t.number == 0
		case t.has(isNone | isNo):
			n, marks := s.next(i)
			return t.text != "no" || n >= len(s.tokens) || marks || s.tokens[n].has(isFindings|isFailures|isTests)
		case t.has(isTests | isCopula | isFindings | isFailures):
		default:
			return false
		}
	}
	return false
}

// negated reports whether one of the few words before says that it is not so.
func (s sentence) negated(i int) bool {
	for j := i - 1; j >= 0 && j >= i-6; j-- {
		t := s.tokens[j]
		if t.has(isNegation|isNone) || t.isNumber && t.number == 0 {
			return true
		}
		if t.has(isFail|isPass) || t.text == "," || t.text == "，" {
			return false
		}
	}
	return false
}

// supposed reports whether a condition or a possibility stands before i, or a rule behind it.
func (s sentence) supposed(i int) bool {
	if i >= len(s.tokens) {
		return s.has(isCondition | isRule)
	}
	return s.tokens[i].conditioned || s.tokens[i].ruled
}

// verdict reports whether a token is a word of failure that stands for itself.
func (t token) verdict() bool { return t.has(isFail) && !t.has(isNeutral) && (!t.glued || !t.isWord) }

// markAfter reports whether a mark that ends a word's clause stands right behind it.
func (s sentence) markAfter(i int) bool {
	return i+1 < len(s.tokens) && separators[s.tokens[i+1].text] && (s.tokens[i+1].text != "-" || s.tokens[i+1].spaced)
}

func (s sentence) separatorAfter(i int) bool {
	return i+1 >= len(s.tokens) || labelSeparators[s.tokens[i+1].text] || s.tokens[i+1].text == "(" || s.tokens[i+1].text == "（"
}

// nameAt reports whether the word at a token is written as tools write the names of tests and files.
func (s sentence) nameAt(i int) bool {
	if i >= len(s.tokens) {
		return false
	}
	from := s.tokens[i].start
	field := s.text[from:]
	if end := strings.IndexAny(field, " \t"); end >= 0 {
		field = field[:end]
	}
	if strings.ContainsAny(field, "/_#") || strings.Contains(field, "::") {
		return true
	}
	if from > 0 && s.text[from-1] == '`' {
		return true
	}
	inner := strings.Trim(field, ".,:;()[]*\"'`")
	if strings.Contains(inner, ".") || strings.ContainsAny(inner, "0123456789") && strings.IndexFunc(inner, func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0 {
		return true
	}
	for j, r := range inner {
		if j > 0 && r >= 'A' && r <= 'Z' && inner[j-1] >= 'a' && inner[j-1] <= 'z' {
			return true
		}
	}
	return false
}

// noneLast reports whether the sentence comes to "none" or 0.
func (s sentence) noneLast() bool {
	last := s.lastWord()
	return last > 0 && s.separatorBefore(last) && (s.tokens[last].has(isNone) || s.tokens[last].isNumber && s.tokens[last].number == 0)
}

// comesToPass reports whether a pass follows the failure as what it came to.
func (s sentence) comesToPass(i int) bool {
	for j := i + 1; j < len(s.tokens); j++ {
		t := s.tokens[j]
		if t.verdict() || t.has(isTests) && t.isWord { // of another test
			return false
		}
		if t.has(isPass) && !s.negated(j) && s.separatorBefore(j) {
			return !slices.ContainsFunc(s.tokens[j+1:], token.verdict)
		}
	}
	return false
}

// offered reports whether the failure is one of several choices: "pass / fail".
func (s sentence) offered(i int) bool {
	choice := func(j int) bool {
		return j >= 0 && j < len(s.tokens) && (s.tokens[j].text == "/" || s.tokens[j].text == "|" || s.tokens[j].text == "／")
	}
	if choice(i-1) && i >= 2 && s.tokens[i-2].has(isPass) {
		return true
	}
	return choice(i+1) && i+2 < len(s.tokens) && s.tokens[i+2].has(isPass)
}

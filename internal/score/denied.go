package score

// Sentences that deny what a good product does: "the dialog does not close", "fails to save",
// "无法保存". A denial to those who must not have access speaks for a product.

// clause returns the bounds of the clause around a token.
func (s sentence) clause(i int) (from, to int) {
	for from = i; from > 0 && !clauseMarks[s.tokens[from-1].text]; from-- {
	}
	for to = i; to < len(s.tokens) && !clauseMarks[s.tokens[to].text]; to++ {
	}
	return from, to
}

var clauseMarks = marksOf(", ， : ： ; ； | ( （ ) ） — –")

// ofUnwanted reports whether a clause is about those or that which a product must refuse.
func (s sentence) ofUnwanted(i int) bool {
	from, to := s.clause(i)
	for _, t := range s.tokens[from:to] {
		if t.has(isUnwanted|isExpected) || t.isNumber && t.number >= 400 && t.number < 500 {
			return true
		}
	}
	return false
}

// relative reports whether a clause before i only says which of several is meant: "a job that fails".
func (s sentence) relative(i int) bool {
	from, _ := s.clause(i)
	for _, t := range s.tokens[max(from, i-3):i] {
		switch t.text {
		case "that", "which", "who", "whose", "any", "each", "every", "的", "a", "an":
			return true
		}
	}
	return false
}

// functionAgainst reports whether a sentence denies a function that should not be denied.
func (s sentence) functionAgainst() bool {
	for i, t := range s.tokens {
		if t.glued || t.quoted || t.inCode || s.supposed(i) {
			continue
		}
		if t.has(isUnable) && !s.ofUnwanted(i) && i+1 < len(s.tokens) && !s.negated(i) && s.subjectBefore(i) && !s.relative(i) {
			return true
		}
		if t.has(isFunction) && i > 0 && s.tokens[i-1].denial() && s.subjectBefore(i-1) && s.verbEnds(i) && !s.ofUnwanted(i) && !s.relative(i) {
			return true
		}
	}
	return false
}

// verbEnds reports whether a verb ends its clause, or is followed by where and when.
func (s sentence) verbEnds(i int) bool {
	if i+1 >= len(s.tokens) {
		return true
	}
	t := s.tokens[i+1]
	return t.symbol() || t.has(isLink) || t.text == "at" || t.text == "any" || t.text == "on" || t.text == "in" || t.text == "the" || t.text == "after" || t.text == "for" || wordless(firstRune(t.text))
}

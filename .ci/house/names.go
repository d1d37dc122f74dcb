package main

import "strings"

// irregular are the past forms that do not end in -ed and are not the verb's own form too, for example read or
// set.
var irregular = words("became began begun bent born bought bound broke broken brought built came caught " +
	"chose chosen done drawn drew driven drove eaten fallen fell felt forbidden forgot forgotten found gave " +
	"given gone got grew grown heard held hid hidden kept knew known laid led left lent lost made meant met " +
	"paid ran risen rose said sang saw seen sent shaken shook shown sold sought spent spoke spoken stole " +
	"stolen stood stuck sunk sworn taken taught thought threw thrown told took torn understood went woken " +
	"won wore worn wove woven written wrote")

// plain are words that end in -ed and are no past forms.
var plain = words("bed bleed breed embed exceed feed hundred indeed need proceed red seed shed speed succeed wed")

func words(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// participle reports whether a name is nothing but a past form: it says what happened to something, and neither
// the action of the function nor its result.
func participle(name string) bool {
	if strings.ToLower(name) != name { // more than one word, for example addResolved
		return false
	}
	regular := strings.HasSuffix(name, "ed") && !plain[name]
	return regular || irregular[strings.TrimPrefix(name, "un")]
}

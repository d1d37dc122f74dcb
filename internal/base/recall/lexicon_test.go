package recall

import (
	"strings"
	"testing"
)

// TestLexicon holds the lexicon to its form: every concept in the three languages, no term that
// could not be found, and none with two meanings in its language.
func TestLexicon(t *testing.T) {
	l, problems := ParseLexicon(builtinText)
	for _, p := range problems {
		t.Errorf("%+v", p)
	}
	if got := l.Concepts(); got < 1300 {
		t.Errorf("the lexicon has %d concepts, want 1300 or more", got)
	}
	meaning := map[string]string{}
	for n, line := range strings.Split(string(builtinText), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var languages []string
		for _, cell := range strings.Split(line, "\t") {
			terms := strings.Split(cell, "|")
			languages = append(languages, terms[0])
			if len(terms) < 2 {
				t.Errorf("line %d has no term of %q", n+1, terms[0])
			}
			for _, term := range terms[1:] {
				for i, k := range keysOf(terms[0], term) {
					if i > 0 {
						break // other terms may have the same stems
					}
					id := terms[0] + " " + k
					if other, ok := meaning[id]; ok && other != line {
						t.Errorf("line %d: the term %q of %q means something else in %q", n+1, term, terms[0], other)
					}
					meaning[id] = line
				}
			}
		}
		if got := strings.Join(languages, " "); got != "en fr zh" {
			t.Errorf("line %d has the languages %q", n+1, got)
		}
	}
}

func TestParseLexiconNamesFlaws(t *testing.T) {
	for line, want := range map[string]LineError{
		"en|tenant\tfr|":                       {Flaw: NothingToFind, Language: "fr"},
		"en|the of\tfr|loyer":                  {Flaw: NothingToFind, Text: "the of", Language: "en"},
		"zh|k8s 集群\ten|cluster":                {Flaw: NothingToFind, Text: "k8s 集群", Language: "zh"},
		"english|a\tfr|b":                      {Flaw: NoLanguage, Text: "english|a"},
		"en|tenant":                            {Flaw: Alone},
		"tenant, locataire":                    {Flaw: NoLanguage, Text: "tenant, locataire"},
		"en|caf\xe9\tfr|bar":                   {Flaw: NotText},
		"en|x" + strings.Repeat("|rent", 2000): {Flaw: TooLong},
	} {
		l, left := ParseLexicon([]byte("# ours\n\nen|order form\tfr|bordereau\n" + line + "\n"))
		want.Line = 4
		if len(left) != 1 || left[0] != want {
			t.Errorf("%q: got %+v, want %+v", line, left, want)
		}
		if l.Concepts() != 1 {
			t.Errorf("%q: got %d concepts, want the one of the good line", line, l.Concepts())
		}
	}
}

func TestAProjectAddsToTheLexicon(t *testing.T) {
	ours, problems := ParseLexicon([]byte("en|bordereau sheet|deploy\tfr|bordereau\tde|Lieferschein\tzh|送货单据\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	x := New(Builtin().With(ours))
	x.Put(Doc{Key: "own", Text: "Der Lieferschein fehlt"})
	x.Put(Doc{Key: "builtin", Text: "mise en production du vendredi"})
	x.Put(Doc{Key: "other", Text: "nothing of the kind"})
	for query, want := range map[string]string{"bordereaux": "own", "送货单据": "own", "rollout": "builtin"} {
		if hits := x.Search(query, 1, nil); len(hits) != 1 || hits[0].Key != want {
			t.Errorf("%q: got %+v, want %s", query, hits, want)
		}
	}
	if Builtin().Concepts()+1 != Builtin().With(ours).Concepts() {
		t.Error("the builtin lexicon changed, or the project's concept is missing")
	}
}

package audit

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed words/*.yaml
var wordFiles embed.FS

// wordLists are the lists of the folder words, made ready for looking up.
type wordLists struct {
	Story, Criterion [][]string
	chineseSteps     *strings.Replacer
	// spoken are the languages in which a word is a small one, languages all of them.
	spoken    map[string][]string
	languages []string
	generic   string // words, with space between them
	// pointing are the words with which an objective points, unspaced those of scripts without spaces.
	pointing map[string]bool
	unspaced *strings.Replacer
	// filler are the classes of filler by name, fillerOf the entries of a word in them.
	filler   map[string]fillerClass
	fillerOf map[string][]fillerWord
}

// fillerClass is one class of filler.yaml; the words are in wordLists.fillerOf.
type fillerClass struct {
	name string
	// han are the Chinese phrases, by the first character.
	han map[rune][][]rune
}

// fillerWord is the entry of a word in a class of filler: surely one, one in the company of others, or
// the first of phrases.
type fillerWord struct {
	class      string
	sure, weak bool
	phrases    [][]string
}

// lists returns the word lists.
//
// A list that cannot be read is a mistake in the program, which every test of the package shows.
var lists = sync.OnceValue(func() *wordLists {
	out, err := readLists()
	if err != nil {
		panic(err)
	}
	return out
})

func readList(name string, into any) error {
	data, err := wordFiles.ReadFile("words/" + name)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		return fmt.Errorf("words/%s: %w", name, err)
	}
	return nil
}

func readLists() (*wordLists, error) {
	var raw struct {
		Living       map[string][]string `yaml:"living"`
		Story        [][]string          `yaml:"story"`
		Criterion    [][]string          `yaml:"criterion"`
		ChineseSteps []string            `yaml:"chinese_steps"`
		Generic      []string            `yaml:"generic"`
		Pointing     map[string][]string `yaml:"pointing"`
	}
	if err := readList("languages.yaml", &raw); err != nil {
		return nil, err
	}
	l := &wordLists{
		Story: raw.Story, Criterion: raw.Criterion, chineseSteps: newBlanker(raw.ChineseSteps, ""),
		spoken: map[string][]string{}, generic: strings.Join(raw.Generic, " "), pointing: map[string]bool{},
		filler: map[string]fillerClass{}, fillerOf: map[string][]fillerWord{},
	}
	var unspaced []string
	for language, words := range raw.Pointing {
		if slices.Contains([]string{"zh", "ja", "ko"}, language) {
			unspaced = append(unspaced, words...)
		}
		maps.Copy(l.pointing, setOf(words))
	}
	slices.SortFunc(unspaced, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	l.unspaced = newBlanker(unspaced, " ")
	l.languages = slices.Sorted(maps.Keys(raw.Living))
	for _, language := range l.languages {
		for w := range setOf(raw.Living[language]) {
			l.spoken[w] = append(l.spoken[w], language)
		}
	}
	var classes map[string]struct {
		Words   [][]string `yaml:"words"`
		Weak    []string   `yaml:"weak"`
		Phrases [][]string `yaml:"phrases"`
	}
	if err := readList("filler.yaml", &classes); err != nil {
		return nil, err
	}
	for name, c := range classes {
		class, is := fillerClass{name: name, han: map[rune][][]rune{}}, map[string]fillerWord{}
		note := func(w string, change func(*fillerWord)) {
			entry := is[w]
			change(&entry)
			is[w] = entry
		}
		for _, w := range slices.Concat(c.Words...) {
			note(w, func(f *fillerWord) { f.sure = true })
		}
		for _, w := range c.Weak {
			note(w, func(f *fillerWord) { f.weak = true })
		}
		for _, p := range slices.Concat(c.Phrases...) {
			if words := strings.Fields(p); p[0] < 0x80 {
				note(words[0], func(f *fillerWord) { f.phrases = append(f.phrases, words) })
			} else {
				r := []rune(p)
				class.han[r[0]] = append(class.han[r[0]], r)
			}
		}
		l.filler[name] = class
		for w, entry := range is {
			entry.class = name
			l.fillerOf[w] = append(l.fillerOf[w], entry)
		}
	}
	return l, nil
}

// newBlanker replaces each of the words.
func newBlanker(words []string, by string) *strings.Replacer {
	var pairs []string
	for _, w := range words {
		pairs = append(pairs, w, by)
	}
	return strings.NewReplacer(pairs...)
}

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

//go:embed rubrics/*.yaml
var builtin embed.FS

// rubricTexts returns the built-in rubrics, and the always generic words.
func rubricTexts() string {
	var b strings.Builder
	b.WriteString(lists().generic)
	files, _ := fs.Glob(builtin, "rubrics/*.yaml")
	for _, name := range files {
		text, _ := builtin.ReadFile(name)
		b.WriteString("\n" + string(text))
	}
	return b.String()
}

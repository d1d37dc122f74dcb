package lang

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/leonelquinteros/gotext"
)

// catalogue has the sentences of one language.
type catalogue struct {
	tag   Language
	files fs.FS
	name  string // in English
	// script is the script of the language.
	script *unicode.RangeTable
	// sentences are read when the first one is needed, because most runs of the program need none.
	sentences func() map[string]*gotext.Translation
	plural    *gotext.Domain
}

// folders are the folders of the added languages.
var folders = map[Language]fs.FS{}

// Add adds a language with sentences from a folder of gettext files. It is called before the first
// sentence: by the init function of a package with the folder embedded. A program without such a package
// speaks English.
func Add(tag Language, files fs.FS) { folders[tag] = files }

var catalogues = sync.OnceValue(func() []*catalogue {
	var out []*catalogue
	for _, tag := range slices.Sorted(maps.Keys(folders)) {
		out = append(out, newCatalogue(tag, folders[tag]))
	}
	return out
})

// about is the file with the description of a language: the headers X-Name and X-Script give the English
// name and the Unicode script.
const about = "language.po"

func newCatalogue(tag Language, files fs.FS) *catalogue {
	c := &catalogue{tag: tag, files: files}
	c.plural = c.readFile(about)
	c.name = c.plural.Headers.Get("X-Name")
	c.script = unicode.Scripts[c.plural.Headers.Get("X-Script")]
	if c.name == "" || c.script == nil {
		panic(fmt.Sprintf("the language %q lacks the header X-Name or X-Script", tag))
	}
	c.sentences = sync.OnceValue(c.allSentences)
	return c
}

func (c *catalogue) readFile(name string) *gotext.Domain {
	data, err := fs.ReadFile(c.files, name)
	if err != nil {
		panic(err) // a broken build
	}
	po := gotext.NewPo()
	po.Parse(data)
	return po.GetDomain()
}

// allSentences reads the sentences of every file of the folder.
func (c *catalogue) allSentences() map[string]*gotext.Translation {
	files, err := fs.Glob(c.files, "*.po")
	if err != nil {
		panic(err)
	}
	out := map[string]*gotext.Translation{}
	for _, file := range files {
		for id, t := range c.readFile(file).GetTranslations() {
			if id != "" {
				out[id] = t
			}
		}
	}
	return out
}

func catalogueOf(l Language) *catalogue {
	if l == English || l == "" {
		return nil
	}
	for _, c := range catalogues() {
		if c.tag == l {
			return c
		}
	}
	return nil
}

func (c *catalogue) translateWord(text string) string {
	if t, ok := c.sentences()[text]; ok && t.IsTranslated() {
		return t.Get()
	}
	return text
}

// translateFormat returns the translated format of a sentence. It has %v for %w, because a translation wraps
// nothing.
func (c *catalogue) translateFormat(format string) string {
	return strings.ReplaceAll(c.translateWord(strings.ReplaceAll(format, "%w", "%v")), "%w", "%v")
}

// count returns a number of things by the plural rule in the header of about, or "" if the catalogue lacks
// the noun.
func (c *catalogue) count(n int, noun string) string {
	if _, ok := c.sentences()["%d "+noun]; !ok {
		return ""
	}
	return fmt.Sprintf(c.plural.GetN("%d "+noun, "%d "+noun+"s", n), n)
}

package intake

import (
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// maxFiles bounds the files read from a report.
const maxFiles = 200

// Of a report only lines that say that a file was made or changed count, and only names that are nothing else.
var (
	inCode   = pattern.New("`([^`\\s]+)`")
	spans    = pattern.New("`[^`]*`")
	plainly  = pattern.New(`[^\s,;|()]+`)
	removed  = pattern.New(`(?i)\b(?:remov|delet|drop|renam|mov(?:e|ed|ing)\b|replac|gone\b|will\b|later\b|not (?:yet|created|done|written))|删除|移除|重命名|移动|以后|稍后|尚未`)
	position = pattern.New(`:[0-9]+(?:[-:][0-9]+)?$`)
	fileName = pattern.New(`^(?:\.?[\pL\pN_@+-][\pL\pN_.@+-]*/)*\.?[\pL\pN_+-][\pL\pN_.+-]*$`)
	madeIn   = pattern.New(`(?i)\b(?:files?|chang(?:es|ed)|created|added|modified|implemented|built|stories)\b|文件|改动|变更|新增|实现`)
	madeBy   = pattern.New(`(?i)\b(?:add(?:s|ed)|creat(?:es|ed)|chang(?:es|ed)|modif(?:ies|ied)|updat(?:es|ed)|wrote|written|implement(?:s|ed)|new file)\b|新增|创建|修改|更新|实现`)
	absent   = pattern.New(`(?i)\b(?:remov|delet|drop|renam|mov(?:e|ed|ing)\b|replac|gone\b|no longer|instead|will\b|would|could|should|later|next|plan(?:ned|s)?\b` +
		`|todo\b|pending|future|follow-?up|import|require|not\b|n't|un(?:changed|touched)|without|missing` +
		`|generated|ignored?|skip|limits?\b|deviation|how to run|depends?|package)|删除|移除|重命名|移动|以后|稍后|尚未|没有|计划|导入|生成|依赖`)
)

// sources are the ends of names that are files even without a folder.
var sources = strings.Fields(`go py js jsx ts tsx mjs cjs java kt kts rs rb php c h cc cpp hpp cs swift scala sh bash sql vue svelte lua dart ex exs clj erl hs zig proto`)

// texts are the ends of names that are files in a folder.
var texts = append(strings.Fields(`md txt rst html css scss sass less json yaml yml toml xml ini cfg conf env lock gradle tf graphql csv svg png tmpl templ`), sources...)

// programs are names that end like a file and are none.
var programs = strings.Fields(`node.js next.js vue.js nuxt.js react.js express.js three.js d3.js chart.js alpine.js ember.js backbone.js angular.js deno.js`)

// readFiles returns the files that a report of a build says it has made or changed, as paths from the project: those
// listed in its block, and those named in its text, where it does not say that they are gone or to come.
func readFiles(listed any, document string) []string {
	var f fileNames
	for _, name := range listedNames(listed) {
		if len(strings.Fields(name)) == 1 {
			add(&f.made, name)
		}
	}
	counts, fenced := false, false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(line, "#"):
			counts = madeIn.MatchString(line) && !absent.MatchString(line)
		default:
			f.readLine(line, counts)
		}
	}
	return slices.DeleteFunc(f.made, func(name string) bool { return slices.Contains(f.gone, name) })
}

// listedNames returns the names of a list of files: texts, or objects with a path.
func listedNames(listed any) []string {
	names := stringList(listed)
	list, _ := listed.([]any)
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			for _, key := range []string{"path", "file", "name"} {
				if name, ok := object[key].(string); ok {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names
}

// fileNames are the files that a report says it has made or changed, and those that are gone.
type fileNames struct{ made, gone []string }

// add adds the file that a word names, once.
func add(to *[]string, word string) {
	if name := asFile(word); name != "" && !slices.Contains(*to, name) && len(*to) < maxFiles {
		*to = append(*to, name)
	}
}

// readLine reads the names in a line of text. counts is true below a heading of what was made.
func (f *fileNames) readLine(line string, counts bool) {
	words := inCode.FindAllStringSubmatch(line, -1)
	isListed := counts && (strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "|"))
	rest := spans.ReplaceAllString(line, "")
	to := &f.made
	switch {
	case removed.MatchString(rest):
		to = &f.gone
	case absent.MatchString(rest), !isListed && !madeBy.MatchString(line):
		return
	case isListed && len(words) == 0 && strings.HasPrefix(line, "- "): // a plain list
		add(to, plainly.FindString(line[2:]))
	}
	for _, word := range words {
		add(to, word[1])
	}
}

// asFile returns the path that a word is, "" if it is none: an address, a pattern, a path of another place, or the name
// of a package or symbol.
func asFile(word string) string {
	word = position.ReplaceAllString(strings.TrimPrefix(strings.TrimRight(word, ".,:"), "./"), "")
	first, _, inFolder := strings.Cut(word, "/")
	end := strings.TrimPrefix(path.Ext(word), ".")
	isHost := inFolder && strings.Contains(strings.TrimPrefix(first, "."), ".")
	switch {
	case !fileName.MatchString(word), path.Clean(word) != word, isHost, strings.HasPrefix(word, "@"), strings.HasPrefix(word, "-"):
		return ""
	case inFolder && slices.Contains(texts, end), slices.Contains(sources, end) && !slices.Contains(programs, strings.ToLower(word)):
		return word
	}
	return ""
}

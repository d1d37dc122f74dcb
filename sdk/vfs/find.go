package vfs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// The limits of searches.
const (
	maxNames = 1000
	maxHits  = 200
	maxWalk  = 50_000
	maxLine  = 300
	// maxMatched is how many bytes of a line are searched, and maxProgram the size of an expression:
	// the time of a match is their product.
	maxMatched = 64 << 10
	maxProgram = 5000
	maxSearch  = 5 * time.Second
)

func (b *Toolbox) list(_ context.Context, in arguments) (string, error) {
	dir, err := Clean(in.folderPath())
	if err != nil {
		return "", err
	}
	infos, err := b.files.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(infos) == 0 {
		return "Directory is empty or does not exist: " + dir, nil
	}
	var lines []string
	for _, info := range infos {
		if info.Dir {
			lines = append(lines, info.Path+"/")
		} else {
			lines = append(lines, fmt.Sprintf("%s (%d bytes)", info.Path, info.Size))
		}
	}
	return joinLines(lines, maxNames, "names"), nil
}

// joinLines joins lines up to a limit, and says how many are left out.
func joinLines(lines []string, most int, what string) string {
	size, n := 0, 0
	for n < len(lines) && n < most && size+len(lines[n]) < MaxResult-100 {
		size += len(lines[n]) + 1
		n++
	}
	text := strings.Join(lines[:n], "\n")
	if n < len(lines) {
		text += fmt.Sprintf("\n[%d more %s are left out; search in a folder, or for less]", len(lines)-n, what)
	}
	return text
}

func (b *Toolbox) glob(ctx context.Context, in arguments) (string, error) {
	dir, match, err := globIn(in.folderPath(), *in.Pattern)
	if err != nil {
		return "", err
	}
	var found []string
	note, err := b.walkFiles(ctx, dir, func(_ context.Context, info Info) bool {
		if match.MatchString(info.Path) {
			found = append(found, info.Path)
		}
		return true
	})
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	if len(found) == 0 {
		return "No files matching pattern: " + *in.Pattern + note, nil
	}
	return joinLines(found, maxNames, "files") + note, nil
}

// walkFiles visits the files below a folder, or the one file. note reports a walk cut short.
func (b *Toolbox) walkFiles(ctx context.Context, dir string, visit func(context.Context, Info) bool) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxSearch)
	defer cancel()
	if info, err := b.files.Stat(dir); err == nil && !info.Dir {
		visit(ctx, info)
		return "", nil
	}
	n := 0
	err = walk(b.files, dir, func(info Info) bool {
		if n++; n > maxWalk || ctx.Err() != nil {
			note = fmt.Sprintf("\n[the search ended after %d files and folders; search in a smaller folder]", n-1)
			return false
		}
		return info.Dir || visit(ctx, info)
	})
	switch {
	case errors.Is(err, fs.SkipAll):
		return note, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("Directory is empty or does not exist: %s", dir) //nolint:staticcheck // a sentence for the model
	}
	return "", err
}

// globIn reads a pattern for the files below a folder. An absolute pattern stands for itself.
func globIn(dir, pattern string) (clean string, match *regexp.Regexp, err error) {
	if clean, err = Clean(dir); err != nil {
		return "", nil, err
	}
	switch {
	case pattern == "":
		return "", nil, errors.New("the pattern is empty")
	case len(pattern) > maxPath:
		return "", nil, fmt.Errorf("the pattern has %d bytes, more than %d", len(pattern), maxPath)
	}
	full := strings.TrimPrefix(pattern, "./")
	if !strings.HasPrefix(full, "/") {
		full = strings.TrimSuffix(quoteGlob(clean), "/") + "/" + full
	}
	text, err := globExpression(full)
	if err != nil {
		return "", nil, err
	}
	match, err = regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		return "", nil, fmt.Errorf("the pattern %q cannot be read", pattern)
	}
	return clean, match, nil
}

// quoteGlob makes a path a pattern for itself.
func quoteGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`, ",", `\,`).Replace(name)
}

// globPart finds the parts of a pattern; wild has the wildcards among them.
var (
	globPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\*\*/|\*\*|\[[^]]+\]|\\.|.`) })
	wild     = map[string]string{"**/": `(?:[^/]*/)*`, "**": `.*`, "*": `[^/]*`, "?": `[^/]`, `\`: ""}
)

// globExpression translates a pattern into a regular expression.
func globExpression(glob string) (text string, err error) {
	depth := 0
	text = globPart().ReplaceAllStringFunc(glob, func(part string) string {
		other, stands := wild[part]
		switch {
		case stands:
			return other
		case part == "[":
			err = fmt.Errorf("the pattern %q has a [ without its ]", glob)
		case part[0] == '[':
			class := globClass(part)
			if match, wrong := regexp.MatchString(class, "/"); wrong != nil || match {
				err = fmt.Errorf("the pattern %q has a [ ] that is out of order, or that includes /", glob)
			}
			return class
		case part == "{":
			depth++
			return `(?:`
		case part == "}" && depth > 0:
			depth--
			return `)`
		case part == "," && depth > 0:
			return `|`
		case part[0] == '\\':
			return regexp.QuoteMeta(part[1:])
		}
		return regexp.QuoteMeta(part)
	})
	if err == nil && depth > 0 {
		err = fmt.Errorf("the pattern %q has a { without its }", glob)
	}
	return text, err
}

// globClass translates a [ ] of a pattern, which never stands for a slash.
func globClass(part string) string {
	inside, not := part[1:len(part)-1], ""
	if inside[0] == '!' || inside[0] == '^' {
		inside, not = inside[1:], "^/"
	}
	return "[" + not + strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`).Replace(inside) + "]"
}

func (b *Toolbox) grep(ctx context.Context, in arguments) (string, error) {
	text := *in.Pattern
	if text == "" || len(text) > maxPath {
		return "", fmt.Errorf("the pattern has to have 1 to %d bytes", maxPath)
	}
	if in.IgnoreCase {
		text = "(?i)" + text
	}
	match, err := parseExpression(text)
	if err != nil {
		return "", err
	}
	glob := cmp.Or(in.Glob, "**")
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	dir, only, err := globIn(in.folderPath(), glob)
	if err != nil {
		return "", err
	}
	var hits []string
	note, err := b.walkFiles(ctx, dir, func(ctx context.Context, info Info) bool {
		if info.Path == dir || only.MatchString(info.Path) {
			hits = append(hits, b.matchingLines(ctx, match, info.Path, maxHits-len(hits))...)
		}
		return len(hits) < maxHits
	})
	if err != nil {
		return "", err
	}
	if len(hits) == 0 {
		return "No matches found for pattern: " + *in.Pattern + note, nil
	}
	if len(hits) == maxHits {
		note = fmt.Sprintf("\n[the search ended at %d lines; search in a folder, or for less]", maxHits)
	}
	return joinLines(hits, maxHits, "lines") + note, nil
}

// parseExpression reads a regular expression fit for a search in a bounded time.
func parseExpression(text string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression (RE2): %w", err)
	}
	if program, err := syntax.Compile(tree.Simplify()); err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("the pattern has too many repetitions; write a simpler one")
	}
	return regexp.Compile(text)
}

// matchingLines returns the matching lines of a text file as path:line: text.
func (b *Toolbox) matchingLines(ctx context.Context, match *regexp.Regexp, name string, most int) []string {
	data, err := b.files.Read(name)
	if err != nil || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return nil
	}
	var out []string
	n := 0
	for line := range bytes.Lines(data) {
		if n++; ctx.Err() != nil {
			break
		}
		line = bytes.TrimRight(line, "\r\n")
		at := match.FindIndex(line[:min(len(line), maxMatched)])
		if at == nil {
			continue
		}
		text := string(line)
		if from := at[0] - maxLine/2; from > 0 && len(line) > maxLine {
			text = "…" + strings.ToValidUTF8(text[from:], "")
		}
		if out = append(out, fmt.Sprintf("%s:%d: %s", name, n, visible.Cut(text, maxLine, "…"))); len(out) >= most {
			break
		}
	}
	return out
}

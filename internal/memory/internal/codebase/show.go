package codebase

import (
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
)

const (
	// maxShown bounds the lines of a shown text, maxLine each of them, in bytes, maxLabel a name.
	maxShown, maxLine, maxLabel = 12, 200, 300
	// around is how many lines beside a chunk are looked at for a credential that begins or ends there, and maxRead the
	// bytes of a line that are looked at, around the best word.
	around, maxRead = 100, 4 << 10
)

// shower reads the text of places from the files, as they are now.
type shower struct {
	dir   *durable.Dir
	board *board
}

// showPlace returns a place, and all the text. ok is false if the file does not have the lines any more.
func (s shower) showPlace(p place) (out Place, text string, ok bool) {
	if now := (&list{dir: s.dir, linked: map[string]bool{}}); now.isLinked(path.Dir(p.file)) {
		return out, "", false
	}
	data, err := s.dir.ReadFile(p.file, maxFile)
	lines := splitLines(data)
	if err != nil || !utf8.Valid(data) || p.from >= len(lines) {
		return out, "", false
	}
	to := min(p.to, len(lines))
	first, last := max(0, p.from-around), min(len(lines), to+around)
	for i := first; i < last; i++ {
		lines[i] = s.clipLine(lines[i], maxRead)
	}
	copy(lines[first:last], strings.Split(untrusted.MaskLines(strings.Join(lines[first:last], "\n")), "\n"))
	all := lines[p.from:to]
	start, end, best := s.bestLines(all)
	for start < end-1 && strings.TrimSpace(all[start]) == "" {
		start++
	}
	shown := slices.Clone(all[start:end])
	for i, line := range shown {
		shown[i] = s.clipLine(line, maxLine)
	}
	out = Place{
		File: untrusted.Label(p.file, maxLabel), From: p.from + 1, To: to, TextFrom: p.from + start + 1, Name: untrusted.Label(nameAt(p.file, lines, p.from+best), maxLabel),
		Score: math.Round(1000*p.score) / 1000, Text: untrusted.Shown(strings.Trim(strings.Join(shown, "\n"), "\n"), maxShown*(maxLine+8)),
	}
	return out, strings.Join(all, "\n"), true
}

// clipLine returns a line, or the part of a long one around the best word.
func (s shower) clipLine(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	_, at := s.weighLine(line)
	from := max(0, min(at-limit/2, len(line)-limit))
	part := strings.ToValidUTF8(line[from:from+limit], "") + "…"
	if from > 0 {
		return "…" + part
	}
	return part
}

// bestLines returns the part of a chunk with the most of the query, in at most maxShown lines, and the best line.
func (s shower) bestLines(lines []string) (from, to, line int) {
	weights := make([]float64, len(lines))
	for i, text := range lines {
		weights[i], _ = s.weighLine(text)
	}
	best := -1.0
	for i := range max(1, len(lines)-maxShown+1) {
		sum := 0.0
		for _, w := range weights[i:min(len(lines), i+maxShown)] {
			sum += w
		}
		if sum > best {
			best, from = sum, i
		}
	}
	to = min(len(lines), from+maxShown)
	return from, to, from + slices.Index(weights[from:to], slices.Max(weights[from:to]))
}

// weighLine returns how much of the query a line has, and the place of the rarest word.
func (s shower) weighLine(line string) (sum float64, at int) {
	b := s.board
	seen, best := make([]bool, len(b.terms)), 0.0
	b.reader.Each(line, func(place int, one recall.Term) {
		t, ok := slices.BinarySearch(b.terms, termOf(one))
		if !ok || seen[t] {
			return
		}
		seen[t] = true
		sum += b.rarity[t]
		if b.rarity[t] > best {
			best, at = b.rarity[t], place
		}
	})
	return sum, at
}

// The lines of declarations and headings, with the names. A word that is also one of everyday language, such as type,
// counts before the signs that follow it in code.
var declarations = []*pattern.Pattern{
	pattern.New(`^\s*(?:(?:pub(?:\([a-z]+\))?|public|private|protected|internal|static|export|default|async|abstract|final|unsafe|override)\s+)*` +
		`(?:func|def|function\*?|fn|class|struct|enum|trait|interface|impl|namespace|fun)\s+(?:\([^)]*\)\s*)?([\pL_$][\w$.]*)\s*(?:[(<{:\[=!]|$|extends|implements|for|where)`),
	pattern.New(`^\s*(?:export\s+)?(?:type|module|object|protocol|sub)\s+([\pL_$][\w$.]*)\s*(?:=|\{|\[|<|\(|struct\b|interface\b|func\b|map\b|$)`),
	pattern.New(`^(?:export\s+)?(?:const|let|var)\s+([\pL_$][\w$]*)(?:\s*:[^=]+)?\s*=\s*(?:async\s+)?(?:function\b|\(|[\w$]+\s*=>|\{)`),
}

// nameAt returns the name of the declaration or heading that a line belongs to: the one below a comment, else above.
func nameAt(file string, lines []string, at int) string {
	for below := at; below < len(lines) && comment.MatchString(lines[below]); below++ {
		if name := declaredName(file, lines[min(below+1, len(lines)-1)]); name != "" {
			return name
		}
	}
	for i := at; i >= max(0, at-2*around); i-- {
		if name := declaredName(file, lines[i]); name != "" {
			return name
		}
	}
	return ""
}

var comment = pattern.New(`^\s*(?://|#|/?\*|--)`)

var heading = pattern.New(`^#{1,6} (.+)$`)

func declaredName(file, line string) string {
	line = line[:min(len(line), maxLine)]
	all := declarations
	if strings.HasSuffix(file, ".md") {
		all = []*pattern.Pattern{heading}
	}
	for _, one := range all {
		if m := one.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

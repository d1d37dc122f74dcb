package verdict

import (
	"cmp"
	"errors"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// block is an object of JSON in a report.
type block struct {
	jsonblock.Block
	object map[string]any // nil if the block is unreadable, or has a field twice
	twice  []string       // fields, in two spellings
	defect lang.Text
}

// named matches a field of a block. An object without any is a sample of the product's own data.
var named = pattern.New(`(?i)["'“]?(?:criteria|findings|checks|no_checks|verdict|needs|[a-z]+_(?:report|result|review)|review)["'”]?\s*[:：]`)

// maxBlocks bounds the blocks read from a report.
const maxBlocks = 100

// findBlocks returns the blocks of a report.
func findBlocks(text string) (out []block) {
	for _, found := range jsonblock.Find(text, named.MatchString, nil) {
		b := block{Block: found}
		if len(out) == maxBlocks {
			b.defect = lang.T("it has more than %d blocks of JSON; hand in one", maxBlocks)
			return append(out, b)
		}
		if b.Err == nil {
			b.object, b.twice = canonicalFields(b.Object)
		} else {
			b.defect = describeMistake(b.Block, strings.Count(text[:b.At], "\n"))
		}
		out = append(out, b)
	}
	return out
}

// describeMistake names the mistake in a block, and the place in the report. line is the line of the first brace,
// from 0.
func describeMistake(b jsonblock.Block, line int) lang.Text {
	var unclosed *jsonblock.Unclosed
	if errors.As(b.Err, &unclosed) {
		row, column := lineAndColumn(b.Raw, unclosed.At, line)
		return lang.T("the block of JSON breaks off: the bracket at line %d, column %d is never closed", row, column)
	}
	var syntax *jsontext.SyntacticError
	if !errors.As(b.Err, &syntax) {
		return lang.T("the block of JSON at line %d cannot be read: %s", line+1, b.Err.Error())
	}
	row, column := lineAndColumn(b.Data, int(syntax.ByteOffset), line)
	if errors.Is(b.Err, jsontext.ErrDuplicateName) {
		return lang.T("the block of JSON has the field %q twice, at line %d, column %d", syntax.JSONPointer.LastToken(), row, column)
	}
	return lang.T("the block of JSON is not valid at line %d, column %d", row, column)
}

// lineAndColumn returns line and column, from 1, of an index in a text at a line from 0.
func lineAndColumn(text string, at, line int) (row, column int) {
	at = min(max(at, 0), len(text))
	before := text[:at]
	last := strings.LastIndexByte(before, '\n')
	return line + 1 + strings.Count(before, "\n"), len([]rune(before[last+1:])) + 1
}

// fields are the names of a block's fields, by their form without case and separators.
var fields = map[string]string{
	"summary": "summary", "checks": "checks", "commands": "checks", "nochecks": "no_checks",
	"criteria": "criteria", "acceptancecriteria": "criteria", "findings": "findings", "issues": "findings", "defects": "findings",
	"resolved": "resolved", "needs": "needs", "verdict": "verdict",
}

// canonicalFields gives the known fields of an object their canonical names, and returns the names
// given twice. Other fields stay.
func canonicalFields(object map[string]any) (out map[string]any, twice []string) {
	return renameFields(object, func(key string) string { return cmp.Or(fields[jsonblock.Name(key)], key) })
}

// renameFields gives the fields of an object other names, and returns the names given twice.
func renameFields(object map[string]any, nameOf func(key string) string) (out map[string]any, twice []string) {
	out = make(map[string]any, len(object))
	for _, key := range sortedKeys(object) {
		name := nameOf(key)
		if _, taken := out[name]; taken {
			twice = append(twice, name)
			continue
		}
		out[name] = object[key]
	}
	return out, twice
}

// indentWithout returns an object without a field as indented JSON.
func indentWithout(object map[string]any, without string) string {
	rest := maps.Clone(object)
	delete(rest, without)
	return jsonblock.Format(rest, "  ")
}

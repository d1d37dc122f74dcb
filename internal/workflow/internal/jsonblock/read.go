package jsonblock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"
)

// Limits of the repair library: it takes 1.4 s for 100 kB of unescaped quotes, and recurses once a level.
const (
	maxRepair = 64 << 10 // bytes of one text
	maxDepth  = 500
	// manyQuotes is a run of quotes that no document has, and that takes the library longest.
	manyQuotes = `""""""""`
)

// Unclosed is the error of an object that breaks off; At is the unclosed bracket.
type Unclosed struct{ At int }

func (u *Unclosed) Error() string { return fmt.Sprintf("the bracket at byte %d is never closed", u.At) }

// read reads the object strictly, then as models break JSON. budget is the number of bytes left for repairs.
func (b *Block) read(budget *int) {
	if b.parse(b.Raw); b.Object != nil {
		return
	}
	if opened, end := findEnd(b.Raw); end < 0 {
		b.Err = &Unclosed{At: opened}
		return
	}
	if *budget -= len(b.Raw); *budget < 0 || tooDeep(b.Raw) || strings.Contains(b.Raw, manyQuotes) {
		return
	}
	if fixed, err := jsonrepair.Repair(b.Raw); err == nil {
		repaired := Block{}
		if repaired.parse(fixed); repaired.Object != nil {
			b.Data, b.Object, b.Err = repaired.Data, repaired.Object, repaired.Err
		}
	}
}

// parse decodes an object. A repeated field is an error, and the object is decoded nevertheless.
func (b *Block) parse(text string) {
	var checked jsontext.Value
	b.Data, b.Err = text, jsonv2.Unmarshal([]byte(text), &checked)
	if b.Err != nil && !errors.Is(b.Err, jsontext.ErrDuplicateName) {
		return
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&b.Object); err != nil || dec.More() {
		b.Object = nil
	}
}

// tooDeep reports whether a text nests further than any document does.
func tooDeep(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return false
}

// Name returns the name of a field without case and separators: prdDraft, PRD_Draft and prd-draft are one.
func Name(field string) string { return strings.ToLower(separators.Replace(field)) }

// separators removes the separators between the words of a field.
var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Scalar returns a text or a number as text; "" for anything else.
func Scalar(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		if n, err := v.Float64(); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return strconv.FormatInt(int64(n), 10)
		}
		return v.String()
	}
	return ""
}

// Format returns a value as indented JSON.
func Format(v any, indent string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if enc.Encode(v) != nil {
		return "" // it was decoded from JSON
	}
	return strings.TrimSpace(out.String())
}

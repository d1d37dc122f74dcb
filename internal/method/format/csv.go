package format

import (
	"html"

	"github.com/bmad-mcp/bmad-mcp/internal/base/csvtable"
)

// Row is a line of a manifest, by the names in the header.
type Row map[string]string

// Rows reads a manifest by the names in the header, as [csvtable.Read] does.
func Rows(text string) ([]Row, error) {
	table, err := csvtable.Read(text)
	var out []Row
	for _, row := range table {
		out = append(out, row)
	}
	return out, err
}

// Plain returns a field of a manifest as people read it: the installer of 6.0 to 6.2 writes
// the fields of an agent as in XML.
func (r Row) Plain(names ...string) string {
	for _, name := range names {
		if v := r[name]; v != "" {
			return OneLine(html.UnescapeString(v))
		}
	}
	return ""
}

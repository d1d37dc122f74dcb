package format

import (
	"encoding/csv"
	"errors"
	"html"
	"io"
	"strings"
)

// Row is a line of a manifest, by its header's names.
type Row map[string]string

// Rows reads a manifest by the names of its header. Rows that are too short or too long
// are kept as far as they go; an unreadable row is an error after the rows before it.
func Rows(text string) ([]Row, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff"))
	}
	var out []Row
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		line := Row{}
		for i, value := range record {
			if i < len(header) {
				line[header[i]] = strings.TrimSpace(value)
			}
		}
		out = append(out, line)
	}
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

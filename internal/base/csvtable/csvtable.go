// Package csvtable reads tables in the CSV form of other programs, by the names in the header.
package csvtable

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// Read reads a table, each row by the names in the header. Too short or too long rows are kept as far as
// they go; an unreadable row is an error after the rows before it.
func Read(text string) ([]map[string]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	first, _, _ := strings.Cut(text, "\n")
	for _, separator := range ";\t" { // of spreadsheets in countries with a decimal comma
		if strings.ContainsRune(first, separator) && !strings.Contains(first, ",") {
			r.Comma = separator
		}
	}
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
	var out []map[string]string
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		line := map[string]string{}
		for i, value := range record {
			if i < len(header) {
				line[header[i]] = strings.TrimSpace(value)
			}
		}
		out = append(out, line)
	}
}

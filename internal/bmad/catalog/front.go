package catalog

import (
	"cmp"
	"encoding/csv"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// front is what the front matter of a file may say.
type front struct {
	Name        string
	Description string
	// Values has every plain value of it.
	Values map[string]string
}

// frontMatter splits a Markdown text into its front matter and the rest; ok is false where
// there is none. Front matter that is not valid YAML, as people write it with a colon in a
// sentence, is read line by line.
func frontMatter(text string) (front, string, bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return front{}, text, false
	}
	head, body, ok := strings.Cut(rest, "\n---")
	if !ok {
		return front{}, text, false
	}
	_, body, _ = strings.Cut(body, "\n")
	out := front{Values: map[string]string{}}
	var any map[string]any
	if err := yaml.Unmarshal([]byte(head), &any); err == nil {
		for key, value := range any {
			if s, ok := value.(string); ok {
				out.Values[key] = s
			}
		}
	} else {
		for line := range strings.Lines(head) {
			if key, value, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(key, " \t#-") {
				out.Values[key] = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}
	out.Name, out.Description = oneLine(out.Values["name"]), oneLine(out.Values["description"])
	return out, body, true
}

// fence finds the fenced blocks of a text, with their language.
var fence = regexp.MustCompile("(?ms)^```(yaml|yml|xml)\n(.*?)^```")

// yamlBlock returns the first fenced block of YAML.
func yamlBlock(text string) string {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] != "xml" {
			return m[2]
		}
	}
	return ""
}

var (
	agentTag  = regexp.MustCompile(`<agent\b([^>]*)>`)
	taskTag   = regexp.MustCompile(`<(?:task|tool)\b([^>]*)>`)
	attribute = regexp.MustCompile(`([A-Za-z][\w-]*)\s*=\s*"([^"]*)"`)
)

// attributes reads the attributes of an XML tag, as lenient as the models are that read it.
func attributes(tag string) map[string]string {
	out := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
		out[m[1]] = oneLine(html.UnescapeString(m[2]))
	}
	return out
}

// tagged returns the attributes of the first tag that an expression finds.
func tagged(tag *regexp.Regexp, text string) map[string]string {
	m := tag.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return attributes(m[1])
}

// row is a line of a manifest, by its header's names.
type row map[string]string

// csvRows reads a manifest by the names of its header. Rows that are too short or too long
// are taken for what they have; what cannot be read at all is an error after the rows before it.
func csvRows(text string) ([]row, error) {
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
	var out []row
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		line := row{}
		for i, value := range record {
			if i < len(header) {
				line[header[i]] = strings.TrimSpace(value)
			}
		}
		out = append(out, line)
	}
}

// plain returns a field of a manifest as people read it: the installer of 6.0 to 6.2 writes
// the fields of an agent as in XML.
func (r row) plain(names ...string) string {
	for _, name := range names {
		if v := r[name]; v != "" {
			return oneLine(html.UnescapeString(v))
		}
	}
	return ""
}

// maxRows bounds the rows of a manifest: what each names is looked for.
const maxRows = 20_000

// manifest reads a CSV file of the installation; one that is not there has no rows.
func (f *found) manifest(name string) []row {
	text := f.read(name)
	if text == "" {
		return nil
	}
	rows, err := csvRows(text)
	switch {
	case err != nil:
		f.problem(name, "some of its rows cannot be read: %v", err)
	case strings.Count(text, `"`)%2 != 0:
		f.problem(name, "a quotation mark in it is not closed; the rows after it were taken for one text")
	}
	if len(rows) > maxRows {
		f.problem(name, "it has %d rows; those after %d were left out", len(rows), maxRows)
		rows = rows[:maxRows]
	}
	return rows
}

// yaml reads a YAML file of the installation into a value; one that is not there, or is no
// YAML, leaves it empty.
func (f *found) yaml(name string, into any) {
	text := f.read(name)
	if text == "" {
		return
	}
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		f.problem(name, "it is not valid YAML: %v", err)
	}
}

// toml reads a TOML file of the installation; one that is not there, or is no TOML, is empty.
func (f *found) toml(name string) map[string]any {
	values, err := parseTOML(f.read(name), keysOf(name))
	if err != nil {
		f.problem(name, "it is not valid TOML: %v", err)
	}
	return values
}

// wrongKind finds what the reader of YAML says of a value that is of another kind than is
// expected; what is expected it says in words of the program.
var wrongKind = regexp.MustCompile("(?s)cannot unmarshal !!([a-z]+)(?: (`.*`))? into .*")

// yamlError returns what is wrong with a YAML text in words of who wrote it.
func yamlError(err error) error {
	var kinds *yaml.TypeError
	if !errors.As(err, &kinds) {
		return err
	}
	var parts []string
	for _, line := range kinds.Errors {
		parts = append(parts, wrongKind.ReplaceAllStringFunc(line, func(text string) string {
			m := wrongKind.FindStringSubmatch(text)
			is := map[string]string{"str": "a text", "int": "a number", "float": "a number", "bool": "true or false", "seq": "a list", "map": "a table"}[m[1]]
			return strings.TrimSpace(m[2] + " is " + cmp.Or(is, m[1]) + ", which does not belong there")
		}))
	}
	return errors.New(strings.Join(parts, "; "))
}

// phase returns the phase that a text of the method names, such as "2-plan-workflows".
func phase(texts ...string) string {
	for _, t := range texts {
		switch t = strings.ToLower(t); t { // as the help of 6.12 has them
		case "plan":
			return "planning"
		case "ship":
			return "implementation"
		}
		for _, p := range []struct{ mark, phase string }{
			{"1-analysis", "analysis"}, {"2-plan", "planning"}, {"3-solution", "solutioning"}, {"4-implement", "implementation"},
			{"analysis", "analysis"}, {"planning", "planning"}, {"solutioning", "solutioning"}, {"implementation", "implementation"}, {"anytime", "anytime"},
			{"/plan/", "planning"}, {"/ship/", "implementation"},
		} {
			if strings.Contains(t, p.mark) {
				return p.phase
			}
		}
	}
	return ""
}

package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed templates/*.html
var templates embed.FS

// screens are the templates of every screen, by language and name. A screen is read when it is
// shown first: most people need a few of them, in one language.
type screens struct {
	version string
	log     *slog.Logger

	mu  sync.Mutex
	all map[screenID]*template.Template
}

// screenID names the templates of a screen in a language.
type screenID struct {
	lang lang.Language
	name string
}

// of returns the templates of a screen: layout.html, the parts in files whose name begins with an
// underscore, and its own file.
func (v *screens) of(l lang.Language, name string) (*template.Template, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := screenID{l, name}
	if known := v.all[id]; known != nil {
		return known, nil
	}
	read, err := template.New("layout.html").Funcs(functions(l)).ParseFS(templates, "templates/layout.html", "templates/_*.html", "templates/"+name+".html")
	if err != nil {
		return nil, err
	}
	if v.all == nil {
		v.all = map[screenID]*template.Template{}
	}
	v.all[id] = read
	return read, nil
}

// functions returns the functions of the templates. Sentences stand in calls of say with a constant format, so
// that the catalogues are held against them.
func functions(l lang.Language) template.FuncMap {
	said := l.Say
	return template.FuncMap{
		"say":    func(format string, args ...any) string { return said(format, values(args)...) },
		"count":  l.Count,
		"word":   func(text any) string { return l.Word(fmt.Sprint(text)) },
		"judged": func(v workflow.Verdict) string { return words.Verdict(l, v) },
		"asset":  assetPath,
		"spaced": splitCode,
		"when":   func(t time.Time) template.HTML { return when(t) },
		"ago":    func(d time.Duration) string { return ago(l, d) },
		"dict":   dict,
		"critical": func(all []workflow.AuditFinding) (n int) {
			for _, f := range all {
				if f.Severity == "critical" {
					n++
				}
			}
			return n
		},
		"points": func(score *float64) string { return strconv.FormatFloat(*score, 'f', -1, 64) },
		"spans":  spans,
		"hidden": func(kind string) string { return hiddenWords[kind].In(l) },
		// Text of others has its hidden characters visible, as one line or as it is.
		"shown": func(text any) string { return visible.Line(fmt.Sprint(text)) },
		"text":  visible.Text,
		"exact": visible.Exact,
	}
}

// values are arguments with the figures that pointers lead to in place of these.
func values(args []any) []any {
	for i, arg := range args {
		if figure, ok := arg.(*float64); ok && figure != nil {
			args[i] = *figure
		}
	}
	return args
}

// dict makes a map of keys and values, for a part that takes more than one.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d arguments", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a key", pairs[i])
		}
		out[key] = pairs[i+1]
	}
	return out, nil
}

// spans shows a line of a comparison. There may be a thousand, for which a template is slow.
func spans(parts []textdiff.Span) template.HTML {
	var b strings.Builder
	for _, part := range parts {
		text := template.HTMLEscapeString(part.Text)
		if part.Changed {
			text = "<mark>" + text + "</mark>"
		}
		b.WriteString(text)
	}
	return template.HTML(b.String()) //nolint:gosec // each text in it is escaped
}

// when shows a time for people, which the script turns into the browser's own time zone.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	//nolint:gosec // both are digits
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), t.UTC().Format("2006-01-02 15:04 UTC")))
}

// ago says a duration by its largest unit.
func ago(l lang.Language, d time.Duration) string {
	switch {
	case d < time.Minute:
		return l.Count(max(int(d/time.Second), 0), "second")
	case d < time.Hour:
		return l.Count(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return l.Count(int(d/time.Hour), "hour")
	}
	return l.Count(int(d/(24*time.Hour)), "day")
}

// hiddenWords name the ways in which something is hidden, as package render does.
var hiddenWords = map[string]lang.Text{
	"comment":   lang.T("a comment"),
	"html":      lang.T("HTML"),
	"image":     lang.T("an image, not loaded"),
	"unseen":    lang.T("an invisible character"),
	"reference": lang.T("the definition of a link"),
	"info":      lang.T("words behind the language of a code block"),
	"cell":      lang.T("a cell without a column"),
	"link":      lang.T("where a link leads"),
}

// splitCode returns a code in two halves, as people read it.
func splitCode(code string) string { return code[:len(code)/2] + "-" + code[len(code)/2:] }

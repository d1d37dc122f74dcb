package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed style.css
var style string

// shell is the file around a report. Its policy allows this style alone: no script, no request.
var shell = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="{{.Lang}}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{{.Hash}}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style>{{.Style}}</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
{{.Body}}</main>
</body>
</html>
`))

// HTML returns the report as one file that stands by itself.
func HTML(s *workflow.Session, found workflow.Verification, l lang.Language) (string, error) {
	sum := sha256.Sum256([]byte(style))
	var b strings.Builder
	err := shell.Execute(&b, map[string]any{
		"Lang":  string(l),
		"Title": l.Say("Run: %s", visible.Line(s.TaskName)),
		"Hash":  "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
		"Style": template.CSS(style), //nolint:gosec // a file of this package
		"Body":  render.Document(body(s, found, l, "#")).HTML,
	})
	return b.String(), err
}

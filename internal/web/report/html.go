package report

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

//go:embed style.css
var style string

// HTML returns the report as one file, which loads nothing.
func HTML(f Facts, l lang.Language) (string, error) {
	sum := sha256.Sum256([]byte(style))
	hash := "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	content := render.Document(reportBody(f, l, "#")).HTML
	var b strings.Builder
	err := shell(string(l), l.Say("Run: %s", visible.Line(f.Session.TaskName)), hash, string(content)).Render(context.Background(), &b)
	return b.String(), err
}

// Package zh adds Chinese to the languages, with sentences from gettext files.
package zh

import (
	"embed"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

//go:embed *.po
var files embed.FS

func init() { lang.Add("zh", files) }

package hostcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// decode reads a line as far as it can. A field of an unexpected type does not hide the rest.
func decode(line []byte, into any) bool {
	err := json.Unmarshal(line, into)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}

// reportUsage reports the usage so far, if there is any.
func reportUsage(j Job, by map[string]provider.Usage) {
	for _, u := range by {
		if u.Prompt()+u.Output > 0 {
			j.Report(Activity{Kind: Counted, Usage: maps.Clone(by)})
			return
		}
	}
}

// toolLine returns a tool and the object of it in one line.
func toolLine(name, object string) string {
	return visible.Line(visible.Cut(strings.TrimSpace(name+" "+strings.Join(strings.Fields(object), " ")), 200, "…"))
}

// relativePath returns a path relative to the project if it lies there.
func relativePath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// maxWhy bounds the reason of a failure.
const maxWhy = 600

// final matches the words of failures that would happen again in a second try: of the login, of quotas, of
// models and of the call.
var final = pattern.New(`(?i)not logged in|log ?in again|please run /login|codex login|` +
	`invalid (?:x-)?api[ -]key|incorrect api key|authentication|unauthorized|forbidden` +
	`|token (?:has )?(?:expired|been revoked)|permission_error` +
	`|credit balance|billing|insufficient_quota|quota exceeded|usage limit|(?:hit|reached) your .*limit|limit reached` +
	`|selected model|unknown model|model .*(?:not exist|not found|not supported|not available|may not have access)` +
	`|organization has been disabled` +
	`|unexpected argument|unknown option|no such file or directory|executable file not found|permission denied` +
	`|maximum budget`)

// secret matches a credential by the usual prefix of its service, or by a name before it.
var secret = pattern.New(`(?i)\b(?:sk|pk|rk|xai|ghp|gho|github_pat|glpat|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{12,}|` +
	`(\bbearer\s+|\b(?:api[-_ ]?key|token|secret|password)["']?\s*[:=]\s*["']?)[^\s"',;]{6,}`)

// maskSecrets returns a text without credentials.
func maskSecrets(text string) string { return secret.ReplaceAllString(text, "${1}***") }

// newFailure returns the failure of an engine, in the program's words if there are any. The error of an ended
// context stays as it is, because nothing has failed then.
func newFailure(ctx context.Context, engine string, because error, why string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if because != nil && strings.TrimSpace(why) == "" {
		why = because.Error()
	}
	why = cmp.Or(strings.Join(strings.Fields(why), " "), "it ended without a result")
	why = visible.Line(visible.Fit(maskSecrets(why), maxWhy))
	spent := strings.Contains(why, "maximum budget") // Claude Code's words
	return &Failure{Engine: engine, Why: why, Final: final.MatchString(why), Spent: spent}
}

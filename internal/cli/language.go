package cli

import (
	"context"
	"errors"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// speak chooses the language for a person who has written a text, for example the objective of the
// session that a command is about, "" if there is none.
func (a *app) speak(written string) {
	a.Lang = lang.Choose(a.language, written, lang.Locale(os.Getenv))
}

// speakOf chooses the language of a session.
func (a *app) speakOf(s *workflow.Session) {
	if s != nil {
		a.speak(s.Objective)
	}
}

// speakAs chooses the language of the session that an action was for, by its outcome, or by its
// refusal, which names the session.
func (a *app) speakAs(ctx context.Context, of project.Address, out engine.Outcome, err error) {
	if out.Standing != nil {
		a.speakOf(out.Standing.Session)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.SessionID != "" {
		of.Session = f.SessionID
		if s, _, err := a.engine.Session(ctx, of); err == nil {
			a.speakOf(s)
		}
	}
}

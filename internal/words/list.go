package words

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const objectiveColumns = 60

// List describes the sessions of a project, some of them by a line each.
type List struct {
	lang.Language
	// Total counts the readable sessions, Active those that can go on, Broken the session files
	// that cannot be read.
	Total, Active, Broken int
	Names                 standing.Names
	lines                 []string
}

// Add adds the line of a session; changed is true if other hands have changed it.
func (l *List) Add(s workflow.Summary, changed bool) {
	line := fmt.Sprintf("\n- **%s**: %s, %s", s.TaskName, s.CurrentStage, s.CurrentState)
	if s.Objective != "" {
		line += " — " + visible.Shorten(plainMarks.Replace(visible.Line(s.Objective)), objectiveColumns, "…")
	}
	if changed {
		line += l.Say(", **changed by other hands** (`%s log %s --verify`)", l.Names.Program, s.TaskName)
	}
	l.lines = append(l.lines, line)
}

// Text returns the message.
func (l *List) Text() string {
	text := l.Say("This project has no session yet.\n\n**You can now** say what you want to build.")
	if l.Total > 0 {
		text = l.Say("This project has %s, %d of them active.", l.Count(l.Total, "session"), l.Active) + "\n" + strings.Join(l.lines, "")
		if rest := l.Total - len(l.lines); rest > 0 {
			text += "\n- " + l.Say("… and %d older", rest)
		}
		if l.Active > 0 {
			text += "\n\n" + l.Say("**You can now** name one to go on with, or say what else to build.")
		} else {
			text += "\n\n" + l.Say("**You can now** say what to build next, or name a completed one and the stage to reopen.")
		}
	}
	if l.Broken > 0 {
		text += "\n\n" + l.Say("%s cannot be read and stayed as found.", l.Count(l.Broken, "session file"))
	}
	return text
}

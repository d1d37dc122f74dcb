package words

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Edit describes in one sentence the changes of a draft since it was scored. Whose hand it was
// cannot be known.
func Edit(l lang.Language, e *standing.Edit) string {
	if len(e.Lines) == 0 {
		return l.Say("Only white space was changed since it was scored.")
	}
	first := quoteChange(e.Lines[0].After, e.Lines[0].At)
	if e.Lines[0].After == "" {
		first = editList(l, e.Lines[:1])[0]
	}
	if n := len(e.Lines); n > 1 {
		return l.Say("%d lines were changed since it was scored: %s", n, first+l.Say(" and %d more", n-1))
	}
	return l.Say("1 line was changed since it was scored: %s", first)
}

func editList(l lang.Language, lines []standing.EditedLine) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case line.Before == "":
			out[i] = l.Say("new: %s", quoteChange(line.After, line.At))
		case line.After == "":
			out[i] = l.Say("gone: %s", quoteChange(line.Before, line.At))
		default:
			out[i] = l.Say("%s, which was %s", quoteChange(line.After, line.At), quoteChange(line.Before, line.At))
		}
	}
	return out
}

// TakenBack names the lines of the person's edit that a round takes back; "" if there are none.
func TakenBack(l lang.Language, lines []standing.EditedLine) string {
	if len(lines) == 0 {
		return ""
	}
	first, more := lines[0], ""
	if n := len(lines) - 1; n > 0 {
		more = l.Say(" and %d more", n)
	}
	switch {
	case first.Before == "":
		return l.Say("takes back the person's edit: %s is gone again", quoteChange(first.After, first.At)) + more
	case first.After == "":
		return l.Say("takes back the person's edit: %s is there again", quoteChange(first.Before, first.At)) + more
	}
	return l.Say("takes back the person's edit: %s is %s again", quoteChange(first.After, first.At), quoteChange(first.Before, first.At)) + more
}

// takenBack says so of the latest round of the current stage.
func takenBack(s *standing.Standing) string {
	for _, e := range slices.Backward(s.Session.History) {
		if e.Action != workflow.ActionSubmit || e.FromStage() != s.Session.CurrentStage {
			continue
		}
		if e.Event == workflow.EventEdited || e.Edit == "" {
			return ""
		}
		return "**" + s.Say("Round %d %s.", e.Iteration, plainSentences([]string{e.Edit})[0]) + "**"
	}
	return ""
}

// aroundColumns is the width of a quoted line, leadColumns the width of the part before the change.
const (
	aroundColumns = 60
	leadColumns   = 14
)

// quoteChange quotes the changed part of a line.
func quoteChange(line string, at int) string {
	begin := 0
	if at = min(at, len(line)); visible.Columns(line) > aroundColumns {
		for i := range line[:at] {
			if begin = i; visible.Columns(line[i:at]) <= leadColumns {
				break
			}
		}
	}
	if begin > 0 {
		if _, word, found := strings.Cut(line[begin:at], " "); found {
			begin = at - len(word)
		}
		line = "…" + line[begin:]
	}
	return "“" + visible.Shorten(plainMarks.Replace(visible.Line(line)), aroundColumns, "…") + "”"
}

// EditedDraft refuses a decision on a draft that was changed after it was scored, or shown.
func EditedDraft(s *standing.Standing) *fault.Error {
	e := fault.New(fault.Conflict, "the draft %s was changed after it was scored, so it was not saved", s.Draft.Path)
	if s.Draft.Edit == nil {
		return e.WithHint("it counts as it was judged: restore the file, or call %s with false and say what to change", s.Call.Action)
	}
	return e.WithHint("%s; only this own act of theirs takes the text as it is now. Or call %s with false and say what to change", Ways(s), s.Call.Action)
}

// describeChanges says how the current document differs from that of an earlier round.
func describeChanges(s *standing.Standing) string {
	c := s.Draft.Changes
	switch {
	case c == nil:
		return ""
	case c.Unknown:
		return "**" + s.Say("What changed since round %d is unknown: its text is not what was handed in, or is gone.", c.Round) + "**"
	case c.Added+c.Removed == 0:
		return s.Say("Changed since round %d: nothing, word for word.", c.Round)
	case len(c.Sections) == 0:
		return s.Say("Changed since round %d: %s added, %d removed.", c.Round, s.Count(c.Added, "line"), c.Removed)
	}
	var names []string
	for _, title := range c.Sections[:min(len(c.Sections), 3)] {
		names = append(names, "“"+headline(title)+"”")
	}
	return s.Say("Changed since round %d: %s added, %d removed, in %s.", c.Round, s.Count(c.Added, "line"), c.Removed, joinFirst(s.Language, names, len(c.Sections)))
}

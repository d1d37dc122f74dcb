package grimoire

import (
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// maxTrace is the number of lines of a trace that are read, from its end.
const maxTrace = 200

var (
	// bracket matches a part of an event: its time, agent or type. event matches the type.
	bracket = pattern.New(`^\[([^\]\[]{1,120})\][ \t]*`)
	event   = pattern.New(`^([A-Z][A-Z-]+)(?:[:→].*)?$`)
)

// events has the types of entries for the events of a trace. Other events are steps of work, which
// say nothing to later runs.
var events = map[string]string{"DECISION": lesson.Decisions, "REMEMBER": lesson.AgentLearnings, "HANDOFF": lesson.Stories, "WARN": lesson.Stories, "ERROR": lesson.Stories}

// trace reads the events of past runs: "[time] [agent] [TYPE] text", with agent and type in
// either order, or without time and agent below a heading that has both.
func (r *reader) trace(text string) {
	lines := r.scan(text)
	var day time.Time
	var by string
	for n, l := range lines {
		if level, title, _ := markdown.HashHeading(l.text); level > 0 {
			day, by = readDate(title), ""
			for _, cell := range strings.Split(title, "|")[1:] {
				if by == "" && strings.TrimSpace(cell) != "git-commit" {
					by = cell
				}
			}
			continue
		}
		e, kind, rest := Entry{Date: day, Agent: by, Line: n + 1}, "", strings.TrimLeft(l.text, "-* \t")
		for m := bracket.FindStringSubmatch(rest); m != nil; m = bracket.FindStringSubmatch(rest) {
			rest = rest[len(m[0]):]
			if at := readDate(m[1]); !at.IsZero() {
				e.Date = at
			} else if is := event.FindStringSubmatch(m[1]); is != nil && kind == "" {
				kind = is[1]
			} else {
				e.Agent = m[1]
			}
		}
		if e.Type, e.Text = events[kind], rest; e.Type == "" || l.code || n < len(lines)-maxTrace {
			continue
		}
		if e.Tags = []string{"trace", strings.ToLower(kind)}; kind == "REMEMBER" {
			e.splitNote()
		}
		r.add(e)
	}
}

// splitNote takes apart the text of a note that was kept, for example
// type: decisions | agent: dev | "text".
func (e *Entry) splitNote() {
	var text []string
	for _, part := range strings.Split(e.Text, "|") {
		switch key, value := split(part); {
		case key == "type" && slices.Contains(lesson.Types(), value):
			e.Type = value
		case key == "agent":
			e.Agent = value
		default:
			text = append(text, strings.TrimSpace(part))
		}
	}
	e.Text = strings.Trim(strings.Join(text, " | "), `"`)
}

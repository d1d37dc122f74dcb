package grimoire

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// readFacts reads the items, rows and dated paragraphs of a file, each with the date before it, in the row, or
// in the heading above it. It calls see with every heading, and keep with every entry, which keep may change.
// An entry is dropped if keep returns false.
func (r *reader) readFacts(blocks []block, kind string, see func(block), keep func(*Entry, block) bool) {
	var under time.Time
	level := 0 // of the heading with the date under
	for _, b := range blocks {
		if b.level > 0 {
			if day := readDate(b.text); !day.IsZero() || b.level <= level {
				under, level = day, b.level
			}
			see(b)
			continue
		}
		e := Entry{Type: kind, Agent: b.cellUnder("agent", "auteur", "author"), Date: readDate(b.cellUnder("date")), Line: b.line, Text: b.text}
		if len(b.cells) > 1 && e.Date.IsZero() && !readDate(b.cells[0]).IsZero() {
			e.Date, e.Text = readDate(b.cells[0]), joinCells(b.cells[1:])
		} else if e.Date.IsZero() {
			e.Date, e.Text = cutDate(e.Text)
		} else {
			e.Text = strings.TrimPrefix(strings.TrimPrefix(e.Text, b.cellUnder("date")), " · ")
		}
		if e.Date.IsZero() {
			e.Date = under
		}
		if !isRemark(b.text) && keep(&e, b) {
			r.add(e)
		}
	}
}

// isEntry reports whether a block is an entry by itself: text without a date may be an introduction.
func isEntry(e *Entry, b block) bool { return b.item || b.cells != nil || !e.Date.IsZero() }

func ignoreHeading(block) {}

// readLearnings reads the learnings of one agent.
func (r *reader) readLearnings(text string) {
	r.addAgent(Agent{ID: trimEnding(r.path)})
	r.readFacts(blocksOf(r.scanLines(text)), lesson.AgentLearnings, ignoreHeading, func(e *Entry, b block) bool {
		e.Agent = trimEnding(r.path)
		return isEntry(e, b)
	})
}

// tagged matches the tags at the end of an exported text.
var tagged = pattern.New("(?:[ \t]+`[^`\\s]+`)+$")

// readExport reads the output of a kit's export-md: a type in the title, agents as headings.
func (r *reader) readExport(text string) {
	kind, agent := lesson.AgentLearnings, ""
	r.readFacts(blocksOf(r.scanLines(text)), "", func(b block) {
		if word, _, _ := strings.Cut(b.text, " "); b.level > 1 {
			agent = b.text
		} else if slices.Contains(lesson.Types(), word) {
			kind = word
		} else if word == "Learnings" {
			agent = strings.TrimLeft(b.text[len(word):], " —–-:")
		}
	}, func(e *Entry, b block) bool {
		e.Type, e.Agent = kind, agent
		if at := tagged.FindStringIndex(e.Text); at != nil {
			e.Tags = strings.Fields(strings.ReplaceAll(e.Text[at[0]:], "`", " "))
			e.Text = e.Text[:at[0]]
		}
		return b.item
	})
}

// tableReader returns a reader of the rows with a date.
func tableReader(kind, tag string) func(*reader, string) {
	return func(r *reader, text string) {
		r.readFacts(blocksOf(r.scanLines(text)), kind, ignoreHeading, func(e *Entry, b block) bool {
			e.Tags = []string{tag}
			return len(b.cells) > 1 && !e.Date.IsZero()
		})
	}
}

// record matches the heading of a numbered decision.
var record = pattern.New(`(?i)^\[?ADR[- ]?\d+`)

// splitHeading takes the date off a heading.
func splitHeading(text string) (date time.Time, title string) {
	if date = readDate(text); date.IsZero() {
		return date, text
	}
	return date, text[len(dated.FindString(text)):]
}

// readDecisions reads a log of decisions: sections by date, lists with dates, numbered records under headings
// of their own, and headings with a date that are decisions themselves.
func (r *reader) readDecisions(text string) {
	var open, bare *Entry // the record of the next blocks; the heading without a record yet
	title, level := "", 0
	r.readFacts(blocksOf(r.scanLines(text)), lesson.Decisions, func(b block) {
		if open != nil && b.level > level {
			appendBounded(&open.Text, "\n"+b.text+":")
			return
		}
		if bare != nil && b.level > level {
			bare = nil
		}
		r.addIfOpen(cmp.Or(open, bare))
		open, bare = nil, nil
		date, name := splitHeading(b.text)
		switch title = ""; {
		case record.MatchString(name):
			open, level = &Entry{Type: lesson.Decisions, Date: date, Text: name, Line: b.line, Tags: []string{"adr"}}, b.level
		case !date.IsZero() && name != "":
			bare, title, level = &Entry{Type: lesson.Decisions, Date: date, Text: name, Line: b.line}, name, b.level
		case b.level > 2:
			title = name
		}
	}, func(e *Entry, b block) bool {
		if open == nil {
			bare, e.Text = nil, textUnder(title, e.Text)
			return isEntry(e, b)
		}
		for _, l := range strings.Split(b.text, "\n") {
			if key, value := splitField(l); key == "date" {
				open.Date = readDate(value)
			}
			appendBounded(&open.Text, "\n"+l)
		}
		return false
	})
	r.addIfOpen(cmp.Or(open, bare))
}

// textUnder returns a text behind the heading above it, if there is one.
func textUnder(title, text string) string {
	if title == "" {
		return text
	}
	return title + ": " + text
}

// addIfOpen adds the entry read under a heading, if there is one.
func (r *reader) addIfOpen(open *Entry) {
	if open != nil {
		r.add(*open)
	}
}

// inbox matches a request of one agent to another, for example [dev→qa] text.
var inbox = pattern.New(`^\[[^\]\[→]{1,64}→([^\]\[→]{1,64})\]`)

// decided matches the heading of a section of decisions.
var decided = pattern.New(`(?i)\bd[ée]cisions?\b|决策|决定|決策|決定`)

// sharedContext reads the context shared by all agents, by the sections.
func (r *reader) sharedContext(text string) {
	lines := r.scanLines(text)
	var section, part string
	r.readFacts(blocksOf(lines), lesson.SharedContext, func(b block) {
		if part = b.text; b.level <= 2 {
			section, part = b.text, ""
		}
		if b.level == 2 && strings.Contains(strings.ToLower(section), "architecture") {
			r.readArchitecture(lines, b.line)
		}
	}, func(e *Entry, b block) bool {
		e.Agent = ""
		if m := inbox.FindStringSubmatch(b.text); m != nil {
			e.Agent, e.Tags = m[1], []string{"request"}
			return true
		}
		if decided.MatchString(section+" "+part) && isEntry(e, b) {
			e.Type = lesson.Decisions
		}
		_, title := splitHeading(part)
		if e.Text = textUnder(title, e.Text); !decided.MatchString(section) {
			e.Text = textUnder(section, e.Text)
		}
		return !r.readDescription(strings.ToLower(section), b)
	})
}

// readArchitecture keeps a section as it is written, with the drawings.
func (r *reader) readArchitecture(lines []line, from int) {
	var out []string
	for _, l := range lines[from:] {
		if level, _, _ := markdown.HashHeading(l.text); level > 0 && level <= 2 && !l.code {
			break
		}
		if !placeholder.MatchString(l.text) {
			out = append(out, l.text)
		}
	}
	all := visible.Head(strings.TrimSpace(strings.Join(out, "\n")), maxText)
	r.Architecture = Entry{Type: lesson.SharedContext, Text: all, Path: r.path, Line: from}
}

// readDescription reads a block about the project or an agent. It returns true for an agent, which is not a
// fact besides.
func (r *reader) readDescription(section string, b block) bool {
	if id := b.cellUnder("agent"); id != "" && b.cellUnder("icon", "icôn", "domain") != "" {
		id, _, _ = strings.Cut(id, " ")
		r.addAgent(Agent{ID: id, Name: b.cellUnder("nom", "name"), Icon: b.cellUnder("icon", "icôn"), Domain: b.cellUnder("domain")})
		return true
	}
	p := &r.Project
	if b.cells != nil && strings.Contains(section, "stack") {
		p.Stack = append(p.Stack, splitWords(dropTemplate(b.cellUnder("techno"))+" "+dropTemplate(b.cellUnder("version")))...)
	}
	if section != "projet" && section != "project" {
		return false
	}
	switch key, value := splitField(b.text); key {
	case "nom", "name":
		p.Name = value
	case "type":
		p.Type = value
	case "description":
		p.Description = value
	case "stack":
		p.Stack = splitWords(value)
	}
	return false
}

// titled matches the heading of a failure behind the date: id, agent, category, title.
var titled = pattern.New(`^(?:\[?(FM-\d+)\]?)?[ \t—–:-]*(?:\[([^\]\[]{1,64})\][ \t]*)?(?:\[?(HALLUCINATION|[A-Z]+(?:-[A-Z]+)+)\]?(?:[ \t—–:-]+|$))?[ \t—–:-]*(.*)$`)

// readFailures reads failures in Markdown: each under a heading with a date, category or id, in a section for
// the severity.
func (r *reader) readFailures(text string) {
	var open *Entry
	severity := ""
	for _, b := range blocksOf(r.scanLines(text)) {
		switch {
		case b.level == 0 && open != nil:
			open.readFields(b)
		case b.level > 0:
			r.addIfOpen(open)
			if open = failureIn(b); open != nil {
				open.Failure.Severity = severity
			} else {
				severity = SeverityIn(b.text)
			}
		}
	}
	r.addIfOpen(open)
}

// failureIn reads the heading of a failure. It returns nil for other headings.
func failureIn(b block) *Entry {
	date, rest := cutDate(b.text)
	m := titled.FindStringSubmatch(rest)
	if m == nil || m[4] == "" {
		return nil
	}
	if slices.Contains(lesson.Categories(), m[2]) {
		m[2], m[3] = "", m[2]
	}
	if date.IsZero() && m[1] == "" && !slices.Contains(lesson.Categories(), m[3]) {
		return nil
	}
	return &Entry{Type: lesson.Failures, Agent: m[2], Date: date, Text: m[4], Line: b.line, Failure: &Failure{ID: m[1], Category: m[3], Title: m[4]}}
}

// readFields reads the fields in a block below the heading of a failure. Most are also part of the text.
func (e *Entry) readFields(b block) {
	f := e.Failure
	last := new(string) // the field continued by the next line
	for _, l := range strings.Split(b.text, "\n") {
		key, value := splitField(l)
		begins := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(key, n) })
		}
		switch {
		case begins("agent"):
			e.Agent, _, _ = strings.Cut(value, ",")
			continue
		case begins("date"):
			e.Date = readDate(value)
			continue
		case begins("statu"):
			f.Status = strings.ToLower(value)
			continue
		case begins("tag"):
			e.Tags = splitWords(value)
			continue
		case begins("caté", "cate"):
			f.Category = strings.ToUpper(value)
			continue
		case begins("sévér", "sever", "gravit"):
			f.Severity = SeverityIn(value)
			continue
		case begins("règle", "regle", "rule"):
			f.Rule, last = value, &f.Rule
		case begins("leçon", "lecon", "lesson"), begins("corre", "fix") && f.Lesson == "":
			f.Lesson, last = value, &f.Lesson
		case key != "":
			last = new(string)
		case *last != "":
			appendBounded(last, " "+value)
		}
		if value != "" && !isRemark(value) {
			appendBounded(&e.Text, "\n"+value)
		}
	}
}

// maxTrace is the number of lines to read of a trace, from the end.
const maxTrace = 200

var (
	// bracket matches a part of an event: time, agent or type. event matches the type.
	bracket = pattern.New(`^\[([^\]\[]{1,120})\][ \t]*`)
	event   = pattern.New(`^([A-Z][A-Z-]+)(?:[:→].*)?$`)
)

// events has the types of entries for the events of a trace. Other events are steps of work, which
// say nothing to later runs.
var events = map[string]string{"DECISION": lesson.Decisions, "REMEMBER": lesson.AgentLearnings, "HANDOFF": lesson.Stories, "WARN": lesson.Stories, "ERROR": lesson.Stories}

// readTrace reads the events of past runs: "[time] [agent] [TYPE] text", with agent and type in either order,
// or without time and agent below a heading that has both.
func (r *reader) readTrace(text string) {
	lines := r.scanLines(text)
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

// splitNote takes apart the text of a note in its written form, for example type: decisions | agent: dev |
// "text".
func (e *Entry) splitNote() {
	var text []string
	for _, part := range strings.Split(e.Text, "|") {
		switch key, value := splitField(part); {
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

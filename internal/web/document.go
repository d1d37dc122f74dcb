package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// documentPage is a document of a run, for review.
type documentPage struct {
	Project folder
	Session *workflow.Session
	Stage   workflow.Stage
	Found   workflow.Verification
	Place   string

	// Rounds are the readable submissions. Round is shown, and compared with the round Versus.
	Rounds []engine.Round
	Round  engine.Round
	Versus int
	// Old reports whether a later round was handed in.
	Old bool
	// Edited has a sentence for each text edited since it was handed in.
	Edited []string

	// Objective is the goal of the run.
	Objective string
	readable
	// Hidden are the parts invisible to a reader: first Hides hidden texts, then the addresses of links.
	Hidden       []hidden
	Hides        int
	DocumentLang string
	// Draws reports whether the page draws diagrams of the document.
	Draws bool

	views
	review
}

// views are the ways to look at a document. View is chosen; NextView is the address of the one after it.
type views struct {
	View     string
	Views    []view
	NextView string
	// Since is the difference from the text that was approved before.
	Since *since
	// Code is the changed code, in the view of it.
	Code *codePage
}

// readable is the text in the view of the page.
type readable struct {
	// Words and Minutes are the length of the text.
	Words, Minutes int
	// Sections are the rendered text, Lines the source, Hunks the differences; each with the notes of its blocks.
	// OwnOverall are the person's comments on the whole document, Overall the other notes on it.
	Sections            []section
	Lines               []part
	Hunks               []hunk
	OwnOverall, Overall []note
	// Whole is the address of the page with all unchanged lines.
	Whole string
	Stat  string
	// Large says why a text is too large for the page; "" if it is not.
	Large string
}

// hasTitle reports whether the document begins with a title of its own.
func (p *documentPage) hasTitle() bool {
	return len(p.Sections) > 0 && p.Sections[0].Level == 1 && p.Sections[0].Parts[0].Kind == "heading"
}

// columns returns the number of columns of the differences.
func (p *documentPage) columns() string {
	if p.View == "split" {
		return "4"
	}
	return "3"
}

// view is a way to look at a document.
type view struct{ Name, Text, Href string }

// viewNames are the views, in the order of the key for the next one.
var viewNames = []string{"changes", "rendered", "source", "diff", "split"}

func (d *Dashboard) showDocument(a *asked) (templ.Component, error) {
	out, it, err := d.openDocument(a)
	if err != nil {
		return nil, err
	}
	p, s, st := out.Project, out.Session, out.Stage
	a.page.Title = a.lang.Say("%s: %s", s.TaskName, st.DocumentIn(a.lang)) // the tab of the browser
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	out.Found, out.Objective = it.found.In(a.lang), visible.Head(cmp.Or(visible.Trim(s.Objective), s.TaskName), maxObjective)
	out.Place = story.Place(a.lang, labelOf(s.Definition().Stages, s.CurrentStage), s.CurrentState)
	if out.Since, err = d.readApproval(a, it.req, st, out.Round); err != nil {
		return nil, err
	}
	out.layViews(a)
	out.describeEdits(a, it.versus)
	if it.question.Edited && !out.Old {
		out.Edited = append(out.Edited, a.lang.Say("You read the draft as it was edited since round %d was scored: a yes takes it with that.", out.Round.Iteration-1))
	}
	out.DocumentLang = string(lang.Choose(lang.Auto, visible.Head(out.Round.Text, maxTold), a.lang))
	out.renderView(a, it.versus.Text, it.before.Text)
	if out.View == viewCode {
		if err := out.layCode(a, d.o.Engine, it.req); err != nil {
			return nil, err
		}
	}
	if !d.door.readOnly {
		out.Drafts, out.Draft = p.Document(s.TaskName, st.ID)+"/drafts", d.keeper.drafts.read(draftName(p, s.SessionID, st.ID))
	}
	if it.waits && !out.Old && !out.Round.Edited {
		if it.unasked != nil {
			return nil, it.unasked
		}
		if err := d.addReview(a, out, it.question); err != nil {
			return nil, err
		}
	}
	return documentScreen(a.lang, out), nil
}

// opened are the facts about a document that its page is made from.
type opened struct {
	inspected
	// waits reports whether the document waits for its person. question is then asked, or unasked says why not.
	waits    bool
	question gate.Question
	unasked  error
	// versus is compared with the round on the page, before is the round before it.
	versus, before engine.Round
}

// openDocument reads the document in the address of a request.
func (d *Dashboard) openDocument(a *asked) (*documentPage, *opened, error) {
	found, err := d.projects.inspect(a)
	if err != nil {
		return nil, nil, err
	}
	it := &opened{inspected: found}
	s := it.session
	st, ok := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !ok {
		return nil, nil, noStage(workflow.StageID(a.r.PathValue("stage")))
	}
	if it.waits = st.ID == s.CurrentStage && s.CurrentState.WaitsForHuman(); it.waits {
		it.req.Language = a.lang
		it.question, it.unasked = d.o.Engine.Gate(a, it.req)
	}
	out := &documentPage{Project: it.project, Session: s, Stage: st}
	return out, it, d.readRounds(a, out, it)
}

// sendSource answers with the text of a document, if it is the one with the hash in the address: a replacement begins
// with the source of its lines.
func (d *Dashboard) sendSource(a *asked) (any, error) {
	out, _, err := d.openDocument(a)
	if err != nil {
		return nil, err
	}
	if a.r.URL.Query().Get("sha256") != workflow.Hash([]byte(out.Round.Text)) {
		return nil, fault.New(fault.Conflict, "the document is another one than the page shows").WithHint("your words are kept: load the page again")
	}
	return out.Round.Text, nil
}

// readRounds reads the rounds named by a request. A draft edited at the gate is the latest round, with the text of the
// question.
func (d *Dashboard) readRounds(a *asked, out *documentPage, it *opened) error {
	q := it.question
	handed := engine.Rounds(out.Session, out.Stage.ID)
	last := len(handed) - 1
	if q.Edited {
		handed = append(handed, engine.Round{Iteration: handed[last].Iteration + 1, At: out.Session.UpdatedAt, Path: q.Draft, Text: q.Document})
	}
	out.Rounds = slices.Clone(handed)
	if out.Session.Record(out.Stage.ID).Artifact != nil {
		out.Rounds = append(out.Rounds, engine.Round{Iteration: engine.SavedRound})
	}
	if len(out.Rounds) == 0 {
		return fault.New(fault.NotFound, "the stage %s has no document yet", out.Stage.Label).WithHint("the page of the run shows where it is")
	}
	now := engine.SavedRound
	if len(handed) > 0 {
		now = handed[len(handed)-1].Iteration
	}
	shown, err := roundOf(a, "round", out.Rounds, now)
	if err != nil {
		return err
	}
	before := shown
	if i := slices.IndexFunc(out.Rounds, func(r engine.Round) bool { return r.Iteration == shown }); i > 0 {
		before = out.Rounds[i-1].Iteration
	}
	if out.Versus, err = roundOf(a, "vs", out.Rounds, before); err != nil {
		return err
	}
	asked := []int{shown, out.Versus, before}
	for i := range asked {
		if q.Edited && asked[i] == now {
			asked[i] = handed[last].Iteration
		}
	}
	texts, err := d.o.Engine.Submissions(a, it.req.Address, out.Stage.ID, asked...)
	if err != nil {
		return err
	}
	for i, n := range []int{shown, out.Versus, before} {
		if q.Edited && n == now {
			texts[i] = handed[last+1]
		}
	}
	out.Round, out.Old = texts[0], shown != now
	it.versus, it.before = texts[1], texts[2]
	return nil
}

// describeEdits adds a sentence for each text of the page edited since it was scored or saved.
func (out *documentPage) describeEdits(a *asked, versus engine.Round) {
	switch r := out.Round; {
	case !r.Edited:
	case r.Iteration == engine.SavedRound:
		out.Edited = append(out.Edited, a.lang.Say("The saved document was edited after it was decided on: you read its text as it is now."))
	case out.Old:
		out.Edited = append(out.Edited, a.lang.Say("Round %d was edited after it was handed in, so its text is left out.", r.Iteration))
	default:
		out.Edited = append(out.Edited, a.lang.Say("The text that was scored is gone: %s was edited since. Nothing can be decided on it here; restore the file, or ask for another round.", r.Path))
	}
	if versus.Edited && versus.Iteration != out.Round.Iteration && (out.View == "diff" || out.View == "split") {
		out.Edited = append(out.Edited, a.lang.Say("The text that it is compared with was edited after it was handed in, so it is left out."))
	}
}

// maxObjective bounds the objective in the heading of a page, in bytes.
const maxObjective = 300

// maxTold is how much of a document is read to detect its language, in bytes.
const maxTold = 3000

// roundOf returns the round in a field of the address, or otherwise without one.
func roundOf(a *asked, field string, rounds []engine.Round, otherwise int) (int, error) {
	given := a.r.URL.Query().Get(field)
	if given == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || !slices.ContainsFunc(rounds, func(r engine.Round) bool { return r.Iteration == n }) {
		return 0, fault.New(fault.NotFound, "the document has no round %q", given).WithHint("open it without a round for the latest one")
	}
	return n, nil
}

// layViews lists the views, each with an address.
func (out *documentPage) layViews(a *asked) {
	labels := []string{a.lang.Say("Changes"), a.lang.Say("Rendered"), a.lang.Say("Source"), a.lang.Say("Differences"), a.lang.Say("Side by side")}
	query := a.r.URL.Query()
	query.Del("lang")
	asked := query.Get("view")
	names := viewNames
	if len(out.Rounds) < 2 {
		names = names[:3] // nothing to compare it with
	}
	if hasCode(out.Stage) {
		names = append(slices.Clip(names), viewCode)
		labels = append(labels[:len(names)-1], a.lang.Say("Code"))
	}
	query.Del("file")
	if !out.Since.isShown() {
		names, labels = names[1:], labels[1:]
	}
	out.View = names[0]
	for i, name := range names {
		if name == asked {
			out.View = name
		}
		query.Set("view", name)
		out.Views = append(out.Views, view{name, labels[i], "?" + query.Encode()})
	}
	next := (slices.Index(names, out.View) + 1) % len(names)
	out.NextView = out.Views[next].Href
}

// foldAround is how many lines stand around a difference; maxFolded bounds the folded lines that are in the page.
const (
	foldAround = 3
	maxFolded  = 200
)

// Bounds of a page: the bytes of a document, and the differing lines of two versions.
const (
	maxShown     = 2 << 20
	maxDiffering = 20_000
)

// renderView renders the document in the view of the page, with its notes. versus is the text
// to compare with, before the text of the previous round.
func (out *documentPage) renderView(a *asked, versus, before string) {
	text := out.Round.Text
	if size := max(len(text), len(versus), len(before)); size > maxShown {
		out.Large = a.lang.Say("%d bytes are too many for a page, which shows %d at most. Read the file:", size, maxShown)
		return
	}
	out.Words, out.Minutes = measureReading(text)
	out.Since.compare(a, text)
	if out.View == viewCode {
		return
	}
	page := render.Document(text)
	out.Draws = drawsDiagrams && len(page.Diagrams) > 0
	var rows []textdiff.Row // the first round changes nothing
	if out.Round.Iteration > 1 && before != "" {
		rows = textdiff.Rows(before, text)
	}
	notes := out.gatherNotes(a, page, rows, text)
	switch {
	case out.View == "diff", out.View == "split":
		out.layHunks(a, versus, text, notes)
	case out.View == "source", page.Plain:
		out.Lines = addNotes(render.Source(text).Lines, notes)
	case out.View == "changes":
		out.Sections = sectionsOf(out.Since.page, strings.Split(text, "\n"), notes, nil)
	default:
		out.Sections = sectionsOf(page, strings.Split(text, "\n"), notes, rows)
	}
	out.listHidden(page)
}

// gatherNotes returns the notes by line; the ones on the whole document are set apart.
func (out *documentPage) gatherNotes(a *asked, page render.Page, rows []textdiff.Row, text string) map[int][]note {
	var notes []note
	if !out.Old {
		notes = notesOn(a, out.Session.Record(out.Stage.ID))
		lines := strings.Split(text, "\n")
		for i, n := range notes {
			if n.Line == 0 && n.File == "" {
				notes[i].Line = findLine(n.Text, page.Outline, lines)
			}
		}
	}
	by := map[int][]note{}
	for _, n := range append(notes, commentNotes(a, out.Session, out.Stage.ID, out.Round.Iteration, rows)...) {
		switch {
		case n.Line > 0:
			by[n.Line] = append(by[n.Line], n)
		case n.Kind == "comment":
			out.OwnOverall = append(out.OwnOverall, n)
		default:
			out.Overall = append(out.Overall, n)
		}
	}
	return by
}

// layHunks compares the text with another version, with the notes of each line.
func (out *documentPage) layHunks(a *asked, versus, text string, notes map[int][]note) {
	rows := textdiff.Rows(versus, text)
	around, query := foldAround, a.r.URL.Query()
	if query.Has("whole") {
		around = len(rows)
	}
	query.Set("whole", "1")
	out.Whole = "?" + query.Encode()
	added, removed := textdiff.Stat(versus, text)
	out.Stat = a.lang.Say("%s added, %d removed", a.lang.Count(added, "line"), removed)
	hunks := textdiff.Fold(rows, around)
	differing := 0
	for _, h := range hunks {
		if !h.Folded {
			differing += len(h.Rows)
		}
	}
	if differing > maxDiffering {
		out.Large = a.lang.Say("The versions differ in %s: a page shows %d at most. Read the file:", a.lang.Count(differing, "line"), maxDiffering)
		return
	}
	for _, h := range hunks {
		out.Hunks = append(out.Hunks, hunk{h, notes})
	}
}

// listHidden lists the hidden parts of the document, each with the element of the line in the view.
func (out *documentPage) listHidden(page render.Page) {
	anchors := out.anchorFinder(page.Blocks)
	var links []hidden
	for _, h := range page.Hidden {
		if h.Kind == "link" {
			links = append(links, hidden{h, anchors(h.Line)})
		} else {
			out.Hidden = append(out.Hidden, hidden{h, anchors(h.Line)})
		}
	}
	out.Hides, out.Hidden = len(out.Hidden), append(out.Hidden, links...)
}

// hidden is a hidden part of a document; Anchor is the element of the line in the view.
type hidden struct {
	render.Hidden
	Anchor string
}

// anchorFinder returns a function from a line to the line's element in the view; "" if the view does not show
// the line.
func (out *documentPage) anchorFinder(blocks []render.Block) func(line int) string {
	shown := map[int]bool{}
	for _, h := range out.Hunks {
		for _, r := range h.Rows {
			shown[r.After] = !h.Folded
		}
	}
	return func(line int) string {
		if line < 1 {
			return ""
		}
		switch {
		case out.Lines != nil:
			return "s" + itoa(line)
		case out.Sections != nil:
			id := ""
			for _, b := range blocks {
				if b.From <= line {
					id = b.ID
				}
			}
			return id
		}
		if !shown[line] {
			return ""
		}
		return "l" + itoa(line)
	}
}

// layCode reads the changed code for the page.
func (out *documentPage) layCode(a *asked, e *engine.Engine, req request.Request) error {
	out.Code = &codePage{Unchanged: a.r.URL.Query().Get("file")}
	code, err := e.Code(a, req.Address)
	if fault.Is(err, fault.NotAllowed) { // a repository that cannot be read safely
		out.Code.Missing = fault.From(err).Translated(a.lang).Error()
		return nil
	}
	if err != nil {
		return err
	}
	out.Code.fill(a, code, remarksOn(a, out.Session, out.Stage))
	return nil
}

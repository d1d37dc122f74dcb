package web

import (
	"slices"
	"strconv"

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

	// Rounds are the submissions that can be read, Round the one that is shown, and Versus the
	// round that it is compared with.
	Rounds []engine.Round
	Round  engine.Round
	Versus int
	// Old is true if a later round was handed in.
	Old bool
	// Edited says which texts are not as they were handed in.
	Edited   []string
	View     string
	Views    []view
	NextView string

	Rendered, Source render.HTML
	Hunks            []textdiff.Hunk
	// Whole is the address at which the lines without a change stand, too.
	Whole string
	Stat  string
	// Large says that a text is too large to be shown.
	Large string
	// Hidden are the parts that a reader does not see: first those that hide something, which Hides
	// counts, then the addresses of links.
	Hidden       []hidden
	Hides        int
	Notes        []note
	DocumentLang string
	// Draws is true if the document has diagrams that can be drawn.
	Draws bool

	review
}

// view is a way to look at a document.
type view struct{ Name, Text, Href string }

// viewNames are the views, in the order in which a key goes through them.
var viewNames = []string{"rendered", "source", "diff", "split"}

func (d *Dashboard) document(a *asked) (templ.Component, error) {
	it, err := d.projects.inspect(a)
	if err != nil {
		return nil, err
	}
	req, p, s, found := it.req, it.project, it.session, it.found
	st, ok := s.Definition().Stage(workflow.StageID(a.r.PathValue("stage")))
	if !ok {
		return nil, noStage(workflow.StageID(a.r.PathValue("stage")))
	}
	a.page.Title = a.lang.Say("%s: %s", s.TaskName, st.DocumentIn(a.lang))
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	out := &documentPage{Project: p, Session: s, Stage: st, Found: found.In(a.lang), Place: story.Place(a.lang, labelOf(s.Definition().Stages, s.CurrentStage), s.CurrentState)}
	var q gate.Question
	var unasked error
	waits := st.ID == s.CurrentStage && s.CurrentState.WaitsForHuman()
	if waits {
		req.Language = a.lang
		q, unasked = d.o.Engine.Gate(a, req)
	}
	if err := d.texts(a, out, req, q); err != nil {
		return nil, err
	}
	if !d.door.readOnly {
		out.Drafts, out.Draft = p.Document(s.TaskName, st.ID)+"/drafts", d.drafts.read(draftName(p, s.SessionID, st.ID))
	}
	if waits && !out.Old && !out.Round.Edited {
		if unasked != nil {
			return nil, unasked
		}
		if err := d.review(a, out, q); err != nil {
			return nil, err
		}
	}
	return documentScreen(a.lang, out), nil
}

// texts reads the rounds that a request names, and lays out the view that it asks for. A draft that was edited
// at its gate is the latest round, with the text of the question.
func (d *Dashboard) texts(a *asked, out *documentPage, req request.Request, q gate.Question) error {
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
	texts, err := d.o.Engine.Submissions(a, req.Address, out.Stage.ID, asked...)
	if err != nil {
		return err
	}
	for i, n := range []int{shown, out.Versus, before} {
		if q.Edited && n == now {
			texts[i] = handed[last+1]
		}
	}
	out.Round, out.Old = texts[0], shown != now
	out.layViews(a)
	out.tellEdits(a, texts[1])
	if q.Edited && !out.Old {
		out.Edited = append(out.Edited, a.lang.Say("You read the draft as it was edited since round %d was scored: a yes takes it with that.", now-1))
	}
	begins := visible.Head(out.Round.Text, maxTold)
	out.DocumentLang = string(lang.Choose(lang.Auto, begins, a.lang))
	out.lay(a, texts[1].Text, texts[2].Text)
	return nil
}

// tellEdits says which texts of the page are not those that were scored or saved.
func (out *documentPage) tellEdits(a *asked, versus engine.Round) {
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

// maxTold is how much of a document tells its language, in bytes.
const maxTold = 3000

// roundOf returns the round that a field of the address names.
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

// layViews lists the views, each with its address.
func (out *documentPage) layViews(a *asked) {
	labels := []string{a.lang.Say("Rendered"), a.lang.Say("Source"), a.lang.Say("Differences"), a.lang.Say("Side by side")}
	query := a.r.URL.Query()
	query.Del("lang")
	asked := query.Get("view")
	out.View = viewNames[0]
	names := viewNames
	if len(out.Rounds) < 2 {
		names = names[:2] // nothing to compare it with
	}
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

// foldAround is how many lines stand around a difference.
const foldAround = 3

// Bounds of a page: the bytes of a document, and the lines in which two versions differ.
const (
	maxShown     = 2 << 20
	maxDiffering = 20_000
)

// lay renders the document in its view, with the notes of its margin. before is the text of the
// round before it.
func (out *documentPage) lay(a *asked, versus, before string) {
	text := out.Round.Text
	if size := max(len(text), len(versus), len(before)); size > maxShown {
		out.Large = a.lang.Say("%d bytes are too many for a page, which shows %d at most. Read the file:", size, maxShown)
		return
	}
	page := render.Document(text)
	out.Draws = drawsDiagrams && len(page.Diagrams) > 0
	switch out.View {
	case "source":
		out.Source = render.Source(text)
	case "diff", "split":
		rows := textdiff.Rows(versus, text)
		around, query := foldAround, a.r.URL.Query()
		if query.Has("whole") {
			around = len(rows)
		}
		query.Set("whole", "1")
		out.Whole = "?" + query.Encode()
		added, removed := textdiff.Stat(versus, text)
		out.Hunks = textdiff.Fold(rows, around)
		differing := 0
		for _, h := range out.Hunks {
			if !h.Folded {
				differing += len(h.Rows)
			}
		}
		if differing > maxDiffering {
			out.Hunks, out.Large = nil, a.lang.Say("The versions differ in %s: a page shows %d at most. Read the file:", a.lang.Count(differing, "line"), maxDiffering)
		}
		out.Stat = a.lang.Say("%s added, %d removed", a.lang.Count(added, "line"), removed)
	default:
		out.Rendered = page.HTML
	}
	if !out.Old {
		out.Notes = notesOn(a, out.Session.Record(out.Stage.ID))
	}
	anchors := out.anchors(page.Blocks)
	out.Notes = byLine(append(out.Notes, remarks(a, out.Session, out.Stage.ID, out.Round.Iteration, before, text)...))
	for i, n := range out.Notes {
		out.Notes[i].Anchor = anchors(n.Line)
	}
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

// hidden is a hidden part of a document, with the element of its line in the view.
type hidden struct {
	render.Hidden
	Anchor string
}

// anchors finds the element of a line in the view; "" if the view does not show it.
func (out *documentPage) anchors(blocks []render.Block) func(line int) string {
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
		switch out.View {
		case "source":
			return "s" + itoa(line)
		case "rendered":
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

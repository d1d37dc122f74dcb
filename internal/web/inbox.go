package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// Limits of the lists. Each lead costs a look at the documents of a run.
const (
	maxLeads = 20
	maxEnded = 20
)

// card is a run in a list.
type card struct {
	engine.Row
	Project folder
	Href    string
	// Title is the objective, Slug the name of the task if the title does not tell the run from others.
	Title, Slug string
	// Label is the label of the stage.
	Label string
	Wait  wait
	// Age is the time since the last change, Foreign the browser's tag of the title if that has another language
	// than the page.
	Age     time.Duration
	Foreign string
	// Head names the state or the pending decision, Reason is what speaks for and against it.
	Head, Reason string
	// Queued is the entry of a run in the hands of workers, nil for others.
	Queued *queue.Entry
}

// projectLink names a project.
type projectLink struct {
	folder
	// Waits is the number of runs waiting for the person, Active of runs in the hands of an assistant.
	Waits, Active int
	// Trouble says why the project cannot be read; "" if it can.
	Trouble string
	Broken  []string
}

// runLists are runs in groups.
type runLists struct {
	// Show is the kind of the waits that are shown, "" for all; Counts has how many of each kind there are.
	Show   wait
	Counts map[wait]int
	// Waiting and Ended are the runs that are shown, AllEnded counts the ended ones.
	Waiting, Running, Ended []card
	AllEnded                int
	// Projects are the projects of the runs; Unread is true if something of them cannot be read.
	Projects []projectLink
	Unread   bool
	// One is true for a page of one project, More if older runs were left out, Starts if a run can be started here.
	One, More, Starts bool
	// Team are the workers, nil without a queue.
	Team *teamLists
}

// showInbox shows the runs of all projects, first the ones waiting for the person.
func (d *Dashboard) showInbox(a *asked) (templ.Component, error) {
	a.page.Title, a.page.Follow = a.lang.Say("Inbox"), everything
	return d.listRuns(a, d.projects.all(), false)
}

// showBoard shows the runs of one project.
func (d *Dashboard) showBoard(a *asked) (templ.Component, error) {
	p, err := d.projects.folderOf(a)
	if err != nil {
		return nil, err
	}
	a.page.Title, a.page.Follow = p.Name, p.ID
	return d.listRuns(a, []folder{p}, true)
}

// listRuns shows the runs of some projects.
func (d *Dashboard) listRuns(a *asked, of []folder, one bool) (templ.Component, error) {
	out := runLists{Counts: map[wait]int{}, One: one, Starts: d.o.Runs != nil && !d.door.readOnly}
	if show := wait(a.r.URL.Query().Get("show")); slices.Contains(waits, show) {
		out.Show = show
	}
	boards, errs := make([]engine.Board, len(of)), make([]error, len(of))
	for i, p := range of {
		if boards[i], errs[i] = d.board(a, p); errs[i] != nil && (one || a.Err() != nil) {
			return nil, errs[i]
		}
	}
	if len(of) > 0 {
		d.projects.crewOf(a, "")
	}
	var print prints
	var cards []card
	for i, p := range of {
		here := d.cardsOf(a, p, boards[i].Rows)
		out.addProject(a, p, boards[i], here, errs[i])
		cards = append(cards, here...)
		print.addSessions(a.known[p.ID])
		print.addQueued(a.crew, a.known[p.ID])
	}
	a.page.Print = print.sum()
	if out.Team = listTeam(a.lang, a.crew, cards); one {
		out.Team = nil
	}
	out.arrange()
	for i := range min(len(out.Waiting), maxLeads) {
		d.readLead(a, &out.Waiting[i])
	}
	if len(out.Projects) > 0 {
		a.page.Beside = waitChips(a.lang, &out)
	}
	return runListsScreen(a.lang, &out), nil
}

// hand is a worker in a list.
type hand struct {
	queue.Worker
	// Does names its work; Href is the page of its run, "" if that is not here.
	Does, Href string
}

// maxHands bounds the workers of a list.
const maxHands = 50

// teamLists are the workers, and the runs of the queue that no list has.
type teamLists struct {
	Hands []hand
	// More counts the workers that are left out, Elsewhere the runs of projects that are not served here.
	More, Elsewhere int
	// Trouble says why the queue cannot be read, "" if it can.
	Trouble string
}

// listTeam returns the workers for a page with some cards, nil without a queue.
func listTeam(l lang.Language, c *crew, cards []card) *teamLists {
	if c == nil {
		return nil
	}
	out := &teamLists{}
	if c.trouble != nil {
		out.Trouble = lang.Of(c.trouble).In(l)
		return out
	}
	hrefs := map[string]string{}
	for i := range cards {
		hrefs[cards[i].SessionID] = cards[i].Href
	}
	for i := range c.Entries {
		if _, here := hrefs[c.Entries[i].SessionID]; !here {
			out.Elsewhere++
		}
	}
	for _, w := range c.Workers[:min(len(c.Workers), maxHands)] {
		row := hand{Worker: w, Href: hrefs[w.SessionID], Does: l.Say("idle")}
		e := c.entry(w.SessionID)
		switch {
		case e != nil && e.Asking > 0:
			row.Does = l.Say("for %s, at call %d", ago(l, e.InState), e.Asking)
		case e != nil:
			row.Does = l.Say("for %s", ago(l, e.InState))
		case w.IsGone():
			row.Does = l.Say("not seen for %s", ago(l, w.SeenAgo))
		}
		out.Hands = append(out.Hands, row)
	}
	out.More = len(c.Workers) - len(out.Hands)
	return out
}

// cardsOf describes the runs of a project.
func (d *Dashboard) cardsOf(a *asked, p folder, rows []engine.Row) []card {
	stages := d.o.Engine.Stages(addressOf(p))
	kept := d.projects.headlessOf(p, a.known[p.ID])
	out := make([]card, len(rows))
	for i, r := range rows {
		out[i] = newCard(a, p, stages, r, kept[r.SessionID], a.crew.entry(r.SessionID))
	}
	return out
}

// addProject adds a project with its runs; trouble is the error in reading it.
func (out *runLists) addProject(a *asked, p folder, board engine.Board, cards []card, trouble error) {
	row := projectLink{folder: p, Broken: board.Broken}
	if trouble != nil {
		row.Trouble = lang.Of(trouble).In(a.lang)
	}
	for _, c := range cards {
		switch {
		case c.Wait != "":
			row.Waits++
			out.Counts[c.Wait]++
			out.Waiting = append(out.Waiting, c)
		case c.CurrentState.Active():
			row.Active++
			out.Running = append(out.Running, c)
		default:
			out.Ended = append(out.Ended, c)
		}
	}
	out.Unread = out.Unread || trouble != nil || len(board.Broken) > 0
	out.More = out.More || board.More
	out.Projects = append(out.Projects, row)
}

// arrange sorts the runs, and leaves out the ones not shown.
func (out *runLists) arrange() {
	slices.SortStableFunc(out.Waiting, func(a, b card) int { return compareWaits(a.Wait, b.Wait, a.UpdatedAt, b.UpdatedAt) })
	for _, all := range [][]card{out.Running, out.Ended} {
		slices.SortStableFunc(all, func(a, b card) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.TaskName, b.TaskName))
		})
	}
	if out.Show != "" {
		out.Waiting = slices.DeleteFunc(out.Waiting, func(c card) bool { return c.Wait != out.Show })
	}
	if out.AllEnded = len(out.Ended); !out.One {
		out.Ended = out.Ended[:min(maxEnded, len(out.Ended))]
	}
	tellApart(out.Waiting, out.Running, out.Ended)
}

// tellApart adds the names of the tasks to runs with the same title.
func tellApart(lists ...[]card) {
	seen := map[string]int{}
	for _, all := range lists {
		for _, c := range all {
			seen[c.Title]++
		}
	}
	for _, all := range lists {
		for i, c := range all {
			if seen[c.Title] > 1 && c.Title != c.TaskName {
				all[i].Slug = c.TaskName
			}
		}
	}
}

// maxTitle bounds the title of a run, in columns.
const maxTitle = 160

// newCard describes a run; kept is the record of its headless run and e its entry in the queue, nil for none.
func newCard(a *asked, p folder, stages []workflow.Stage, r engine.Row, kept *headless.Kept, e *queue.Entry) card {
	c := card{Row: r, Project: p, Href: p.Run(r.TaskName), Label: labelOf(stages, r.CurrentStage), Wait: waitOf(&r.Summary, kept, e), Age: a.now.Sub(r.UpdatedAt)}
	if c.Wait != "" {
		c.Href = waiting{p, r.Summary, c.Wait}.Place()
	}
	if c.Title = visible.Shorten(visible.Line(r.Objective), maxTitle, "…"); strings.TrimSpace(c.Title) == "" {
		c.Title = r.TaskName
	}
	if l := lang.Choose(lang.Auto, c.Title, a.lang); l != a.lang {
		c.Foreign = languageTag(l)
	}
	_, isQueued := waitOfEntry(&r.Summary, e)
	inQueue := r.CurrentState.Active() && isQueued && (goesOn(e) || c.Wait == waitStopped)
	switch {
	case inQueue:
		c.Queued = e
		c.Head, c.Reason = headsOf(a.lang, e, c.Label, a.crew.Workers)
	case c.Wait == waitStopped && kept.Cost.Limit > 0 && kept.Cost.Spent >= kept.Cost.Limit:
		c.Head, c.Reason = a.lang.Say("Budget used up"), a.lang.Say("%s of %s, %s", kept.Cost.Spent.Short(), kept.Cost.Limit.Short(), c.Label)
	case c.Wait == waitStopped:
		c.Head, c.Reason = a.lang.Say("Stopped"), a.lang.Say("%s spent, %s", kept.Cost.Spent.Short(), c.Label)
	case !r.CurrentState.Active():
		c.Head = capitalize(story.State(a.lang, r.CurrentState))
	case kept != nil && kept.Working && kept.Cost.Limit > 0:
		c.Head, c.Reason = c.Label, a.lang.Say("without a host, %s of %s", kept.Cost.Spent.Short(), kept.Cost.Limit.Short())
	case kept != nil && kept.Working:
		c.Head, c.Reason = c.Label, a.lang.Say("without a host, %s", kept.Cost.Spent.Short())
	default:
		c.Head, c.Reason = c.Label, story.State(a.lang, r.CurrentState)
	}
	return c
}

// readLead adds the question of the gate to a card. If it cannot be read, the card has only the place, and
// the run's page says why.
func (d *Dashboard) readLead(a *asked, c *card) {
	q, err := d.o.Engine.Gate(a, request.Request{Address: project.Address{Cwd: c.Project.Path, Session: c.SessionID}, Caller: request.Caller{Language: a.lang}})
	if err == nil {
		c.Head, c.Reason = splitLead(q.Lead)
	}
}

// splitLead splits a lead behind its first clause.
func splitLead(lead string) (head, reason string) {
	for i, r := range lead {
		end := i + utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("？。：", r), strings.ContainsRune("?.:", r) && strings.HasPrefix(lead[end:], " "):
			if strings.ContainsRune("?？", r) {
				i = end
			}
			return lead[:i], strings.TrimSpace(lead[end:])
		}
	}
	return lead, ""
}

// look is how a list shows a run: the icon with its colour, and the colour of the present stage.
type look struct{ Icon, Colour, Stage string }

// looks are the looks of runs that wait.
var looks = map[wait]look{
	waitFailed:    {"failed", "bad", "bad"},
	waitQuestions: {"ask", "ask", "ask"},
	waitDecision:  {"gate", "mine", "now"},
	waitStopped:   {"stopped", "warn", "warn"},
}

// lookOf returns the look of a run.
func lookOf(c *card) look {
	switch {
	case c.Wait == waitStopped && c.Queued != nil && c.Queued.State == queue.Failed:
		return look{"stopped", "bad", "bad"}
	case c.Wait != "":
		return looks[c.Wait]
	case c.Queued != nil && c.Queued.Lost:
		return look{"stopped", "warn", "warn"}
	case c.Queued != nil && c.Queued.State == queue.Ready:
		return look{"ring", "muted", ""}
	case c.CurrentState == workflow.Completed:
		return look{"done", "good", "done"}
	case c.CurrentState.Active():
		return look{"now", "muted", "now"}
	}
	return look{"close", "muted", "warn"}
}

// stageMarks returns the colours of the stages of a run.
func stageMarks(c *card) []string {
	out := make([]string, c.Position.Of)
	for i := range out {
		switch {
		case i < c.Position.At-1:
			out[i] = "done"
		case i == c.Position.At-1:
			out[i] = lookOf(c).Stage
		}
	}
	return out
}

// kindWords name the kinds of waits.
var kindWords = map[wait]lang.Text{
	waitFailed: lang.T("Failed"), waitQuestions: lang.T("Questions"), waitDecision: lang.T("Decisions"), waitStopped: lang.T("Stopped"),
}

// labelOf returns the label of a stage, or the id if the workflow is not in the settings.
func labelOf(stages []workflow.Stage, id workflow.StageID) string {
	for _, st := range stages {
		if st.ID == id {
			return st.Label
		}
	}
	return string(id)
}

// redirectShort redirects from a short address to the run, or to the document waiting for the person.
func (d *Dashboard) redirectShort(w http.ResponseWriter, r *http.Request) {
	for _, p := range d.projects.all() {
		board, err := d.o.Engine.Board(r.Context(), addressOf(p), engine.MaxBoard, "")
		if err != nil {
			continue // the inbox says that the project cannot be read
		}
		for _, row := range board.Rows {
			if shortOf(p.Path, row.TaskName) != r.PathValue("short") {
				continue
			}
			to := p.Run(row.TaskName)
			if row.CurrentState.WaitsForHuman() {
				to = p.Document(row.TaskName, row.CurrentStage)
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	d.screens.handleScreen("inbox", showNotFound).ServeHTTP(w, r)
}

// board reads the runs of a project, and notes them for the request.
func (d *Dashboard) board(a *asked, p folder) (engine.Board, error) {
	board, err := d.o.Engine.Board(a, addressOf(p), engine.MaxBoard, a.lang)
	summaries := make([]workflow.Summary, len(board.Rows))
	for i, r := range board.Rows {
		summaries[i] = r.Summary
	}
	a.known[p.ID] = summaries
	a.unread = a.unread || err != nil
	return board, err
}

// redirectNext redirects to the page of the run that waits after the one named in after, as PROJECT/TASK; to the
// inbox if no other waits.
func (d *Dashboard) redirectNext(w http.ResponseWriter, r *http.Request) {
	project, task, _ := strings.Cut(r.URL.Query().Get("after"), "/")
	to := "/"
	if next := waitingAfter(d.projects.waiting(&asked{Context: r.Context(), r: r}), project, task); len(next) > 0 {
		to = next[0].Place()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// hostless is the work on a run without a host.
type hostless struct {
	*headless.Kept
	Live     liveFacts
	progress headless.Progress
	events   []headless.Event
	// Stop and Resume report whether the page can do so; Href and Nonce belong to the request.
	Stop, Resume bool
	Href, Nonce  string
	// Command goes on in a terminal, where the page cannot.
	Command string
}

// liveFacts are the facts of a run that change under the eyes of the reader, in words. The page shows them first, and
// then the script.
type liveFacts struct {
	Working bool `json:"working"`
	// Doing is the act under way, or why the run ended; Where says the stage, round and call.
	Doing string    `json:"doing"`
	Where string    `json:"where"`
	Log   []logLine `json:"log"`
	Spent string    `json:"spent"`
	// Of is the budget, "" without one; Percent is the spent part.
	Of      string `json:"of"`
	Percent int    `json:"percent"`
	Tokens  string `json:"tokens"`
	Model   string `json:"model"`
}

// logLine is an act of an engine.
type logLine struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// readHostless returns the work on a session without a host, nil if there was none.
func (t *starter) readHostless(a *asked, p folder, s *workflow.Session) (*hostless, error) {
	open, err := t.projects.engine.Projects().Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	out := &hostless{}
	if out.Kept, err = headless.Past(open.Dir, s.SessionID); err != nil || out.Kept == nil {
		return nil, err
	}
	if out.events, err = headless.PastEvents(open.Dir, s.SessionID); err != nil {
		return nil, err
	}
	out.progress = headless.ProgressOf(out.events)
	out.Live = describeLive(a.lang, s, out.Kept, out.progress)
	return out, nil
}

// offerSteering adds to the work on a run what the page can do, with a nonce for it.
func (t *starter) offerSteering(p folder, s *workflow.Session, w *hostless) {
	steers, goesOn := t.runs != nil && !t.door.readOnly, s.CurrentState.Active() && !s.CurrentState.WaitsForHuman() && !w.Live.Working
	w.Stop, w.Resume = steers && w.Live.Working, steers && goesOn
	if goesOn && !steers {
		w.Command = "bmad-mcp run --resume " + s.TaskName
	}
	if w.Stop || w.Resume {
		w.Href, w.Nonce = p.Run(s.TaskName)+"run", t.nonces.add(steersRun(s), t.door.now())
	}
}

// describeLive describes the work on a run.
func describeLive(l lang.Language, s *workflow.Session, kept *headless.Kept, p headless.Progress) liveFacts {
	out := liveFacts{Working: kept.Working && p.End == nil, Model: visible.Line(p.Model)}
	spent, tokens := kept.Cost.Spent, kept.Cost.Usage.Prompt()+kept.Cost.Usage.Output
	if p.Cost.Spent != nil && out.Working {
		spent, tokens = *p.Cost.Spent, p.Cost.Tokens
	}
	out.Spent, out.Tokens = spent.Short(), strconv.FormatInt(tokens, 10)
	if limit := kept.Cost.Limit; limit > 0 {
		out.Of, out.Percent = l.Say("of %s", limit.Short()), int(min(100*spent/limit, 100))
	}
	switch {
	case out.Working && len(p.Acts) > 0:
		out.Doing = visible.Line(p.Acts[len(p.Acts)-1].Text)
	case out.Working:
		out.Doing = l.Say("The worker begins.")
	case p.End != nil && p.End.Why != "":
		out.Doing = visible.Line(p.End.Why)
	case s.CurrentState.Active():
		out.Doing = l.Say("The run was ended from outside; nothing of it is lost.")
	}
	out.Where = l.Say("%s, round %d, call %d", labelOf(s.Definition().Stages, s.CurrentStage), s.Current().Iteration+1, kept.Calls)
	for _, e := range p.Acts {
		out.Log = append(out.Log, logLine{e.At, visible.Line(e.Text)})
	}
	return out
}

// IsOpen reports whether something of the work is going on or can go on, else only its cost is of interest.
func (w *hostless) IsOpen() bool { return w != nil && (w.Live.Working || w.Resume || w.Command != "") }

// Names says who works, for example "claude".
func (w *hostless) Names() string {
	var names []string
	for _, e := range w.events {
		if e.Engine != "" && !slices.Contains(names, e.Engine) {
			names = append(names, visible.Line(e.Engine))
		}
	}
	return strings.Join(names, ", ")
}

// Latest returns when a run ends for lack of time; zero without a limit.
func (w *hostless) Latest() (at time.Time) {
	if w.Flags.Minutes > 0 && w.Live.Working {
		at = w.progress.Began.Add(time.Duration(w.Flags.Minutes) * time.Minute)
	}
	return at
}

// factsOf returns the files and the cost of a stage.
func (w *hostless) factsOf(l lang.Language, st workflow.Stage) (out []string) {
	if w == nil {
		return nil
	}
	if st.Kind == workflow.KindBuild && w.After != nil && len(w.After.Changed) > 0 {
		out = append(out, l.Count(len(w.After.Changed), "file"))
	}
	if spent := w.progress.Spent[st.ID]; spent > 0 {
		out = append(out, spent.Short())
	}
	return out
}

// maxEvents bounds the events of a run in the timeline, the latest.
const maxEvents = 500

// steps returns the events that a timeline shows beside the history, the newest first.
func (w *hostless) steps(l lang.Language, stages []workflow.Stage, density string) (out []step) {
	if w == nil {
		return nil
	}
	for _, e := range slices.Backward(w.events) {
		text, icon := e.Line(l), "next"
		switch e.Type {
		case headless.EngineEvent:
			text = e.Text
		case headless.Stopped:
			text, icon = l.Say("The run without a host stopped: %s", e.Why), "stopped"
		}
		if text == "" || !showsEvent(e, density) {
			continue
		}
		row := step{Text: visible.Text(text), Icon: icon, Stage: labelOf(stages, e.Stage), Aside: true}
		row.At = e.At
		if out = append(out, row); len(out) == maxEvents {
			break
		}
	}
	return out
}

// readLive answers the script of the page of a run with what has changed.
func (t *starter) readLive(a *asked) (any, error) {
	s, p, err := t.projects.sessionOf(a)
	if err != nil {
		return nil, err
	}
	work, err := t.readHostless(a, p, s)
	if err != nil {
		return nil, err
	}
	if work == nil {
		return nil, fault.New(fault.NotFound, "%q was not run without a host", s.TaskName).WithHint("its page shows it")
	}
	return work.Live, nil
}

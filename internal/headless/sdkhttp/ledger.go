package sdkhttp

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// ledger has the tasks of a conversation as Agent2Agent knows them, one for each turn. It follows from the events of
// the conversation alone: a task is the same after a restart, and no second store can contradict the first.
type ledger struct {
	context   string
	documents func() []sdk.Document
	tasks     []*turnTask
	// seen has the task of each id of a message, last is the last event.
	seen map[string]*turnTask
	last sdk.Event
}

// turnTask is the task of a turn.
type turnTask struct {
	a2a.Task
	open     []sdk.Question
	isPaused bool
	began    time.Time
	// answer is the whole answer of a finished turn.
	answer         string
	spent          price.Money
	prompt, output int64
}

const (
	// answerID is the id of the artifact with the agent's answer.
	answerID = "answer"
	// pausedText tells a client about paused work. No client pays for more by looking.
	pausedText = "The work is paused, for example because the server has ended meanwhile. Send any message to this task to go on with it, or cancel it."
)

// newLedger returns the tasks in the events of a conversation, whose status settles the last one.
func newLedger(e *entry, events []sdk.Event) *ledger {
	l := &ledger{context: e.ID(), documents: e.Documents, seen: map[string]*turnTask{}}
	for _, event := range events {
		l.applyEvent(event)
	}
	l.settleLast(e.Status())
	return l
}

// isOthers reports whether the conversation was begun by a client of another kind.
func (l *ledger) isOthers() bool { return len(l.tasks) > 0 && len(l.seen) == 0 }

// taskID returns the id of the task of a turn.
func taskID(context string, turn int) a2a.TaskID {
	return a2a.TaskID(context + "." + strconv.Itoa(turn))
}

// contextOf returns the conversation in the id of a task.
func contextOf(id a2a.TaskID) string {
	context, _, _ := strings.Cut(string(id), ".")
	return context
}

// findTask returns a task by its id; nil if there is none.
func (l *ledger) findTask(id a2a.TaskID) *turnTask {
	if at := slices.IndexFunc(l.tasks, func(t *turnTask) bool { return t.ID == id }); at >= 0 {
		return l.tasks[at]
	}
	return nil
}

// applyEvent enters an event.
func (l *ledger) applyEvent(e sdk.Event) {
	if e.Seq > 0 {
		l.last = e
	}
	t := l.findTask(taskID(l.context, e.Turn))
	switch {
	case e.Type == sdk.EventTurnStarted && e.Agent == "" && t == nil:
		t = &turnTask{Task: a2a.Task{ID: taskID(l.context, e.Turn), ContextID: l.context}, began: e.At}
		l.tasks = append(l.tasks, t)
		l.addWords(t, e)
		t.moveTo(a2a.TaskStateSubmitted, "", e)
		return
	case t == nil || t.Status.State.Terminal():
		return
	case e.Type == sdk.EventCost:
		t.addCost(*e.Cost)
	}
	state, words := a2a.TaskStateWorking, ""
	if e.Agent == "" { // the events of a sub-agent are part of the work
		state, words = l.enterEvent(t, e)
	}
	if state == a2a.TaskStateWorking && len(t.open) > 0 {
		state, words = a2a.TaskStateInputRequired, describeQuestion(t.open[0])
	} else if state == a2a.TaskStateWorking && t.isPaused {
		state, words = a2a.TaskStateInputRequired, pausedText
	}
	if state != t.Status.State || t.Status.Message != nil && t.Status.Message.Parts[0].Text() != words {
		t.moveTo(state, words, e)
	}
}

// enterEvent enters an event into a task, and returns the state after it: working, unless it is over.
func (l *ledger) enterEvent(t *turnTask, e sdk.Event) (state a2a.TaskState, words string) {
	switch e.Type {
	case sdk.EventQuestion:
		if e.Question.Source != "text" { // any message answers that
			t.open = append(t.open, *e.Question)
		}
	case sdk.EventAnswered:
		t.open = slices.DeleteFunc(t.open, func(q sdk.Question) bool { return q.ID == e.Question.ID })
		t.moveTo(a2a.TaskStateWorking, "", e)
		l.addWords(t, e)
	case sdk.EventPaused, sdk.EventResumed:
		t.isPaused = e.Type == sdk.EventPaused
	case sdk.EventTurnCompleted:
		t.answer = e.Text
		return a2a.TaskStateCompleted, ""
	case sdk.EventFailed:
		if e.Text == sdk.Cancelled {
			return a2a.TaskStateCanceled, ""
		}
		return a2a.TaskStateFailed, redact(e.Text)
	}
	return a2a.TaskStateWorking, ""
}

// settleLast has a task be at work, or pauses or ends one whose process died.
func (l *ledger) settleLast(status sdk.Status) {
	if len(l.tasks) == 0 {
		return
	}
	e := sdk.Event{Turn: len(l.tasks), At: l.last.At, Seq: l.last.Seq}
	switch status {
	case sdk.Processing:
		e.Type = sdk.EventResumed
	case sdk.Paused:
		e.Type = sdk.EventPaused
	case sdk.Idle, sdk.Ended, sdk.Failed:
		e.Type, e.Text = sdk.EventFailed, "the work ended without a result"
	default:
		return
	}
	l.applyEvent(e)
}

// addWords adds the person's words to the history of a task.
func (l *ledger) addWords(t *turnTask, e sdk.Event) {
	m := t.newMessage(a2a.MessageRoleUser, e.Text, e)
	if e.MessageID != "" {
		m.ID, l.seen[e.MessageID] = e.MessageID, t
	}
	t.History = append(t.History, m)
}

func (t *turnTask) newMessage(role a2a.MessageRole, words string, e sdk.Event) *a2a.Message {
	m := a2a.NewMessageForTask(role, t, a2a.NewTextPart(words))
	m.ID = fmt.Sprintf("%s.%d", t.ID, e.Seq)
	return m
}

// addCost adds the cost of a call of the model.
func (t *turnTask) addCost(c sdk.Cost) {
	if c.Call != nil {
		t.spent += price.Money(*c.Call)
	}
	t.prompt, t.output = t.prompt+c.Prompt, t.output+c.Output
	t.Metadata = map[string]any{"costs": map[string]any{"usd": t.spent.USD(), "promptTokens": t.prompt, "outputTokens": t.output}}
}

// moveTo changes the state of a task.
func (t *turnTask) moveTo(state a2a.TaskState, words string, e sdk.Event) {
	if said := t.Status.Message; said != nil {
		t.History = append(t.History, said)
	}
	t.Status = a2a.TaskStatus{State: state, Timestamp: &e.At}
	if words != "" {
		t.Status.Message = t.newMessage(a2a.MessageRoleAgent, words, e)
	}
}

// isAtRest reports whether nothing happens before the client speaks.
func (t *turnTask) isAtRest() bool {
	return t.Status.State.Terminal() || t.Status.State == a2a.TaskStateInputRequired
}

// describeQuestion returns a question with the answers to choose from.
func describeQuestion(q sdk.Question) string {
	lines := []string{q.Question}
	if q.Context != "" {
		lines = append(lines, "", q.Context)
	}
	for i, option := range q.Options {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, option))
	}
	return strings.Join(lines, "\n")
}

// showTask returns a task for a client, with the answer and the documents made in it, as they are now.
func (l *ledger) showTask(t *turnTask) *a2a.Task {
	shown := t.Task
	if t.answer != "" {
		shown.Artifacts = []*a2a.Artifact{{ID: answerID, Name: answerID, Parts: a2a.ContentParts{a2a.NewTextPart(t.answer)}}}
	}
	for _, d := range l.documents() {
		if isLater := t.Status.State.Terminal() && d.Modified.After(*t.Status.Timestamp); isLater || d.Modified.Before(t.began) {
			continue
		}
		part := &a2a.Part{Content: a2a.Text(d.Content), MediaType: "text/plain", Filename: path.Base(d.Path)}
		if !utf8.ValidString(d.Content) {
			part.Content, part.MediaType = a2a.Raw(d.Content), "application/octet-stream"
		} else if path.Ext(d.Path) == ".md" {
			part.MediaType = "text/markdown"
		}
		shown.Artifacts = append(shown.Artifacts, &a2a.Artifact{ID: a2a.ArtifactID(d.Path), Name: d.Path, Parts: a2a.ContentParts{part}})
	}
	return &shown
}

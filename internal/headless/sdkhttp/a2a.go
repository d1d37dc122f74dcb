package sdkhttp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/a2aproject/a2a-go/v2/log"
	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// maxParts bounds the parts of a message.
const maxParts = 100

// face is an agent as Agent2Agent shows it: a context is a conversation, a task is a turn. It takes the place of the
// library's handler, whose tasks are a second store, copied whole at each piece of an answer, and can be followed only
// until the server ends; that one refuses the rest of the protocol.
type face struct {
	a2asrv.RequestHandler
	h     *Handler
	agent string
}

// callAgent answers a JSON-RPC request to an agent.
func (h *Handler) callAgent(c *call) (any, error) {
	agent, err := h.findServed(c)
	if err != nil {
		return nil, err
	}
	data, err := h.readRaw(c)
	if err != nil {
		return nil, err
	}
	var head struct{ Method string }
	_ = json.Unmarshal(data, &head) // the library explains errors
	if w := c.w; head.Method == "SendStreamingMessage" || head.Method == "SubscribeToTask" {
		done, ok := h.limiter.Stream(httpguard.VisitorOf(c.r).Address, "")
		if !ok {
			return nil, errStreams
		}
		defer done()
		c.w = h.limiter.Pace(w, true)
	}
	rest := a2asrv.NewHandler(nil, a2asrv.WithCapabilityChecks(&a2a.AgentCapabilities{Streaming: true}))
	r := c.r.WithContext(log.AttachLogger(c.r.Context(), h.o.Log))
	r.Body = io.NopCloser(bytes.NewReader(data))
	a2asrv.NewJSONRPCHandler(face{rest, h, agent.ID}, a2asrv.WithTransportKeepAlive(h.ping)).ServeHTTP(c.w, r)
	return nil, nil
}

// toProtocol returns an error in the words of the HTTP API, under the protocol's code.
func (f face) toProtocol(err error) error {
	if _, ok := errors.AsType[*a2a.Error](err); err == nil || ok {
		return err
	}
	why, code := asFailure(err), a2a.ErrInvalidParams
	switch {
	case why.Code == "not_found":
		return errNoTask
	case why.Code == "internal":
		f.h.o.Log.Error("a request of another agent has failed", "error", redact(err.Error()))
		code = a2a.ErrInternalError
	case why.status > http.StatusInternalServerError:
		code = a2a.ErrInternalError
	case why.status == http.StatusConflict, why.status == http.StatusPaymentRequired:
		code = a2a.ErrUnsupportedOperation
	}
	return a2a.NewError(code, strings.TrimSuffix(why.Message+"; "+why.Hint, "; "))
}

var errNoTask = a2a.NewError(a2a.ErrTaskNotFound, "this agent has no task or context of this id; leave taskId and contextId out to begin one")

// readLedger returns the tasks of a conversation of the agent.
func (f face) readLedger(ctx context.Context, e *entry) (*ledger, error) {
	past, live, stop, err := e.Follow(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer stop()
	for range len(live) {
		past = append(past, <-live)
	}
	if l := newLedger(e, past); !l.isOthers() && e.Agent().ID == f.agent {
		return l, nil
	}
	return nil, errNoTask
}

// withTask has a function look at a task.
func (f face) withTask(ctx context.Context, id a2a.TaskID, look func(*entry, *ledger, *turnTask) error) error {
	err := f.h.withEntry(ctx, contextOf(id), func(e *entry) error {
		l, err := f.readLedger(ctx, e)
		if err != nil {
			return err
		}
		if t := l.findTask(id); t != nil {
			return look(e, l, t)
		}
		return errNoTask
	})
	return f.toProtocol(err)
}

// GetTask implements a2asrv.RequestHandler.
func (f face) GetTask(ctx context.Context, q *a2a.GetTaskRequest) (out *a2a.Task, err error) {
	err = f.withTask(ctx, q.ID, func(_ *entry, l *ledger, t *turnTask) error {
		if out = l.showTask(t); q.HistoryLength != nil {
			out.History = out.History[max(0, len(out.History)-max(0, *q.HistoryLength)):]
		}
		return nil
	})
	return out, err
}

// ListTasks implements a2asrv.RequestHandler, for one context: the tasks of all would be read whole for each page.
func (f face) ListTasks(ctx context.Context, q *a2a.ListTasksRequest) (out *a2a.ListTasksResponse, err error) {
	if q.ContextID == "" {
		return nil, a2a.NewError(a2a.ErrInvalidParams, "the tasks of one context are listed; give its contextId")
	}
	err = f.h.withEntry(ctx, q.ContextID, func(e *entry) error {
		l, err := f.readLedger(ctx, e)
		if err != nil {
			return err
		}
		if l.documents = sync.OnceValue(l.documents); !q.IncludeArtifacts { // the list has none
			l.documents = func() []sdk.Document { return nil }
		}
		var at time.Time
		client := func(context.Context) (string, error) { return f.agent, nil }
		list := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: client, TimeProvider: func() time.Time { return at }})
		for _, t := range l.tasks {
			at = *t.Status.Timestamp
			if _, err := list.Create(ctx, l.showTask(t)); err != nil {
				return err
			}
		}
		if out, err = list.List(ctx, q); err != nil {
			return a2a.NewError(a2a.ErrInvalidParams, err.Error())
		}
		return nil
	})
	return out, f.toProtocol(err)
}

// CancelTask implements a2asrv.RequestHandler. The work ends; the costs stay with the task.
func (f face) CancelTask(ctx context.Context, q *a2a.CancelTaskRequest) (*a2a.Task, error) {
	err := f.withTask(ctx, q.ID, func(e *entry, _ *ledger, t *turnTask) error {
		if t.Status.State.Terminal() {
			return a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over, and cannot be canceled")
		}
		e.Cancel()
		_, _ = e.Wait(ctx) // the error is the end that was wished for
		return e.Save(ctx)
	})
	if err != nil {
		return nil, err
	}
	return f.GetTask(ctx, &a2a.GetTaskRequest{ID: q.ID})
}

// SendMessage implements a2asrv.RequestHandler. A lost client ends no work: the same message finds the task again.
func (f face) SendMessage(ctx context.Context, q *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	id, err := f.takeMessage(ctx, q)
	if err != nil {
		return nil, err
	}
	how := cmp.Or(q.Config, &a2a.SendMessageConfig{})
	if !how.ReturnImmediately {
		for _, err := range f.followTask(ctx, id) {
			if err != nil {
				break // it shows below
			}
		}
	}
	return f.GetTask(ctx, &a2a.GetTaskRequest{ID: id, HistoryLength: how.HistoryLength})
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (f face) SendStreamingMessage(ctx context.Context, q *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	id, err := f.takeMessage(ctx, q)
	if err == nil {
		return f.followTask(ctx, id)
	}
	return func(yield func(a2a.Event, error) bool) { yield(nil, err) }
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (f face) SubscribeToTask(ctx context.Context, q *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return f.followTask(ctx, q.ID)
}

// followTask returns a task as it is now, and then the changes until it is over or waits for the client.
func (f face) followTask(ctx context.Context, id a2a.TaskID) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		hasLeft, hasBegun := false, false
		send := func(event a2a.Event) { hasLeft = hasLeft || !yield(event, nil) }
		err := f.withTask(ctx, id, func(e *entry, l *ledger, t *turnTask) error {
			if send(l.showTask(t)); hasLeft || t.isAtRest() {
				return nil
			}
			return f.h.followEvents(ctx, e, l.last.Seq, nil, func(event sdk.Event) bool {
				before := t.Status
				l.applyEvent(event)
				if t.isAtRest() {
					for _, made := range l.showTask(t).Artifacts {
						send(&a2a.TaskArtifactUpdateEvent{TaskID: id, ContextID: t.ContextID, Artifact: made, LastChunk: true})
					}
				}
				if t.Status != before {
					send(&a2a.TaskStatusUpdateEvent{TaskID: id, ContextID: t.ContextID, Status: t.Status, Metadata: maps.Clone(t.Metadata)})
				}
				if event.Type == sdk.EventTextDelta && event.Agent == "" {
					piece := a2a.NewArtifactUpdateEvent(t, answerID, a2a.NewTextPart(event.Text))
					piece.Artifact.Name, piece.Append, hasBegun = answerID, hasBegun, true
					send(piece)
				}
				hasBegun = hasBegun && event.Type != sdk.EventToolStarted // the text so far is not the answer
				return hasLeft || t.isAtRest()
			})
		})
		if err != nil && !hasLeft {
			yield(nil, err)
		}
	}
}

// takeMessage gives a message to the agent, and returns the task. A message sent before is not carried out again.
func (f face) takeMessage(ctx context.Context, q *a2a.SendMessageRequest) (id a2a.TaskID, err error) {
	words, err := readMessage(q)
	if err != nil {
		return "", err
	}
	m := q.Message
	in := m.ContextID
	if m.TaskID != "" {
		in = cmp.Or(in, contextOf(m.TaskID))
	} else {
		in = cmp.Or(in, newContextID(f.agent, m.ID, words))
		err = f.openContext(ctx, in)
	}
	if err == nil {
		err = f.h.changeIn(ctx, in, func(e *entry) (err error) {
			id, err = f.giveWords(sdk.WithMessageID(ctx, m.ID), e, m, words)
			return err
		})
	}
	return id, f.toProtocol(err)
}

// giveWords gives words to the task of a message, or begins one, and returns the task.
func (f face) giveWords(ctx context.Context, e *entry, m *a2a.Message, words string) (a2a.TaskID, error) {
	l, err := f.readLedger(ctx, e)
	if err != nil {
		return "", err
	}
	if known := l.seen[m.ID]; known != nil {
		return known.ID, nil
	}
	if m.TaskID != "" {
		return m.TaskID, f.continueTask(ctx, e, l.findTask(m.TaskID), words)
	}
	if n := len(l.tasks); n > 0 && !l.tasks[n-1].Status.State.Terminal() {
		return "", a2a.NewError(a2a.ErrUnsupportedOperation, "the task "+string(l.tasks[n-1].ID)+" of this context is not over; an answer needs this taskId")
	}
	if err := f.h.deliverMessage(ctx, e, words); err != nil {
		if len(l.tasks) == 0 {
			f.h.forgetEntry(e)
		}
		return "", err
	}
	if l, err = f.readLedger(ctx, e); err != nil || l.seen[m.ID] == nil {
		return "", cmp.Or[error](err, sdk.ErrEnded)
	}
	return l.seen[m.ID].ID, nil
}

// continueTask gives an answer to a task that waits for one, or goes on with a paused one.
func (f face) continueTask(ctx context.Context, e *entry, t *turnTask, words string) error {
	switch {
	case t == nil:
		return errNoTask
	case t.Status.State.Terminal():
		return a2a.NewError(a2a.ErrUnsupportedOperation, "the task is over; leave taskId out to go on in its context")
	case len(t.open) > 0:
		return f.h.beginWork(e, func() error { return e.Answer(ctx, t.open[0].ID, words) })
	case t.isPaused:
		return f.h.beginWork(e, func() error { return e.Resume(ctx) })
	}
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the task is at work, and takes no message before it asks")
}

// newContextID returns the id of the conversation that a first message begins. It follows from the message, so that one
// sent again by a client that has lost the answer begins no second one.
func newContextID(agent, message, words string) string {
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(agent+"\x00"+message+"\x00"+words), 8).String()
}

// openContext makes a conversation, unless it exists.
func (f face) openContext(ctx context.Context, id string) error {
	if _, err := f.h.holdEntry(ctx, id); !errors.Is(err, sdk.ErrNotFound) {
		return err
	}
	made, err := f.h.o.Client.StartConversation(ctx, f.agent, sdk.ConversationOptions{
		ID: id, PlainText: true, SessionOptions: sdk.SessionOptions{Tools: f.h.o.Tools},
	})
	if err == nil {
		f.h.keepEntry(&entry{Conversation: made})
	}
	return err
}

// readMessage returns the words of a message, with data as JSON.
func readMessage(q *a2a.SendMessageRequest) (string, error) {
	m := q.Message
	switch {
	case q.Config != nil && q.Config.PushConfig != nil:
		return "", a2a.ErrPushNotificationNotSupported
	case m == nil || m.ID == "" || m.Role != a2a.MessageRoleUser || len(m.ID) > 200 || len(m.Parts) > maxParts:
		return "", a2a.NewError(a2a.ErrInvalidParams, "a message has a messageId of at most 200 bytes, the role ROLE_USER and at most 100 parts")
	}
	var words []string
	for _, part := range slices.DeleteFunc(m.Parts, func(p *a2a.Part) bool { return p == nil }) {
		switch text, data := part.Text(), part.Data(); {
		case text != "":
			words = append(words, text)
		case data != nil:
			written, _ := json.Marshal(data) // it was JSON
			words = append(words, "```json\n"+string(written)+"\n```")
		case part.URL() != "" || part.Raw() != nil:
			return "", a2a.NewError(a2a.ErrUnsupportedContentType, "the agent takes text and data; send the content of a file as text")
		}
	}
	text := strings.TrimSpace(strings.Join(words, "\n\n"))
	if text == "" || len(text) > maxBody {
		return "", a2a.NewError(a2a.ErrInvalidParams, "the message has no words, or more than the agent reads")
	}
	return text, nil
}

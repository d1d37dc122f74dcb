package sdkhttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// peer is a client of the protocol's own library for an agent of the desk.
func (d *desk) peer(agent string) *a2aclient.Client {
	d.t.Helper()
	card, err := agentcard.NewResolver(http.DefaultClient).Resolve(d.t.Context(), d.url+"/a2a/"+agent)
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := a2aclient.NewFromCard(d.t.Context(), card)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// words returns a message in words.
func words(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

// about returns a message in words about a task.
func about(task *a2a.Task, text string) *a2a.SendMessageRequest {
	q := words(text)
	q.Message.TaskID, q.Message.ContextID = task.ID, task.ContextID
	return q
}

// send sends a message, which has to become a task.
func (d *desk) send(c *a2aclient.Client, q *a2a.SendMessageRequest) *a2a.Task {
	d.t.Helper()
	result, err := c.SendMessage(d.t.Context(), q)
	if err != nil {
		d.t.Fatal(err)
	}
	return result.(*a2a.Task)
}

// said returns the words of a task's status.
func said(t *a2a.Task) string {
	if t.Status.Message == nil {
		return ""
	}
	return t.Status.Message.Parts[0].Text()
}

// made returns the artifacts of a task by their names.
func made(t *a2a.Task) map[string]string {
	out := map[string]string{}
	for _, a := range t.Artifacts {
		out[a.Name] = a.Parts[0].Text() + string(a.Parts[0].Raw())
	}
	return out
}

func TestTasks(t *testing.T) {
	question := map[string]any{"question": "Who buys?", "context": "The PRD names them.", "options": []string{"shops", "people"}}
	d := serve(t, Options{}, write("/docs/prd.md", "# PRD\n"), fake.Call("ask_user", question),
		fake.Text("Written."), write("/docs/two.md", "two"), fake.Text("Added. More?"))
	c := d.peer("pm")
	first := words("Write the PRD.")
	task := d.send(c, first)
	if task.Status.State != a2a.TaskStateInputRequired || said(task) != "Who buys?\n\nThe PRD names them.\n1. shops\n2. people" {
		t.Fatalf("at the question: %+v", task.Status)
	}
	if again := d.send(c, first); again.ID != task.ID || len(saved(t, d.folder)) != 1 {
		t.Errorf("the first message sent again began %s", again.ID)
	}
	_, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: &a2a.Message{
		ID: "x", ContextID: task.ContextID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("more")},
	}})
	if !errors.Is(err, a2a.ErrUnsupportedOperation) || !strings.Contains(err.Error(), string(task.ID)) {
		t.Errorf("a new task beside an open question: %v", err)
	}
	answer := about(task, "people")
	done := d.send(c, answer)
	isDone := done.ID == task.ID && done.Status.State == a2a.TaskStateCompleted
	if !isDone || made(done)["answer"] != "Written." || made(done)["/docs/prd.md"] != "# PRD\n" || len(done.Artifacts) != 2 {
		t.Errorf("after the answer: %+v, made %v", done.Status, made(done))
	}
	hasFirst := len(done.History) == 3 && done.History[0].Parts[0].Text() == "Write the PRD." && done.History[0].ID == first.Message.ID
	if !hasFirst || done.History[1].Role != a2a.MessageRoleAgent || done.History[2].Parts[0].Text() != "people" {
		t.Errorf("the history is %+v", done.History)
	}
	costs, _ := done.Metadata["costs"].(map[string]any)
	if usd, _ := costs["usd"].(float64); usd <= 0 || costs["promptTokens"] == nil || costs["outputTokens"] == nil {
		t.Errorf("the costs are %v", done.Metadata)
	}
	calls := len(d.model.Requests())
	if again := d.send(c, answer); again.Status.State != a2a.TaskStateCompleted || len(d.model.Requests()) != calls {
		t.Errorf("the answer sent again: %+v, after %d calls %d", again.Status, calls, len(d.model.Requests()))
	}
	if _, err := c.SendMessage(t.Context(), about(task, "and more")); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("a message to a task that is over: %v", err)
	}
	next := words("One more.")
	next.Message.ContextID = task.ContextID
	second := d.send(c, next)
	isNext := second.ID != task.ID && second.ContextID == task.ContextID
	if !isNext || second.Status.State != a2a.TaskStateCompleted || made(second)["/docs/two.md"] != "two" || len(second.Artifacts) != 2 {
		t.Errorf("the second task: %+v, made %v", second.Status, made(second))
	}
	list, err := c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: task.ContextID, PageSize: 1, IncludeArtifacts: true})
	if err != nil || list.TotalSize != 2 || len(list.Tasks) != 1 || list.NextPageToken == "" {
		t.Fatalf("the list: %+v, %v", list, err)
	}
	list, err = c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: task.ContextID, PageSize: 1, PageToken: list.NextPageToken})
	if err != nil || len(list.Tasks) != 1 || list.NextPageToken != "" {
		t.Errorf("the second page: %+v, %v", list, err)
	}
	one := 1
	got, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &one})
	if err != nil || len(got.History) != 1 || got.History[0].Parts[0].Text() != "people" {
		t.Errorf("the last message: %+v, %v", got, err)
	}
}

// TestTaskStream follows the work by the library's client: as it is sent, and from another connection.
func TestTaskStream(t *testing.T) {
	held, begun, release := holdStep(fake.Text("All is written."))
	d := serve(t, Options{}, write("/docs/prd.md", "# PRD\n"), held)
	c := d.peer("pm")
	var states []a2a.TaskState
	var id a2a.TaskID
	var text string
	var files []string
	onFirst := func() { <-begun; release() }
	follow := func(events func(func(a2a.Event, error) bool)) {
		for event, err := range events {
			if err != nil {
				t.Error(err)
				return
			}
			id = event.TaskInfo().TaskID
			if onFirst != nil {
				onFirst()
				onFirst = nil
			}
			switch event := event.(type) {
			case *a2a.Task:
				states = append(states, event.Status.State)
			case *a2a.TaskStatusUpdateEvent:
				states = append(states, event.Status.State)
			case *a2a.TaskArtifactUpdateEvent:
				if piece := event.Artifact.Parts[0].Text(); event.Artifact.Name != "answer" {
					files = append(files, event.Artifact.Name+" "+piece)
				} else if event.Append {
					text += piece
				} else {
					text = piece
				}
			}
		}
	}
	follow(c.SendStreamingMessage(t.Context(), words("Write.")))
	last := len(states) - 1
	if last < 1 || states[last] != a2a.TaskStateCompleted || text != "All is written." || !slices.Equal(files, []string{"/docs/prd.md # PRD\n"}) {
		t.Errorf("the stream: %v %q %q", states, text, files)
	}

	held, begun, release = holdStep(fake.Text("Again."))
	d.model.Add(held)
	q := words("Once more.")
	q.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	task := d.send(c, q)
	if task.Status.State.Terminal() {
		t.Fatalf("it did not return at once: %+v", task.Status)
	}
	<-begun
	if _, err := c.SendMessage(t.Context(), about(task, "quick")); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("a message to a task at work: %v", err)
	}
	states, text, files, onFirst = nil, "", nil, release
	follow(d.peer("pm").SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}))
	if id != task.ID || states[0] != a2a.TaskStateWorking || states[len(states)-1] != a2a.TaskStateCompleted || text != "Again." {
		t.Errorf("the stream of a task under way: %v %q", states, text)
	}
}

func TestCancelTask(t *testing.T) {
	held, begun, _ := holdStep(fake.Text("Never."))
	d := serve(t, Options{}, write("/a.md", "a"), held, ask("Who?"), fake.Text("After."))
	c := d.peer("pm")
	q := words("Write.")
	q.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	for _, at := range []string{"work", "a question"} {
		task := d.send(c, q)
		if at == "work" {
			<-begun
		}
		got, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
		if err != nil || got.Status.State != a2a.TaskStateCanceled || got.Metadata["costs"] == nil {
			t.Errorf("canceled at %s: %+v, %v", at, got, err)
		}
		if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
			t.Errorf("canceled twice: %v", err)
		}
		q = words("Ask.")
		q.Message.ContextID = task.ContextID
	}
}

// TestTaskAfterRestart: tasks, and the ids of messages, outlive the server; paused work is not paid for before a
// client asks for it.
func TestTaskAfterRestart(t *testing.T) {
	dir := folder(t)
	held, begun, _ := holdStep(fake.Text("Never."))
	d := serveIn(t, dir, Options{}, fake.Text("One."), held)
	c := d.peer("pm")
	first := words("First.")
	one := d.send(c, first)
	q := words("Second.")
	q.Message.ContextID, q.Config = one.ContextID, &a2a.SendMessageConfig{ReturnImmediately: true}
	two := d.send(c, q)
	<-begun
	d.stop()

	d = serveIn(t, dir, Options{}, fake.Text("Two."))
	c = d.peer("pm")
	if again := d.send(c, first); again.ID != one.ID || made(again)["answer"] != "One." {
		t.Errorf("the first message after the restart: %+v", again)
	}
	if again := d.send(c, q); again.ID != two.ID || again.Status.State != a2a.TaskStateInputRequired || said(again) != pausedText || len(d.model.Requests()) != 0 {
		t.Errorf("paused work: %+v, %d calls", again.Status, len(d.model.Requests()))
	}
	if done := d.send(c, about(two, "go on")); done.ID != two.ID || done.Status.State != a2a.TaskStateCompleted || made(done)["answer"] != "Two." {
		t.Errorf("after going on: %+v", done.Status)
	}
}

// TestTaskFails: the words of a failure arrive without keys, and what it has cost.
func TestTaskFails(t *testing.T) {
	d := serve(t, Options{}, fake.Fail(&provider.Error{Status: 401, Message: "invalid key sk-ant-api03-AAAAAAAAAAAA"}))
	if task := d.send(d.peer("pm"), words("go")); task.Status.State != a2a.TaskStateFailed || !strings.Contains(said(task), "invalid key [key]") {
		t.Errorf("%+v", task.Status)
	}
}

// TestOddMessages: everything that a client may send is taken, or refused with words; nothing is paid for then.
func TestOddMessages(t *testing.T) {
	d := serve(t, Options{CostLimit: price.Dollar}, fake.Text("Taken."))
	other := d.send(d.peer("pm"), words("x"))
	calls := len(d.model.Requests())
	c := d.peer("analyst")
	parts := func(parts ...*a2a.Part) *a2a.SendMessageRequest {
		return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
	}
	change := func(q *a2a.SendMessageRequest, to func(*a2a.SendMessageRequest)) *a2a.SendMessageRequest {
		to(q)
		return q
	}
	for name, row := range map[string]struct {
		q    *a2a.SendMessageRequest
		want error
	}{
		"a file by its address": {parts(a2a.NewFileURLPart("http://169.254.169.254/", "text/plain")), a2a.ErrUnsupportedContentType},
		"a file":                {parts(a2a.NewTextPart("read this"), a2a.NewRawPart([]byte{0, 1})), a2a.ErrUnsupportedContentType},
		"no parts":              {parts(), a2a.ErrInvalidParams},
		"no words":              {parts(a2a.NewTextPart(" \n")), a2a.ErrInvalidParams},
		"many parts":            {parts(slices.Repeat([]*a2a.Part{a2a.NewTextPart("x")}, 101)...), a2a.ErrInvalidParams},
		"the agent's role":      {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.Role = a2a.MessageRoleAgent }), a2a.ErrInvalidParams},
		"no id":                 {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ID = "" }), a2a.ErrInvalidParams},
		"a long id":             {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ID = strings.Repeat("x", 201) }), a2a.ErrInvalidParams},
		"a push address": {change(words("x"), func(q *a2a.SendMessageRequest) {
			q.Config = &a2a.SendMessageConfig{PushConfig: &a2a.PushConfig{URL: "http://127.0.0.1"}}
		}), a2a.ErrPushNotificationNotSupported},
		"a task elsewhere":       {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ContextID, q.Message.TaskID = "mine", other.ID }), a2a.ErrTaskNotFound},
		"a path as context":      {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ContextID = "../../etc" }), a2a.ErrUnsupportedOperation},
		"another agent's":        {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ContextID = other.ContextID }), a2a.ErrTaskNotFound},
		"another agent's task":   {about(other, "x"), a2a.ErrTaskNotFound},
		"a task without context": {change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.TaskID = "x.1" }), a2a.ErrTaskNotFound},
	} {
		_, err := c.SendMessage(t.Context(), row.q)
		if !errors.Is(err, row.want) || err.Error() == "" {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
	pm := d.peer("pm")
	for _, id := range []a2a.TaskID{"", "x", ".1", "..", a2a.TaskID(other.ContextID), other.ID + "0", a2a.TaskID(other.ContextID + ".01"), a2a.TaskID(other.ContextID + ".-1")} {
		if _, err := pm.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("the task %q: %v", id, err)
		}
		if _, err := pm.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id}); !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("the task %q: %v", id, err)
		}
	}
	mine := d.begin("hello") // by the HTTP API
	d.until(mine, "idle")
	if list, err := pm.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: strings.TrimPrefix(mine, "/api/conversations/")}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("a conversation of another client: %v, %v", list, err)
	}
	if list, err := pm.ListTasks(t.Context(), &a2a.ListTasksRequest{}); !errors.Is(err, a2a.ErrInvalidParams) {
		t.Errorf("all tasks: %v, %v", list, err)
	}
	if list, err := c.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: other.ContextID}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("the tasks of another agent: %v, %v", list, err)
	}
	if got := len(d.model.Requests()); got > calls+1 { // one by the HTTP API
		t.Errorf("%d calls of the model for refused messages", got-calls)
	}
	d.model.Add(fake.Text("Taken."))
	rated := d.send(c, parts(a2a.NewTextPart("Rate these."), a2a.NewDataPart(map[string]any{"a": 1})))
	if text := rated.History[0].Parts[0].Text(); !strings.Contains(text, "Rate these.\n\n```json\n{\"a\":1}") {
		t.Errorf("data: %q", text)
	}
	d.model.Add(fake.Text("Taken."))
	if task := d.send(c, change(words("x"), func(q *a2a.SendMessageRequest) { q.Message.ContextID = "context-of-mine" })); task.ContextID != "context-of-mine" {
		t.Errorf("a context named by the client is %s", task.ContextID)
	}
	nullPart := `{"message":{"messageId":"a","role":"ROLE_USER","parts":[null]}}`
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0"`: 200,
		`[]`:               200,
		`{"jsonrpc":"2.0","id":1,"method":"Fly"}`:                                   200,
		`{"jsonrpc":"2.0","id":{},"method":"GetTask"}`:                              200,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":null}`:             200,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + nullPart + `}`: 200,
		`{"a":"` + strings.Repeat("x", maxBody) + `"}`:                              413,
	} {
		if got, reply := d.call("POST", "/a2a/pm", body); got != status || reply["error"] == nil {
			t.Errorf("%.60s: %d %v", body, got, reply)
		}
	}
}

// TestCards: a card stands behind the guard, and names the agents that are served.
func TestCards(t *testing.T) {
	d := serve(t, Options{Options: httpguard.Options{Token: "0123456789abcdef"}, Agents: []string{"analyst", "pm"}, Address: "https://agents.acme/", Version: "7"})
	token := []string{"Authorization", "Bearer 0123456789abcdef"}
	for _, path := range []string{"/.well-known/agent-card.json", "/a2a/pm/.well-known/agent-card.json"} {
		if status, _ := d.call("GET", path, ""); status != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d", path, status)
		}
	}
	for path, want := range map[string]string{"/.well-known/agent-card.json": "analyst", "/a2a/pm/.well-known/agent-card.json": "pm"} {
		card := d.ok("GET", path, "", token...)
		at := card["supportedInterfaces"].([]any)[0].(map[string]any)
		hasAddress := at["url"] == "https://agents.acme/a2a/"+want && at["protocolBinding"] == "JSONRPC"
		if !hasAddress || card["version"] != "7" || card["securitySchemes"] == nil || len(card["skills"].([]any)) < 3 {
			t.Errorf("%s: %v", path, card)
		}
	}
	for _, path := range []string{"/a2a/release-steward/.well-known/agent-card.json", "/a2a/nobody/.well-known/agent-card.json"} {
		if status, reply := d.call("GET", path, "", token...); status != http.StatusNotFound || failureIn(reply)["code"] != "agent_not_found" {
			t.Errorf("%s: %d %v", path, status, reply)
		}
	}
	if status, _ := d.call("POST", "/a2a/release-steward", `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`, token...); status != http.StatusNotFound {
		t.Errorf("an agent that is not served answers: %d", status)
	}
	d = serve(t, Options{Agents: []string{"nobody", "pm"}})
	if card := d.ok("GET", "/.well-known/agent-card.json", ""); !strings.HasSuffix(card["supportedInterfaces"].([]any)[0].(map[string]any)["url"].(string), "/a2a/pm") {
		t.Errorf("without the first agent: %v", card)
	}
}

// FuzzCall: every body is answered in JSON, or as a stream.
func FuzzCall(f *testing.F) {
	message := `{"messageId":"a","taskId":"","contextId":"b","role":"ROLE_USER","parts":[{"text":"x"},{"data":[1]},null]}`
	for _, method := range []string{
		"SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask",
		"CreateTaskPushNotificationConfig", "GetExtendedAgentCard",
	} {
		f.Add(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"id":"a.1","message":` + message + `}}`)
		f.Add(`{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":null}`)
	}
	d := serve(f, Options{})
	f.Fuzz(func(t *testing.T, body string) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("it waits for ever"))
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/a2a/pm", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		d.h.ServeHTTP(w, r)
		if ctx.Err() != nil {
			t.Errorf("%q: %v", body, context.Cause(ctx))
		}
		if kind := w.Header().Get("Content-Type"); kind != "text/event-stream" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %q", body, w.Code, w.Body)
		}
	})
}

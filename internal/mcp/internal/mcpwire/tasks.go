package mcpwire

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// TasksExtension is the identifier of the extension for tasks: a server answers a call of a tool with the
// handle of a task, and the client asks for state and result later. The library has only the older tasks of
// protocol 2025-11-25, whose handlers end with the request.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TasksNeeded returns the error of a call served as a task only.
func TasksNeeded() error {
	return Error{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Text: "the client has to declare the extension " + TasksExtension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{TasksExtension: struct{}{}}}},
	}
}

// takesTasks reports whether a client declares the extension.
func takesTasks(can mcp.ClientCapabilities) bool {
	_, declared := can.Extensions[TasksExtension]
	return declared
}

// The states of a task.
const (
	taskWorking   = "working"
	taskAsking    = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// pollEvery is the suggested interval for clients to ask for the state of a task.
const pollEvery = time.Second

// grace bounds the wait for answers and for work at the end of the server. Clients kill a server about two
// seconds after closing the input.
const grace = 1800 * time.Millisecond

// taskLimits bound the tasks of a server. A task with a result takes some 20 kB.
type taskLimits struct {
	// client and all are the most tasks of one client and of all clients at once.
	client, all int
	// life is the longest time of a task, and kept the time for which the result is kept.
	life, kept time.Duration
}

var defaultTaskLimits = taskLimits{client: 64, all: 512, life: time.Hour, kept: 10 * time.Minute}

// tasks has the calls answered by a handle. A client sees only the tasks of its own calls.
type tasks struct {
	now    func() time.Time
	limits taskLimits
	self   mcp.Implementation
	// closing ends when the server begins to close.
	closing context.Context

	mu   sync.Mutex
	open map[string]*task // by id
	// followers are the streams with subscriptions to tasks.
	followers map[*follower]bool
	// work counts the handlers at work.
	work sync.WaitGroup
}

// task is a call of a tool that may be answered by a handle. tasks.mu guards all fields below became.
type task struct {
	tasks  *tasks
	client string
	// cancel ends the work.
	cancel context.CancelFunc
	// became is closed when the call becomes a task.
	became chan struct{}

	// id is empty until the call becomes a task; over reports whether the work has ended.
	id   string
	over bool

	created time.Time
	changed time.Time
	ttl     time.Duration // from created on
	expiry  *time.Timer
	status  string
	message string // for people
	// stopped reports whether the client has cancelled the task.
	stopped bool

	// requests has the unanswered requests to the client, answers the client's answers. answered is closed
	// with the last answer.
	requests mcp.InputRequests
	answers  mcp.InputResponses
	answered chan struct{}

	result  *mcp.CallToolResult
	failure *mcp.JSONRPCErrorDetails
}

// notificationTasks is the method of the notifications.
const notificationTasks = "notifications/tasks"

// follower is a stream that reports the changes of some tasks.
type follower struct {
	tasks map[*task]bool
	tag   any // the id of the request for the stream
	to    chan<- mcp.JSONRPCNotification
}

// sendState sends the state of a task. A full stream misses it: the client can ask for the state.
func (f *follower) sendState(k *task) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: notificationTasks}}
	n.Params.AdditionalFields = k.allFields()
	n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: f.tag}
	select {
	case f.to <- n:
	default:
	}
}

// makeTask makes a call at work a task. It returns false if the client, or all clients together, have too
// many. The lock is held.
func (t *tasks) makeTask(k *task, message string) bool {
	of := 0
	for _, other := range t.open {
		if other.client == k.client {
			of++
		}
	}
	if k.over || of >= t.limits.client || len(t.open) >= t.limits.all || t.closing.Err() != nil {
		return false
	}
	k.created = t.now()
	k.id, k.changed, k.ttl = rand.Text(), k.created, t.limits.life
	k.status, k.message = taskWorking, message
	k.expiry = time.AfterFunc(k.ttl, func() { t.dropTask(k) })
	t.open[k.id] = k
	close(k.became)
	return true
}

// dropTask drops an expired task, and cancels the work.
func (t *tasks) dropTask(k *task) {
	k.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, k.id)
}

// findTask returns a task of a client. The lock is held.
func (t *tasks) findTask(client, id string) (*task, error) {
	k := t.open[id]
	if k == nil || k.client != client {
		return nil, Error{Code: mcp.INVALID_PARAMS, Text: "there is no such task, or it has expired"}
	}
	return k, nil
}

// setStatus sets status and message of a task, and notifies the followers. The lock is held.
func (t *tasks) setStatus(k *task, status, message string) {
	k.status, k.message, k.changed = status, message, t.now()
	for f := range t.followers {
		if f.tasks[k] {
			f.sendState(k)
		}
	}
}

// requestInput puts requests to the client of a task, and returns a channel that is closed with the last
// answer. Each round needs new keys, because a key names one request for the life of the task.
func (t *tasks) requestInput(k *task, requests mcp.InputRequests) (answered <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k.requests, k.answers, k.answered = requests, mcp.InputResponses{}, make(chan struct{})
	t.setStatus(k, taskAsking, k.message)
	return k.answered
}

// resume returns the answers so far, and withdraws the unanswered requests.
func (t *tasks) resume(k *task) mcp.InputResponses {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := k.answers
	k.requests, k.answers = nil, nil
	t.setStatus(k, taskWorking, k.message)
	return answers
}

// finishCall records the end of the work of a call. The result of a task is kept for limits.kept.
func (t *tasks) finishCall(k *task, result *mcp.CallToolResult, failure *mcp.JSONRPCErrorDetails) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k.over, k.requests, k.answers = true, nil, nil
	if t.open[k.id] == nil {
		return
	}
	k.ttl = t.now().Sub(k.created) + t.limits.kept
	k.expiry.Reset(t.limits.kept)
	switch {
	case k.stopped && (failure != nil || result.IsError):
		t.setStatus(k, taskCancelled, "cancelled by the client")
	case failure != nil:
		k.failure = failure
		t.setStatus(k, taskFailed, failure.Message)
	default:
		k.result = result
		t.setStatus(k, taskCompleted, "")
	}
}

// endWork waits for the end of all work on tasks. When ctx is done, it cancels the rest, and waits at most
// grace.
func (t *tasks) endWork(ctx context.Context) {
	ended := make(chan struct{})
	go func() { // ends with the last handler
		t.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	t.mu.Lock()
	for _, k := range t.open {
		k.cancel()
		k.expiry.Stop()
	}
	t.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(grace):
	}
}

// handleFields returns a task in the form of the answer to the original call.
func (k *task) handleFields() map[string]any {
	out := map[string]any{
		"taskId": k.id, "status": k.status, "createdAt": formatTime(k.created), "lastUpdatedAt": formatTime(k.changed),
		"ttlMs": k.ttl.Milliseconds(), "pollIntervalMs": pollEvery.Milliseconds(),
	}
	if k.message != "" {
		out["statusMessage"] = k.message
	}
	return out
}

// allFields returns handleFields with the requests, the result or the error of the task.
func (k *task) allFields() map[string]any {
	out := k.handleFields()
	switch k.status {
	case taskAsking:
		out["inputRequests"] = maps.Clone(k.requests)
	case taskCompleted:
		out["result"] = k.result
	case taskFailed:
		out["error"] = k.failure
	}
	return out
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// getTask answers tasks/get.
func (t *tasks) getTask(client, id string) (map[string]any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.findTask(client, id)
	if err != nil {
		return nil, err
	}
	return k.allFields(), nil
}

// updateTask answers tasks/update. Answers to questions no longer open are ignored.
func (t *tasks) updateTask(client, id string, responses map[string]json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.findTask(client, id)
	if err != nil || k.status != taskAsking {
		return err
	}
	taken := mcp.InputResponses{}
	for key, raw := range responses {
		asked, outstanding := k.requests[key]
		if !outstanding {
			continue
		}
		var response mcp.InputResponse
		if json.Unmarshal(raw, &response) != nil || response.DecodeFor(asked.Method) != nil {
			return Error{Code: mcp.INVALID_PARAMS, Text: "an input response does not answer its request"}
		}
		taken[key] = response
	}
	for key, response := range taken {
		k.answers[key] = response
		delete(k.requests, key)
	}
	switch {
	case len(taken) == 0:
	case len(k.requests) == 0:
		close(k.answered)
		t.setStatus(k, taskWorking, k.message)
	default:
		t.setStatus(k, taskAsking, k.message)
	}
	return nil
}

// cancelTask answers tasks/cancel. The work may still run to the end.
func (t *tasks) cancelTask(client, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.findTask(client, id)
	if err == nil {
		k.stopped = k.stopped || k.status == taskWorking || k.status == taskAsking
		k.cancel()
	}
	return err
}

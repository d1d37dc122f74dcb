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

// TasksExtension is the identifier of the extension by which a server answers a call of a tool
// with the handle of a task, whose state and result the client asks for later. The library has
// only the older tasks of protocol 2025-11-25, whose handlers end with their request.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TasksNeeded returns the error of a call that is only served as a task.
func TasksNeeded() error {
	return Error{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Text: "the client has to declare the extension " + TasksExtension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{TasksExtension: struct{}{}}}},
	}
}

// takesTasks reports whether the client of a request takes tasks.
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

// pollEvery is the interval at which clients are told to ask for the state of a task.
const pollEvery = time.Second

// grace bounds the wait for answers and for work at the end of the server. Clients begin to kill a server
// about two seconds after closing its input.
const grace = 1800 * time.Millisecond

// taskLimits bound the tasks of a server, which take some 20 kB each once they have a result.
type taskLimits struct {
	// client and all are the most tasks of one client and of all clients at once.
	client, all int
	// life is the time that a task may take, and kept the time for which its result is kept.
	life, kept time.Duration
}

var defaultTaskLimits = taskLimits{client: 64, all: 512, life: time.Hour, kept: 10 * time.Minute}

// tasks has the calls that are answered by a handle. A client sees only its own.
type tasks struct {
	now    func() time.Time
	limits taskLimits
	self   mcp.Implementation
	// closing ends when the server begins to close.
	closing context.Context

	mu   sync.Mutex
	open map[string]*task // by id
	// followers are the streams that report tasks.
	followers map[*follower]bool
	// work counts the handlers at work.
	work sync.WaitGroup
}

// task is a call of a tool that may be answered by a handle. The lock of its tasks guards all below
// became.
type task struct {
	tasks  *tasks
	client string
	// cancel ends the work.
	cancel context.CancelFunc
	// became is closed when the call becomes a task.
	became chan struct{}

	// id is empty until then, and over is true once the work has ended.
	id   string
	over bool

	created time.Time
	changed time.Time
	ttl     time.Duration // from created on
	expiry  *time.Timer
	status  string
	message string // for people
	// stopped is true once the client has cancelled it.
	stopped bool

	// requests has the requests that the client has not answered yet, answers its answers. answered is
	// closed with the last answer.
	requests mcp.InputRequests
	answers  mcp.InputResponses
	answered chan struct{}

	result  *mcp.CallToolResult
	failure *mcp.JSONRPCErrorDetails
}

// notificationTasks is the method of the notifications.
const notificationTasks = "notifications/tasks"

// follower is a stream that reports the changes of some of its client's tasks.
type follower struct {
	tasks map[*task]bool
	tag   any // the id of the request that opened it
	to    chan<- mcp.JSONRPCNotification
}

// tell sends the state of a task. A stream that takes nothing misses it, because its client can ask.
func (f *follower) tell(k *task) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: notificationTasks}}
	n.Params.AdditionalFields = k.detail()
	n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: f.tag}
	select {
	case f.to <- n:
	default:
	}
}

// add makes a call at work a task. It returns false if its client, or all clients, have too many. The
// lock is held.
func (t *tasks) add(k *task, message string) bool {
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
	k.id, k.changed, k.ttl, k.status, k.message = rand.Text(), k.created, t.limits.life, taskWorking, message
	k.expiry = time.AfterFunc(k.ttl, func() { t.forget(k) })
	t.open[k.id] = k
	close(k.became)
	return true
}

// forget drops a task whose time is over, and ends its work.
func (t *tasks) forget(k *task) {
	k.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, k.id)
}

// find returns a task of a client. The lock is held.
func (t *tasks) find(client, id string) (*task, error) {
	k := t.open[id]
	if k == nil || k.client != client {
		return nil, Error{Code: mcp.INVALID_PARAMS, Text: "there is no such task, or it has expired"}
	}
	return k, nil
}

// change changes a task, and tells its followers. The lock is held.
func (t *tasks) change(k *task, status, message string) {
	k.status, k.message, k.changed = status, message, t.now()
	for f := range t.followers {
		if f.tasks[k] {
			f.tell(k)
		}
	}
}

// ask has the client of a task answer requests, and returns a channel that is closed with the last
// answer. Each round has keys of its own, because a key names a request for as long as the task lives.
func (t *tasks) ask(k *task, requests mcp.InputRequests) (answered <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k.requests, k.answers, k.answered = requests, mcp.InputResponses{}, make(chan struct{})
	t.change(k, taskAsking, k.message)
	return k.answered
}

// goOn returns the answers that have come, and withdraws the requests without one.
func (t *tasks) goOn(k *task) mcp.InputResponses {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := k.answers
	k.requests, k.answers = nil, nil
	t.change(k, taskWorking, k.message)
	return answers
}

// finish ends the work of a call. If it is a task, its result is kept for a while.
func (t *tasks) finish(k *task, result *mcp.CallToolResult, failure *mcp.JSONRPCErrorDetails) {
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
		t.change(k, taskCancelled, "cancelled by the client")
	case failure != nil:
		k.failure = failure
		t.change(k, taskFailed, failure.Message)
	default:
		k.result = result
		t.change(k, taskCompleted, "")
	}
}

// end returns when all work on tasks has ended. It cancels the work if it has not ended by itself when
// ctx is done.
func (t *tasks) end(ctx context.Context) {
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

// seed returns a task in the form of the answer to the call that made it.
func (k *task) seed() map[string]any {
	out := map[string]any{
		"taskId": k.id, "status": k.status, "createdAt": stamp(k.created), "lastUpdatedAt": stamp(k.changed),
		"ttlMs": k.ttl.Milliseconds(), "pollIntervalMs": pollEvery.Milliseconds(),
	}
	if k.message != "" {
		out["statusMessage"] = k.message
	}
	return out
}

// detail returns a task with its requests, result or error, if its state has them.
func (k *task) detail() map[string]any {
	out := k.seed()
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

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// get answers tasks/get.
func (t *tasks) get(client, id string) (map[string]any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.find(client, id)
	if err != nil {
		return nil, err
	}
	return k.detail(), nil
}

// update answers tasks/update. Answers to questions that are not open count for nothing.
func (t *tasks) update(client, id string, responses map[string]json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.find(client, id)
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
		t.change(k, taskWorking, k.message)
	default:
		t.change(k, taskAsking, k.message)
	}
	return nil
}

// stop answers tasks/cancel. The work decides whether it ends before it is done.
func (t *tasks) stop(client, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, err := t.find(client, id)
	if err == nil {
		k.stopped = k.stopped || k.status == taskWorking || k.status == taskAsking
		k.cancel()
	}
	return err
}

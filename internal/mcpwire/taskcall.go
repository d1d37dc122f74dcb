package mcpwire

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// taskCall is a call of a tool that may become a task.
type taskCall struct {
	tasks  *tasks
	client string
	// cancel ends the work.
	cancel context.CancelFunc
	// became is closed when the call becomes a task.
	became chan struct{}

	// The lock of tasks guards the rest. over is true once the work has ended.
	task *task
	over bool
}

type taskCallKey struct{}

// Detach makes the call at work a task if its client takes tasks: the client is answered at once and
// asks for the result later, and the work does not depend on the request any longer. message
// tells people about the work; a later call replaces it. Detach reports whether the call is a task.
func Detach(ctx context.Context, message string) bool {
	c, ok := ctx.Value(taskCallKey{}).(*taskCall)
	if !ok {
		return false
	}
	t := c.tasks
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case c.task == nil && c.over:
		return false
	case c.task == nil:
		if c.task = t.add(c.client, message, c.cancel); c.task == nil {
			return false
		}
		close(c.became)
	case c.task.status == taskWorking && c.task.message != message:
		t.change(c.task, taskWorking, message)
	}
	return true
}

// currentTask returns the task that the call at work has become, if any.
func currentTask(ctx context.Context) *task {
	c, ok := ctx.Value(taskCallKey{}).(*taskCall)
	if !ok {
		return nil
	}
	c.tasks.mu.Lock()
	defer c.tasks.mu.Unlock()
	return c.task
}

// end notes that the work has ended, and returns the task that the call has become, if any.
func (c *taskCall) end() *task {
	c.tasks.mu.Lock()
	defer c.tasks.mu.Unlock()
	c.over = true
	return c.task
}

// middleware lets calls become tasks.
func (t *tasks) middleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !server.IsModernRequest(ctx) || !takesTasks(Capabilities(ctx)) {
			return next(ctx, call)
		}
		// Until the call is a task, its work ends with the request.
		work, cancel := context.WithCancel(context.WithoutCancel(ctx))
		bound := context.AfterFunc(ctx, cancel)
		c := &taskCall{tasks: t, client: taskClient(ctx), cancel: cancel, became: make(chan struct{})}
		work = context.WithValue(work, taskCallKey{}, c)
		var result *mcp.CallToolResult
		var err error
		ended := make(chan struct{})
		t.work.Go(func() {
			defer cancel()
			result, err = next(work, call)
			k := c.end()
			close(ended)
			if k != nil {
				t.finish(k, result, failureOf(result, err))
			}
		})
		select {
		case <-ended:
		case <-c.became:
		}
		bound()
		k := currentTask(work)
		if k == nil {
			return result, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		return &mcp.CallToolResult{Result: mcp.Result{ResultType: "task"}, StructuredContent: handle(k.seed())}, nil
	}
}

// fulfilByTask puts the requests of a result to the client of a task, and returns the responses as far
// as they come in time, and before the work has to end.
func (w *Wire) fulfilByTask(ctx context.Context, k *task, result *mcp.CallToolResult, round int) mcp.InputResponses {
	requests, ids := mcp.InputRequests{}, map[string]string{}
	for id, request := range result.InputRequests {
		key := fmt.Sprintf("%d-%s", round, id)
		requests[key], ids[key] = request, id
	}
	all := w.tasks.ask(k, requests)
	limit := time.NewTimer(cmp.Or(w.formLimit(result.RequestState), w.tasks.limits.life))
	defer limit.Stop()
	select {
	case <-all:
	case <-limit.C:
	case <-ctx.Done():
	case <-w.closing.Done():
	}
	responses := mcp.InputResponses{}
	for key, response := range w.tasks.goOn(k) {
		responses[ids[key]] = response
	}
	return responses
}

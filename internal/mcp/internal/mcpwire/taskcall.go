package mcpwire

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// taskKey is the context key of the task that a call may become.
type taskKey struct{}

// Detach makes the call at work a task if the client takes tasks: the client is answered at once and asks for
// the result later, and the work no longer depends on the request. message describes the work for people; a
// later Detach replaces it. Detach reports whether the call is a task.
func Detach(ctx context.Context, message string) bool {
	k, ok := ctx.Value(taskKey{}).(*task)
	if !ok {
		return false
	}
	t := k.tasks
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case k.id == "":
		return t.makeTask(k, message)
	case k.status == taskWorking && k.message != message:
		t.setStatus(k, taskWorking, message)
	}
	return true
}

// currentTask returns the task of the call at work, or nil if it has not become one.
func currentTask(ctx context.Context) *task {
	k, ok := ctx.Value(taskKey{}).(*task)
	if !ok {
		return nil
	}
	k.tasks.mu.Lock()
	defer k.tasks.mu.Unlock()
	if k.id == "" {
		return nil
	}
	return k
}

// middleware runs calls so that they can become tasks.
func (t *tasks) middleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !server.IsModernRequest(ctx) || !takesTasks(Capabilities(ctx)) {
			return next(ctx, call)
		}
		// Until the call is a task, the work ends with the request.
		work, cancel := context.WithCancel(context.WithoutCancel(ctx))
		bound := context.AfterFunc(ctx, cancel)
		k := &task{tasks: t, client: taskClient(ctx), cancel: cancel, became: make(chan struct{})}
		work = context.WithValue(work, taskKey{}, k)
		var result *mcp.CallToolResult
		var err error
		ended := make(chan struct{})
		t.work.Go(func() {
			defer cancel()
			result, err = next(work, call)
			t.finishCall(k, result, failureOf(result, err))
			close(ended)
		})
		select {
		case <-ended:
		case <-k.became:
		}
		bound()
		if currentTask(work) == nil {
			return result, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		return &mcp.CallToolResult{Result: mcp.Result{ResultType: "task"}, StructuredContent: handle(k.handleFields())}, nil
	}
}

// askClient returns the responses of a task's client to the requests of a result, as far as they come in time.
func (t *tasks) askClient(ctx context.Context, k *task, result *mcp.CallToolResult, round int) mcp.InputResponses {
	requests, ids := mcp.InputRequests{}, map[string]string{}
	for id, request := range result.InputRequests {
		key := fmt.Sprintf("%d-%s", round, id)
		requests[key], ids[key] = request, id
	}
	all := t.requestInput(k, requests)
	select {
	case <-all:
	case <-ctx.Done():
	case <-t.closing.Done():
	}
	responses := mcp.InputResponses{}
	for key, response := range t.resume(k) {
		responses[ids[key]] = response
	}
	return responses
}

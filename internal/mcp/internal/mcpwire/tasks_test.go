package mcpwire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

// asClient returns the context of a request of a modern client that declares some extensions.
func asClient(t *testing.T, name string, extensions map[string]any) context.Context {
	t.Helper()
	return server.WithRequestProtocolInfo(httpguard.WithVisitor(t.Context(), httpguard.Visitor{}), &server.RequestProtocolInfo{
		Modern: true, ProtocolVersion: "2026-07-28", ClientInfo: &mcp.Implementation{Name: name, Version: "1"},
		ClientCapabilities: &mcp.ClientCapabilities{Extensions: extensions},
	})
}

var takes = map[string]any{TasksExtension: map[string]any{}}

func bridgeOf(w *Wire) bridge {
	refuse := func(_ context.Context, _ mcp.CallToolRequest, err error) *mcp.CallToolResult {
		return mcp.NewToolResultError(err.Error())
	}
	return bridge{waitMinute, refuse, w.tasks}
}

// calls returns the answer of a handler to a client that takes tasks: the seed of its task, if it
// became one, else the result.
func calls(t *testing.T, w *Wire, name string, work server.ToolHandlerFunc) (seed map[string]any, result *mcp.CallToolResult) {
	t.Helper()
	result, err := w.tasks.middleware(bridgeOf(w).middleware(work))(asClient(t, name, takes), mcp.CallToolRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := result.StructuredContent.(handle); ok {
		return h, result
	}
	return nil, result
}

// state asks for a task, and returns nil if there is none.
func state(t *testing.T, w *Wire, client, id string) map[string]any {
	t.Helper()
	detail, err := w.tasks.getTask(sessionlessKey(httpguard.Visitor{}, mcp.Implementation{Name: client, Version: "1"}), id)
	var known Error
	if err != nil && (!errors.As(err, &known) || known.Code != mcp.INVALID_PARAMS) {
		t.Fatal(err)
	}
	return detail
}

func keyOfClient(name string) string {
	return sessionlessKey(httpguard.Visitor{}, mcp.Implementation{Name: name, Version: "1"})
}

// sleeper works for a time as a task, and heeds its end.
func sleeper(d time.Duration) server.ToolHandlerFunc {
	return func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !Detach(ctx, "asleep") {
			return mcp.NewToolResultText("awake at once"), nil
		}
		select {
		case <-time.After(d):
			return mcp.NewToolResultText("slept"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TestTaskLives follows a task from the call to the end of the time for which its result is kept.
func TestTaskLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWire()
		seed, _ := calls(t, w, "a", sleeper(time.Minute))
		id := seed["taskId"].(string)
		if seed["status"] != taskWorking || seed["ttlMs"] != time.Hour.Milliseconds() || seed["pollIntervalMs"] != int64(1000) || seed["statusMessage"] != "asleep" {
			t.Errorf("it begins as %v", seed)
		}
		time.Sleep(59 * time.Second)
		if got := state(t, w, "a", id); got["status"] != taskWorking || got["result"] != nil {
			t.Errorf("at work it is %v", got)
		}
		time.Sleep(2 * time.Second)
		got := state(t, w, "a", id)
		if got["status"] != taskCompleted || got["ttlMs"] != (11*time.Minute).Milliseconds() || got["error"] != nil || got["statusMessage"] != nil {
			t.Errorf("at its end it is %v", got)
		}
		if text := mcp.GetTextFromContent(got["result"].(*mcp.CallToolResult).Content[0]); text != "slept" {
			t.Errorf("its result is %q", text)
		}
		time.Sleep(9 * time.Minute)
		if state(t, w, "a", id) == nil {
			t.Error("it was gone before its time")
		}
		time.Sleep(time.Minute)
		if got := state(t, w, "a", id); got != nil {
			t.Errorf("nobody has forgotten %v", got)
		}

		// A task that takes too long is ended.
		ended := false
		seed, _ = calls(t, w, "a", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			Detach(ctx, "")
			<-ctx.Done()
			ended = true
			return nil, ctx.Err()
		})
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		if !ended || state(t, w, "a", seed["taskId"].(string)) != nil {
			t.Error("a task outlives its time")
		}
	})
}

// TestOutcomesOfTasks checks states and errors against those of the extension.
func TestOutcomesOfTasks(t *testing.T) {
	coded := Error{Code: -32050, Text: "out of paper", Data: "tray 2"}
	for name, tt := range map[string]struct {
		work   server.ToolHandlerFunc
		cancel bool
		status string
		code   int
	}{
		"an error of the tool": {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("no"), nil
		}, false, taskCompleted, 0},
		"an error of the protocol":     {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, coded }, false, taskFailed, -32050},
		"any other error":              {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New("x") }, false, taskFailed, mcp.INTERNAL_ERROR},
		"no result":                    {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }, false, taskFailed, mcp.INTERNAL_ERROR},
		"cancelled, and it heeds that": {sleeper(time.Hour / 2), true, taskCancelled, 0},
		"cancelled, and it is not done": {func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return mcp.NewToolResultError("not done"), nil
		}, true, taskCancelled, 0},
		"cancelled, but it is done": {func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return mcp.NewToolResultText("done"), nil
		}, true, taskCompleted, 0},
		"cancelled while it asks": {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return server.NewInputRequestBuilder("").Roots("r").ToolResult(), nil
		}, true, taskCancelled, 0},
		"asks without end": {func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return server.NewInputRequestBuilder("").Roots("r").ToolResult(), nil
		}, false, taskFailed, mcp.INTERNAL_ERROR},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := testWire()
				seed, _ := calls(t, w, "a", func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					if !Detach(ctx, "") {
						t.Error("it is no task")
					}
					return tt.work(ctx, call)
				})
				id := seed["taskId"].(string)
				if tt.cancel {
					synctest.Wait()
					if err := w.tasks.cancelTask(keyOfClient("a"), id); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep((maxRounds + 1) * time.Minute) // longer than all its questions may wait
				got := state(t, w, "a", id)
				if got["status"] != tt.status {
					t.Fatalf("it ends as %v", got)
				}
				if failure, _ := got["error"].(*mcp.JSONRPCErrorDetails); (failure != nil) != (tt.code != 0) || failure != nil && failure.Code != tt.code {
					t.Errorf("its error is %v", failure)
				}
				if (got["result"] != nil) != (tt.status == taskCompleted) {
					t.Errorf("its result is %v", got["result"])
				}
				if err := w.tasks.cancelTask(keyOfClient("a"), id); err != nil || state(t, w, "a", id)["status"] != tt.status {
					t.Error("one that has ended was changed by being cancelled:", err)
				}
			})
		})
	}
}

// TestOnlyCallsThatMayBecomeTasks checks that other calls are answered when they have ended.
func TestOnlyCallsThatMayBecomeTasks(t *testing.T) {
	w := testWire()
	page := httpguard.WithVisitor(asClient(t, "a", takes), httpguard.Visitor{Page: true, Origin: "http://localhost:1"})
	legacy := server.WithRequestProtocolInfo(t.Context(), &server.RequestProtocolInfo{ProtocolVersion: "2025-11-25"})
	for name, ctx := range map[string]context.Context{"not declared": asClient(t, "a", nil), "of a page": page, "of an older protocol": legacy} {
		result, err := w.tasks.middleware(sleeper(time.Hour))(ctx, mcp.CallToolRequest{})
		if err != nil || mcp.GetTextFromContent(result.Content[0]) != "awake at once" {
			t.Errorf("%s: %v, %v", name, result, err)
		}
	}
	if seed, result := calls(t, w, "a", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("at once"), nil
	}); seed != nil || mcp.GetTextFromContent(result.Content[0]) != "at once" {
		t.Errorf("a quick call: %v, %v", seed, result)
	}
	if len(w.tasks.open) != 0 {
		t.Errorf("there are %d tasks", len(w.tasks.open))
	}
}

// TestTasksOfOthers checks that a client cannot see, answer or cancel a task of another, nor notice it.
func TestTasksOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWire()
		seed, _ := calls(t, w, "a", sleeper(time.Minute))
		id := seed["taskId"].(string)
		_, unknown := w.tasks.getTask(keyOfClient("b"), "nobody")
		_, get := w.tasks.getTask(keyOfClient("b"), id)
		for what, err := range map[string]error{"get": get, "update": w.tasks.updateTask(keyOfClient("b"), id, nil), "cancel": w.tasks.cancelTask(keyOfClient("b"), id)} {
			if err == nil || err.Error() != unknown.Error() {
				t.Errorf("%s: %v, want %v", what, err, unknown)
			}
		}
		time.Sleep(2 * time.Minute)
		if got := state(t, w, "a", id); got["status"] != taskCompleted {
			t.Errorf("another client ended it: %v", got)
		}
	})
}

// TestTaskBounds checks that calls beyond the bounds are answered when they have ended, and that no task
// is given up for others.
func TestTaskBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWire()
		w.tasks.limits.client, w.tasks.limits.all = 3, 5
		made := map[string]int{}
		for _, client := range []string{"a", "a", "a", "a", "b", "b", "b", "c"} {
			if seed, _ := calls(t, w, client, sleeper(time.Minute)); seed != nil {
				made[client]++
			}
		}
		if fmt.Sprint(made) != "map[a:3 b:2]" {
			t.Errorf("tasks: %v", made)
		}
		time.Sleep(2 * time.Minute)
		if seed, _ := calls(t, w, "a", sleeper(time.Minute)); seed != nil {
			t.Error("a result that may still be asked for was given up")
		}
		time.Sleep(10 * time.Minute)
		if seed, _ := calls(t, w, "a", sleeper(time.Minute)); seed == nil || len(w.tasks.open) != 1 {
			t.Errorf("there is no room: %d", len(w.tasks.open))
		}
		w.Close()
		if seed, _ := calls(t, w, "a", sleeper(time.Minute)); seed != nil {
			t.Error("a task begins when the server ends")
		}
		time.Sleep(time.Hour)
	})
}

// TestTaskAsks has a task ask its client, which answers piece by piece.
func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWire()
		var got []string
		seed, _ := calls(t, w, "a", func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			Detach(ctx, "asks")
			said := func(id string) string {
				answer := server.ElicitationResponse(call.Params.InputResponses, id)
				if answer == nil {
					return "nothing"
				}
				return fmt.Sprintf("%s %v", answer.Action, answer.Content)
			}
			got = append(got, call.Params.RequestState+": "+said("one")+", "+said("two"))
			if len(got) == 3 {
				return mcp.NewToolResultText("done"), nil
			}
			form := mcp.ElicitationParams{Message: "?", RequestedSchema: map[string]any{"type": "object"}}
			return server.NewInputRequestBuilder(fmt.Sprint("state ", len(got))).Elicit("one", form).Elicit("two", form).ToolResult(), nil
		})
		id := seed["taskId"].(string)
		asked := func() string {
			synctest.Wait()
			requests, _ := state(t, w, "a", id)["inputRequests"].(mcp.InputRequests)
			keys := []string{}
			for key := range requests {
				keys = append(keys, key)
			}
			return fmt.Sprint(len(keys), strings.Contains(fmt.Sprint(keys), "one"), strings.Contains(fmt.Sprint(keys), "two"))
		}
		update := func(responses string) error {
			var raw map[string]json.RawMessage
			if err := json.Unmarshal([]byte(responses), &raw); err != nil {
				t.Fatal(err)
			}
			return w.tasks.updateTask(keyOfClient("a"), id, raw)
		}
		const yes = `{"action":"accept","content":{"n":1}}`
		for _, step := range []struct {
			responses string
			refused   bool
			asked     string
		}{
			{`{}`, false, "2 true true"},
			{`{"one":` + yes + `,"2-one":` + yes + `}`, false, "2 true true"},   // answers to other questions
			{`{"1-one":` + yes + `,"1-two":"accept"}`, true, "2 true true"},     // one is of no use, so none counts
			{`{"1-one":` + yes + `}`, false, "1 false true"},                    // a part
			{`{"1-one":{"action":"decline"}}`, false, "1 false true"},           // answered before
			{`{"1-two":{"action":"cancel"}}`, false, "2 true true"},             // the next round
			{`{"1-one":` + yes + `,"1-two":` + yes + `}`, false, "2 true true"}, // answers of the round before
		} {
			if err := update(step.responses); (err != nil) != step.refused || asked() != step.asked {
				t.Errorf("%s: %v, asked %s, want %s", step.responses, err, asked(), step.asked)
			}
		}
		if status := state(t, w, "a", id)["status"]; status != taskAsking {
			t.Errorf("it is %v", status)
		}
		time.Sleep(time.Minute + time.Second) // the limit of a form: the work goes on without the answers
		want := []string{": nothing, nothing", "state 1: accept map[n:1], cancel <nil>", "state 2: nothing, nothing"}
		if end := state(t, w, "a", id); end["status"] != taskCompleted || !slices.Equal(got, want) {
			t.Errorf("it ends as %v with %q", end, got)
		}
	})
}

// TestTasksEndWithTheirServer checks that work may end by itself until the time of the server is over.
func TestTasksEndWithTheirServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWire()
		long, _ := calls(t, w, "a", sleeper(time.Hour/2))
		short, _ := calls(t, w, "a", sleeper(time.Second))
		w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		w.tasks.endWork(ctx)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it waited for %v", took)
		}
		synctest.Wait()
		if status := state(t, w, "a", short["taskId"].(string))["status"]; status != taskCompleted {
			t.Errorf("what had the time to end is %v", status)
		}
		if status := state(t, w, "a", long["taskId"].(string))["status"]; status != taskFailed {
			t.Errorf("what had not is %v", status)
		}
	})
}

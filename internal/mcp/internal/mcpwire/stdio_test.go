package mcpwire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// onStdio serves a wire on stdio until the test ends, and returns both ends of the client.
func onStdio(t *testing.T, w *Wire) (in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	read, in := io.Pipe()
	lines, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- w.ServeStdio(context.Background(), read, write)
		_ = write.Close()
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, lines)
		if err := <-done; err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("serving ended with %v", err)
		}
	})
	return in, bufio.NewScanner(lines)
}

// next returns the next message of the server.
func next(t *testing.T, out *bufio.Scanner) map[string]any {
	t.Helper()
	if !out.Scan() {
		t.Fatalf("the output ended: %v", out.Err())
	}
	var m map[string]any
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if m["jsonrpc"] != "2.0" {
		t.Errorf("not of JSON-RPC 2.0: %s", out.Bytes())
	}
	return m
}

func send(t *testing.T, in io.Writer, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
		t.Fatal(err)
	}
}

const (
	hello      = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{%s},"clientInfo":{"name":"x","version":"1"}}}`
	callOfTool = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`
)

// TestEveryRequestIsAnswered ends the input right behind the last of many requests, which has no
// line end; the library alone drops some of them.
func TestEveryRequestIsAnswered(t *testing.T) {
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("slow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), nil
	})
	in, out := onStdio(t, w)
	const calls = 100
	go func() {
		_, _ = fmt.Fprintf(in, hello+"\n", "")
		for n := 1; n <= calls; n++ {
			_, _ = fmt.Fprintf(in, callOfTool+strings.Repeat("\n", min(calls-n, 1)), n, "slow")
		}
		_ = in.Close()
	}()
	answered := map[any]bool{}
	for range calls + 1 {
		m := next(t, out)
		if m["result"] == nil || answered[m["id"]] {
			t.Errorf("answered with %v, want one result for each request", m)
		}
		answered[m["id"]] = true
	}
	if len(answered) != calls+1 || out.Scan() {
		t.Errorf("%d of %d requests answered, then %s", len(answered), calls+1, out.Bytes())
	}
}

// TestProgressPrecedesTheAnswer sends progress from a handler, which the library would write
// behind the answer at times.
func TestProgressPrecedesTheAnswer(t *testing.T) {
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("works"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), SendProgress(ctx, map[string]any{"progressToken": "t", "progress": 1})
	})
	in, out := onStdio(t, w)
	send(t, in, hello, "")
	next(t, out)
	for n := 1; n <= 20; n++ {
		send(t, in, callOfTool, n, "works")
		if m := next(t, out); m["method"] != "notifications/progress" {
			t.Fatalf("call %d began with %v, want its progress", n, m)
		}
		if m := next(t, out); m["id"] != float64(n) {
			t.Fatalf("call %d ended with %v, want its answer", n, m)
		}
	}
	if err := SendProgress(t.Context(), nil); err == nil {
		t.Error("progress is sent where there is no client")
	}
}

// TestErrorsHaveTheirCodes checks that an Error keeps its code and data, and that other errors keep
// their text.
func TestErrorsHaveTheirCodes(t *testing.T) {
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("known"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, Error{Code: mcp.INVALID_PARAMS, Data: map[string]any{"uri": "x"}, Text: "no such thing"}
	})
	w.MCP.AddTool(mcp.NewTool("other"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("out of paper")
	})
	w.MCP.AddTool(mcp.NewTool("bug"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("out of luck")
	})
	in, out := onStdio(t, w)
	send(t, in, hello, "")
	next(t, out)
	for n, c := range []struct{ tool, want string }{
		{"known", `{"code":-32602,"data":{"uri":"x"},"message":"no such thing"}`},
		{"other", `{"code":-32603,"message":"out of paper"}`},
	} {
		send(t, in, callOfTool, n+1, c.tool)
		m := next(t, out)
		if got, err := json.Marshal(m["error"]); err != nil || string(got) != c.want {
			t.Errorf("%s: error %s, %v, want %s", c.tool, got, err, c.want)
		}
	}
	send(t, in, callOfTool, 9, "bug")
	if m := next(t, out); !strings.Contains(fmt.Sprint(m["result"]), "out of luck") || !strings.Contains(fmt.Sprint(m["result"]), "isError:true") {
		t.Errorf("a panic became %v, want a refused call", m)
	}
}

// asking handles a call: it asks for a form once, and reports the answer.
func asking(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if call.Params.RequestState == "" {
		return server.NewInputRequestBuilder("asked").Elicit("form", mcp.ElicitationParams{
			Message: "well?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}).Roots("roots").ToolResult(), nil
	}
	answer, roots := server.ElicitationResponse(call.Params.InputResponses, "form"), server.RootsResponse(call.Params.InputResponses, "roots")
	text := call.Params.RequestState
	if answer != nil {
		text += " " + string(answer.Action)
	}
	if roots != nil && len(roots.Roots) > 0 {
		text += " " + roots.Roots[0].URI
	}
	return mcp.NewToolResultText(text), ctx.Err()
}

// TestLegacyClientsAreAsked has a handler ask in the modern style, over a legacy client, which
// answers, answers with errors, or goes.
func TestLegacyClientsAreAsked(t *testing.T) {
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("asks"), asking)
	in, out := onStdio(t, w)
	send(t, in, hello, `"elicitation":{},"roots":{}`)
	next(t, out)
	// exchange calls the tool, answers both questions, and returns the result's text.
	exchange := func(id int, form, roots string) string {
		send(t, in, callOfTool, id, "asks")
		for {
			switch m := next(t, out); m["method"] {
			case "elicitation/create":
				send(t, in, `{"jsonrpc":"2.0","id":%q,%s}`, m["id"], form)
			case "roots/list":
				send(t, in, `{"jsonrpc":"2.0","id":%v,%s}`, m["id"], roots)
			default:
				return fmt.Sprint(m["result"])
			}
		}
	}
	const failed = `"error":{"code":-1,"message":"no"}`
	for n, c := range []struct{ form, roots, want string }{
		{`"result":{"action":"accept","content":{}}`, `"result":{"roots":[{"uri":"file:///home/ana"}]}`, "asked accept file:///home/ana"},
		{`"result":{"action":"decline"}`, failed, "asked decline"},
		{failed, failed, "asked"},
	} {
		if got := exchange(n+1, c.form, c.roots); !strings.Contains(got, "text:"+c.want+" ") && !strings.Contains(got, "text:"+c.want+"]") {
			t.Errorf("answers %s and %s: %s, want the text %q", c.form, c.roots, got, c.want)
		}
	}
	// A form that is open when the server closes decides nothing.
	send(t, in, callOfTool, 9, "asks")
	for open := false; !open; {
		m := next(t, out)
		open = m["method"] == "elicitation/create"
		if m["method"] == "roots/list" {
			send(t, in, `{"jsonrpc":"2.0","id":%v,%s}`, m["id"], failed)
		}
	}
	w.Close()
	for {
		m := next(t, out)
		if m["method"] == "roots/list" {
			send(t, in, `{"jsonrpc":"2.0","id":%v,%s}`, m["id"], failed)
		}
		if m["method"] != nil {
			continue
		}
		if got := fmt.Sprint(m["result"]); !strings.Contains(got, "before the person has answered") {
			t.Errorf("after closing: %s, want the call refused", got)
		}
		return
	}
}

// TestRest checks that memory is given back once behind calls of tools, when there have been none for a time.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int32
		f := newStdioFilter(strings.NewReader(""), io.Discard, testWire())
		f.ctx = t.Context()
		f.resting = time.AfterFunc(rest, func() { given.Add(1) })
		go f.serveCalls(t.Context())
		for n := range 3 {
			f.queue <- f.newCall(message{ID: fmt.Append(nil, n)}, fmt.Appendf(nil, callOfTool, n, "missing"))
			time.Sleep(rest - 1)
			synctest.Wait()
			if given.Load() != 0 {
				t.Errorf("memory was given back behind call %d of 3", n+1)
			}
		}
		time.Sleep(3 * rest)
		synctest.Wait()
		if n := given.Load(); n != 1 {
			t.Errorf("memory was given back %d times, not once", n)
		}
	})
}

// TestCallCancelledAtOnce checks that a cancellation which comes with its call reaches it, before a worker has it.
func TestCallCancelledAtOnce(t *testing.T) {
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("waits"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
			return mcp.NewToolResultText("cancelled"), nil
		case <-time.After(20 * time.Second):
			return mcp.NewToolResultText("waited"), nil
		}
	})
	in, out := onStdio(t, w)
	send(t, in, hello, "")
	next(t, out)
	for n := range 20 {
		for id, named := range map[string]string{fmt.Sprint(n + 1): fmt.Sprint(n + 1), fmt.Sprintf(`"%d"`, n+1): fmt.Sprintf(`"%d"`, n+1)} {
			send(t, in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"waits"}}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id, named)
			if got := fmt.Sprint(next(t, out)["result"]); !strings.Contains(got, "cancelled") {
				t.Fatalf("call %s: %s", id, got)
			}
		}
	}
}

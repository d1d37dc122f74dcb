package sdkhttp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// desk is a server with one client.
type desk struct {
	t      testing.TB
	h      *Handler
	url    string
	client *sdk.Client
	model  *fake.Provider
	stop   func()
	folder string
}

// folder returns a project with an installation of the method.
func folder(t testing.TB) string {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	a, err := txtar.ParseFile(filepath.Join("..", "..", "method", "catalog", "testdata", "layouts", "v4.txtar"))
	if err == nil {
		err = txtar.Write(a, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// serveIn serves the conversations of a project. stop ends the server as the program does.
func serveIn(t testing.TB, dir string, o Options, steps ...fake.Step) *desk {
	t.Helper()
	return serveTuned(t, dir, o, nil, steps...)
}

// serveTuned is serveIn with a handler that a function has changed.
func serveTuned(t testing.TB, dir string, o Options, tune func(*Handler), steps ...fake.Step) *desk {
	t.Helper()
	d := &desk{t: t, model: fake.New(steps...), folder: dir}
	var err error
	if d.client, err = sdk.New(sdk.Options{Provider: d.model, Prices: fake.Prices(), Project: dir}); err != nil {
		t.Fatal(err)
	}
	o.Client, o.Log = d.client, slog.New(slog.DiscardHandler)
	d.h = New(o)
	if tune != nil {
		tune(d.h)
	}
	ts := httptest.NewServer(d.h)
	d.url = ts.URL
	stopped := false
	d.stop = func() {
		if stopped {
			return
		}
		stopped = true
		d.h.Close(context.Background())
		ended := make(chan struct{})
		go func() {
			ts.Close() // which waits for the requests
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("the handler does not end")
		}
		d.client.Close()
	}
	t.Cleanup(d.stop)
	return d
}

func serve(t testing.TB, o Options, steps ...fake.Step) *desk {
	t.Helper()
	return serveIn(t, folder(t), o, steps...)
}

func write(path, content string) fake.Step {
	return fake.Call("write_file", map[string]string{"file_path": path, "content": content})
}

func ask(question string) fake.Step {
	return fake.Call("ask_user", map[string]any{"question": question})
}

// holdStep has a call of the model wait until release is called.
func holdStep(step fake.Step) (waiting fake.Step, begun chan struct{}, release func()) {
	begun, free := make(chan struct{}), make(chan struct{})
	step.Before = func(ctx context.Context, _ fakeRequest) error {
		close(begun)
		select {
		case <-free:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return step, begun, func() { close(free) }
}

// request sends a request, with headers in pairs.
func (d *desk) request(method, path, body string, headers ...string) *http.Response {
	d.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, content)
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(headers); n += 2 {
		if headers[n] == "Host" {
			r.Host = headers[n+1]
		}
		r.Header.Set(headers[n], headers[n+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// call returns the body of a reply.
func (d *desk) call(method, path, body string, headers ...string) (int, map[string]any) {
	d.t.Helper()
	response := d.request(method, path, body, headers...)
	if response.Header.Get("X-Content-Type-Options") != "nosniff" {
		d.t.Errorf("%s %s: a browser may guess the type", method, path)
	}
	var reply map[string]any
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, reply
}

// ok makes a call that has to succeed.
func (d *desk) ok(method, path, body string, headers ...string) map[string]any {
	d.t.Helper()
	status, reply := d.call(method, path, body, headers...)
	if status >= 300 {
		d.t.Fatalf("%s %s: %d %v", method, path, status, reply)
	}
	return reply
}

// begin starts a conversation, and returns its path.
func (d *desk) begin(message string) string {
	d.t.Helper()
	body, _ := json.Marshal(map[string]string{"agentId": "pm", "message": message})
	reply := d.ok("POST", "/api/conversations", string(body))
	if reply["status"] != "processing" {
		d.t.Fatalf("started as %v", reply)
	}
	return "/api/conversations/" + text(reply["conversationId"])
}

// reader reads a stream of server-sent events.
type reader struct {
	t     testing.TB
	lines *bufio.Scanner
}

type sent struct {
	id, name string
	data     map[string]any
}

func (d *desk) stream(path string, headers ...string) *reader {
	d.t.Helper()
	response := d.request("GET", path, "", headers...)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		d.t.Fatalf("the stream: %d %s", response.StatusCode, response.Header)
	}
	r := &reader{t: d.t, lines: bufio.NewScanner(response.Body)}
	r.lines.Buffer(nil, 8<<20)
	return r
}

// next returns the next event; ok is false at the end.
func (r *reader) next() (e sent, ok bool) {
	r.t.Helper()
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				r.t.Fatal(err)
			}
		case "":
			if e.name != "" {
				return e, true
			}
		}
	}
	return e, false
}

// until reads events up to the first of a name.
func (r *reader) until(name string) (all []sent) {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended before %q: %v", name, all)
		}
		if all = append(all, e); e.name == name {
			return all
		}
	}
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

func failureIn(reply map[string]any) map[string]any {
	f, _ := reply["error"].(map[string]any)
	return f
}

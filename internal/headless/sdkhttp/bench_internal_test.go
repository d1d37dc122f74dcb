package sdkhttp

import (
	"bufio"
	"bytes"
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
	d := &desk{t: t, model: fake.New(steps...)}
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

// call returns the body of a reply, which has to be as the description of the API has it.
func (d *desk) call(method, path, body string, headers ...string) (int, map[string]any) {
	d.t.Helper()
	response := d.request(method, path, body, headers...)
	data, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, checkReply(d.t, method, path, response, data)
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
	return readerOf(d.t, response)
}

func readerOf(t testing.TB, response *http.Response) *reader {
	r := &reader{t: t, lines: bufio.NewScanner(response.Body)}
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
			if e.name != "result" && e.name != "error" {
				api(r.t).check(r.t, "event "+e.name, api(r.t).Components.Schemas["Event"], e.data)
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

// schema is the part of JSON Schema that the description uses.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Enum       []string          `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

type content struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema schema }
}

type description struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Responses map[string]content
		Schemas   map[string]schema
	}
}

func api(t testing.TB) *description {
	t.Helper()
	var d description
	if err := json.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// find returns the template of a path: the one with the most literal parts.
func (d *description) find(path string) (best string) {
	given, most := strings.Split(path, "/"), -1
	for template := range d.Paths {
		parts := strings.Split(template, "/")
		if len(parts) != len(given) && (len(given) < len(parts) || !strings.HasSuffix(template, "/{path}")) {
			continue
		}
		same := 0
		for n, part := range parts {
			switch {
			case part == given[n]:
				same++
			case !strings.HasPrefix(part, "{"):
				same = -len(parts)
			}
		}
		if same > most {
			best, most = template, same
		}
	}
	return best
}

// checkReply compares a reply with the description.
func checkReply(t testing.TB, method, path string, r *http.Response, body []byte) map[string]any {
	t.Helper()
	d := api(t)
	path, _, _ = strings.Cut(path, "?")
	var operation struct{ Responses map[string]content }
	template := d.find(path)
	raw := d.Paths[template][strings.ToLower(method)]
	if raw != nil {
		if err := json.Unmarshal(raw, &operation); err != nil {
			t.Fatal(err)
		}
	}
	status := r.Status[:3]
	want, described := operation.Responses[status]
	if raw == nil { // the path or its method is unknown
		want, described = d.Components.Responses["E404"], true
	}
	if !described && r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%s %s: the status %s is not described", method, template, status)
	}
	if want.Ref != "" {
		want = d.Components.Responses[want.Ref[strings.LastIndexByte(want.Ref, '/')+1:]]
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: a browser may guess the type", method, path)
	}
	if len(want.Content) > 0 && raw != nil {
		if _, ok := want.Content[kind]; !ok {
			t.Errorf("%s %s: %s with the type %q", method, path, status, kind)
		}
	}
	if kind != "application/json" {
		return map[string]any{"text": string(body)}
	}
	var reply map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(&reply); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, body)
	}
	d.check(t, method+" "+path+" "+status, want.Content[kind].Schema, reply)
	return reply
}

// check compares a value with a schema, and requires that the schema has all its keys.
func (d *description) check(t testing.TB, at string, s schema, value any) {
	t.Helper()
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	kind := map[bool]string{true: "null"}[value == nil]
	switch value := value.(type) {
	case string:
		kind = "string"
		for n, allowed := range s.Enum {
			if allowed == value {
				kind = ""
			} else if n == len(s.Enum)-1 && kind != "" {
				t.Errorf("%s: %q is not one of %v", at, value, s.Enum)
			}
		}
	case bool:
		kind = "boolean"
	case float64:
		kind = "number"
	case []any:
		kind = "array"
		for _, item := range value {
			if s.Items != nil {
				d.check(t, at+"[]", *s.Items, item)
			}
		}
	case map[string]any:
		kind = "object"
		for _, key := range s.Required {
			if _, ok := value[key]; !ok {
				t.Errorf("%s: the key %q is missing in %v", at, key, value)
			}
		}
		for key, inner := range value {
			property, known := s.Properties[key]
			if !known && s.Properties != nil {
				t.Errorf("%s: the key %q is not described", at, key)
			}
			d.check(t, at+"."+key, property, inner)
		}
	}
	wanted, _ := json.Marshal(s.Type)
	if s.Type != nil && kind != "" && !strings.Contains(string(wanted), `"`+kind+`"`) && (kind != "number" || !strings.Contains(string(wanted), "integer")) {
		t.Errorf("%s: %v is of the type %s, not %s", at, value, kind, wanted)
	}
}

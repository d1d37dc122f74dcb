package sdktest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// exchange is a call to the real server that the tests of its library recorded.
type exchange struct {
	Request struct {
		Body string `yaml:"body"`
		URL  string `yaml:"url"`
	} `yaml:"request"`
	Response struct {
		Body    string              `yaml:"body"`
		Headers map[string][]string `yaml:"headers"`
	} `yaml:"response"`
}

// readRecorded reads files of the library's module in the module cache.
func readRecorded(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/anthropics/anthropic-sdk-go").Output()
	if err != nil || strings.TrimSpace(string(dir)) == "" {
		t.Skipf("SKIPPED: the recorded exchanges are in the module cache, which go list does not name here: %v", err)
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(pattern)))
	if err != nil || len(names) == 0 {
		t.Fatalf("the library's module has no %s: %v", pattern, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

func exchanges(t *testing.T) map[string][]exchange {
	t.Helper()
	all := map[string][]exchange{}
	for name, data := range readRecorded(t, "toolrunner/testdata/cassettes/*.yaml") {
		var file struct {
			Interactions []exchange `yaml:"interactions"`
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		all[name] = file.Interactions
	}
	return all
}

// TestRecordedRequests: requests that the real server took, ours takes.
func TestRecordedRequests(t *testing.T) {
	n := 0
	for name, all := range exchanges(t) {
		for i, e := range all {
			var form struct{ Model string }
			if err := json.Unmarshal([]byte(e.Request.Body), &form); err != nil {
				t.Fatal(err)
			}
			s := sdktest.New(t, sdktest.Text("ok"))
			s.Models = []string{form.Model}
			if status, text := post(t, s.URL+"/v1/messages", e.Request.Body); status != 200 {
				t.Errorf("%s %d: %d %s", name, i, status, text)
			}
			n++
		}
	}
	if n < 15 {
		t.Errorf("%d requests; want those of all files", n)
	}
}

// replay answers with a recorded stream.
func replay(t *testing.T, stream string) (*provider.Response, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Request-Id", "req_recorded")
		_, _ = io.WriteString(w, stream)
	}))
	defer server.Close()
	c, err := anthropic.New(anthropic.Options{Model: "m", APIKey: "k", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	got, err := c.Send(t.Context(), provider.Request{MaxTokens: 10, Messages: []provider.Message{user("x")}}, func(d provider.Delta) { said += d.Text })
	if err != nil {
		t.Fatal(err)
	}
	return got, said
}

// plain is a stream as read by nothing but a JSON parser.
type plain struct {
	text, input, thought, stop, id string
	in, out                        int64
}

func read(t *testing.T, stream string) (p plain) {
	t.Helper()
	for line := range strings.SplitSeq(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Message struct {
				ID    string
				Usage struct {
					In int64 `json:"input_tokens"`
				}
			}
			ContentBlock struct{ ID string } `json:"content_block"`
			Delta        struct {
				Text, Thinking, Signature string
				PartialJSON               string `json:"partial_json"`
				StopReason                string `json:"stop_reason"`
			}
			Usage struct {
				Out int64 `json:"output_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		p.text += e.Delta.Text
		p.input += e.Delta.PartialJSON
		p.thought += e.Delta.Thinking + e.Delta.Signature
		p.stop += e.Delta.StopReason
		p.id += e.ContentBlock.ID
		p.in += e.Message.Usage.In
		p.out += e.Usage.Out
	}
	return p
}

func TestRecordedStreams(t *testing.T) {
	streams := map[string]string{}
	for name, data := range readRecorded(t, "lib/betafallback/testdata/fallbackstream/*.sse") {
		streams[name] = string(data)
	}
	for name, all := range exchanges(t) {
		for i, e := range all {
			if kind := e.Response.Headers["Content-Type"]; len(kind) == 1 && strings.HasPrefix(kind[0], "text/event-stream") {
				streams[name+string(rune('0'+i))] = e.Response.Body
			}
		}
	}
	if len(streams) < 5 {
		t.Fatalf("%d streams; want those of the library", len(streams))
	}
	for name, stream := range streams {
		want := read(t, stream)
		got, said := replay(t, stream)
		is := plain{text: got.Message.Text(), stop: string(got.Stop), in: got.Usage.Input, out: got.Usage.Output}
		for _, b := range got.Message.Blocks {
			switch b.Type {
			case provider.ToolUse:
				is.input += b.Input
				is.id += b.ID
			case provider.Opaque:
				var raw struct{ Thinking, Signature string }
				if err := json.Unmarshal(b.Raw, &raw); err != nil {
					t.Fatal(err)
				}
				is.thought += raw.Thinking + raw.Signature
			}
		}
		if is != want || said != want.text || got.RequestID != "req_recorded" {
			t.Errorf("%s: %+v, under way %q; want %+v", name, is, said, want)
		}
	}
}

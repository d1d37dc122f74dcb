package sdktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

const secret = "sk-test-0123456789abcdef"

// subject is a provider in front of a scripted server.
type subject struct {
	*sdktest.Server
	provider.Provider
	waits  []time.Duration
	deltas []provider.Delta
}

// setup has the options that differ between the subjects of a test.
type setup struct {
	idle    time.Duration
	retries *int
	wait    func(context.Context, time.Duration) error
}

// everywhere runs a test with each provider, in each dialect.
func everywhere(t *testing.T, run func(*testing.T, func(setup, ...sdktest.Step) *subject)) {
	for name, dialect := range map[string]sdktest.Dialect{
		"anthropic": {}, "OpenAI": sdktest.OpenAI, "Ollama": sdktest.Ollama, "vLLM": sdktest.VLLM, "LMStudio": sdktest.LMStudio,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(with setup, steps ...sdktest.Step) *subject {
				s := &subject{Server: sdktest.New(t, steps...)}
				s.Key, s.Dialect = secret, dialect
				if with.wait == nil {
					with.wait = func(ctx context.Context, d time.Duration) error {
						s.waits = append(s.waits, d)
						return ctx.Err()
					}
				}
				var err error
				if name == "anthropic" {
					s.Provider, err = anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: secret, BaseURL: s.URL, Idle: with.idle, MaxRetries: with.retries, Wait: with.wait})
				} else {
					s.Provider, err = openai.New(openai.Options{Model: "gpt-test", APIKey: secret, BaseURL: s.ChatURL, Idle: with.idle, MaxRetries: with.retries, Wait: with.wait})
				}
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func (s *subject) send(ctx context.Context, messages ...provider.Message) (*provider.Response, error) {
	r := provider.Request{System: "Be brief.", MaxTokens: 32_000, Messages: messages, Tools: []provider.Tool{
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	}}
	return s.Send(ctx, r, func(d provider.Delta) { s.deltas = append(s.deltas, d) })
}

// failure returns the error of a call that has to fail.
func (s *subject) failure(t *testing.T) *provider.Error {
	t.Helper()
	var e *provider.Error
	if _, err := s.send(t.Context(), user("hello")); !errors.As(err, &e) {
		t.Fatalf("error %v; want a *provider.Error", err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", e, *e, s.Provider), secret[:12]) {
		t.Errorf("the key shows in %+v", *e)
	}
	return e
}

func user(text string) provider.Message {
	return provider.Message{Role: provider.User, Blocks: []provider.Block{provider.TextBlock(text)}}
}

func TestText(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		const text = "Grüße, 世界 <ok> & \"quotes\"\n\nend"
		step := sdktest.Text(text).With(sdktest.Split | sdktest.Ping | sdktest.Unknown)
		step.Usage = provider.Usage{Input: 7, CacheRead: 3, Output: 5}
		s := start(setup{}, step)
		got, err := s.send(t.Context(), user("hello"), provider.Message{Role: provider.Assistant, Blocks: []provider.Block{{Type: provider.Text, Text: " "}, provider.TextBlock("hi")}}, user("again"))
		if err != nil {
			t.Fatal(err)
		}
		if got.Message.Text() != text || got.Stop != provider.EndTurn || got.Message.Role != provider.Assistant || got.RequestID != "req_1" || got.Model != s.Info().Model {
			t.Errorf("answer %+v", got)
		}
		want := step.Usage
		if s.Dialect.NoUsage {
			want = got.Usage
			if !want.Estimated || want.Output != 8 || want.Input < 50 || want.Input > 150 {
				t.Errorf("estimated usage %+v", want)
			}
		}
		if got.Usage != want {
			t.Errorf("usage %+v; want %+v", got.Usage, want)
		}
		said := ""
		for _, d := range s.deltas {
			said += d.Text
		}
		if said != text || len(s.deltas) < 3 {
			t.Errorf("under way %q in %d pieces", said, len(s.deltas))
		}
		sent := s.Requests()[0]
		if sent.System != "Be brief." || sent.MaxTokens != 32_000 || len(sent.Tools) != 1 || sent.Messages[1].Text() != "hi" || !sent.Stream {
			t.Errorf("request %+v", sent.Request)
		}
		for _, never := range []string{"temperature", "top_p", "tool_choice"} {
			if strings.Contains(string(sent.Body), never) {
				t.Errorf("the request has %s", never)
			}
		}
	})
}

func TestParallelTools(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		s := start(setup{},
			sdktest.Calls(sdktest.Text("Two files."), sdktest.Call("read", `{"path": "/a <b>.md"}`), sdktest.Call("read", map[string]string{"path": "/b"}), sdktest.Call("list", struct{}{})).With(sdktest.Split),
			sdktest.Text("done"))
		got, err := s.send(t.Context(), user("hello"))
		if err != nil {
			t.Fatal(err)
		}
		uses := got.Message.Uses()
		if len(uses) != 3 || got.Stop != provider.UsesTools || got.Message.Text() != "Two files." {
			t.Fatalf("answer %+v", got)
		}
		var tools []string
		for _, d := range s.deltas {
			if d.Tool != "" {
				tools = append(tools, d.Tool)
			}
		}
		if !slices.Equal(tools, []string{"read", "read", "list"}) {
			t.Errorf("tools announced: %q", tools)
		}
		var results []provider.Block
		for i, want := range []string{`{"path":"/a <b>.md"}`, `{"path":"/b"}`, `{}`} {
			if strings.ReplaceAll(uses[i].Input, ": ", ":") != want {
				t.Errorf("input %d: %q; want %q", i, uses[i].Input, want)
			}
			results = append(results, provider.Result(uses[i].ID, fmt.Sprint("result ", i), i == 1))
		}
		results[2].Text = ""
		if _, err := s.send(t.Context(), user("hello"), got.Message, provider.Message{Role: provider.User, Blocks: append(results, provider.TextBlock("go on"))}); err != nil {
			t.Fatal(err)
		}
		sent := s.Requests()[1].Messages
		if len(sent) != 3 || len(sent[1].Uses()) != 3 || len(sent[2].Blocks) != 4 || !strings.HasSuffix(sent[2].Blocks[1].Text, "result 1") || sent[2].Blocks[3].Text != "go on" {
			t.Errorf("sent %+v", sent)
		}
		if b := sent[2].Blocks[1]; !b.IsError && !strings.HasPrefix(b.Text, "Error: ") {
			t.Errorf("the failed result arrives as %+v", b)
		}
	})
}

func TestStops(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		for _, stop := range []provider.Stop{provider.EndTurn, provider.StopSequence, provider.MaxTokens, provider.PauseTurn, provider.Refusal, provider.ContextWindow} {
			s := start(setup{}, sdktest.Stop(stop, "I cannot."))
			want := stop
			if s.Info().Provider == "openai" { // which has fewer words
				switch stop {
				case provider.StopSequence, provider.PauseTurn:
					want = provider.EndTurn
				case provider.ContextWindow:
					want = provider.MaxTokens
				}
			}
			got, err := s.send(t.Context(), user("hello"))
			if err != nil || got.Stop != want || got.Message.Text() != "I cannot." {
				t.Errorf("%s: %+v, %v", stop, got, err)
			}
		}
	})
}

// TestCutOffInput: an input that a model began to write is kept, and can be sent back.
func TestCutOffInput(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		cut := sdktest.Call("read", `{"path":"/long`)
		cut.Stop = provider.MaxTokens
		s := start(setup{}, cut, sdktest.Text("ok"))
		got, err := s.send(t.Context(), user("hello"))
		if err != nil {
			t.Fatal(err)
		}
		uses := got.Message.Uses()
		if len(uses) != 1 || uses[0].Input != `{"path":"/long` || got.Stop != provider.MaxTokens {
			t.Fatalf("answer %+v", got)
		}
		if _, err := s.send(t.Context(), user("hello"), got.Message, provider.Message{Role: provider.User, Blocks: []provider.Block{provider.Result(uses[0].ID, "cut off", true)}}); err != nil {
			t.Fatal(err)
		}
		if back := s.Requests()[1].Messages[1].Uses()[0].Input; back != `{"invalid_json":"{\"path\":\"/long"}` {
			t.Errorf("sent back as %s", back)
		}
	})
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		steps []sdktest.Step
		calls int
		after time.Duration // exact, if not 0
	}{
		"overloaded twice": {steps: []sdktest.Step{sdktest.Fail(529, "overloaded_error", "busy"), sdktest.Fail(500, "api_error", "oops")}, calls: 3},
		"timeout":          {steps: []sdktest.Step{sdktest.Fail(408, "timeout_error", "late")}, calls: 2},
		"conflict":         {steps: []sdktest.Step{sdktest.Fail(409, "x", "conflict")}, calls: 2},
		"bad gateway":      {steps: []sdktest.Step{sdktest.Fail(502, "x", "conflict")}, calls: 2},
		"seconds":          {steps: []sdktest.Step{sdktest.Fail(429, "rate_limit_error", "slow").Headed("Retry-After", "7")}, calls: 2, after: 7 * time.Second},
		"milliseconds":     {steps: []sdktest.Step{sdktest.Fail(429, "rate_limit_error", "slow").Headed("Retry-After", "7").Headed("Retry-After-Ms", "30")}, calls: 2, after: 30 * time.Millisecond},
		"date":             {steps: []sdktest.Step{sdktest.Fail(503, "x", "slow").Headed("Date", "Sun, 22 Nov 2026 10:00:00 GMT").Headed("Retry-After", "Sun, 22 Nov 2026 10:00:09 GMT")}, calls: 2, after: 9 * time.Second},
		"asked for":        {steps: []sdktest.Step{sdktest.Fail(400, "x", "again").Headed("X-Should-Retry", "true")}, calls: 2},
		"dropped":          {steps: []sdktest.Step{sdktest.Text("one two three four").With(sdktest.Drop)}, calls: 2},
		"cut":              {steps: []sdktest.Step{sdktest.Text("one two three four").With(sdktest.Cut)}, calls: 2},
		"silent":           {steps: []sdktest.Step{sdktest.Text("one two three four").With(sdktest.Silent)}, calls: 2},
		"broken off":       {steps: []sdktest.Step{sdktest.Break("overloaded_error", "busy"), sdktest.Break("rate_limit_error", "slow")}, calls: 3},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
				s := start(setup{idle: 50 * time.Millisecond}, append(c.steps, sdktest.Text("done"))...)
				got, err := s.send(t.Context(), user("hello"))
				if err != nil || got.Message.Text() != "done" || len(s.Requests()) != c.calls {
					t.Fatalf("answer %+v, %v after %d calls; want %d", got, err, len(s.Requests()), c.calls)
				}
				var retries []*provider.Retry
				for _, d := range s.deltas {
					if d.Retry != nil {
						retries = append(retries, d.Retry)
					}
				}
				if len(retries) != c.calls-1 || len(s.waits) != c.calls-1 {
					t.Fatalf("%d retries announced, %d waits; want %d", len(retries), len(s.waits), c.calls-1)
				}
				for i, r := range retries {
					from, to := 375*time.Millisecond<<i, 500*time.Millisecond<<i
					if c.after > 0 {
						from, to = c.after, c.after
					}
					if r.Attempt != i+2 || r.After < from || r.After > to || s.waits[i] != r.After || r.Because == nil {
						t.Errorf("retry %+v, waited %s; want %s to %s", r, s.waits[i], from, to)
					}
				}
			})
		})
	}
}

func TestNoRetry(t *testing.T) {
	for name, c := range map[string]struct {
		step   sdktest.Step
		status int
		want   string
	}{
		"bad request":   {sdktest.Fail(400, "invalid_request_error", "max_tokens: too many"), 400, "max_tokens: too many"},
		"key refused":   {sdktest.Fail(401, "authentication_error", "Incorrect API key provided: "+secret[:12]+"****"), 401, "Options.APIKey"},
		"key repeated":  {sdktest.Fail(403, "permission_error", secret+" may not"), 403, "[key] may not"},
		"not found":     {sdktest.Fail(404, "not_found_error", "model: x"), 404, "model: x"},
		"told not to":   {sdktest.Fail(529, "overloaded_error", "busy").Headed("X-Should-Retry", "false"), 529, "busy"},
		"far too late":  {sdktest.Fail(429, "rate_limit_error", "slow").Headed("Retry-After", "3600"), 429, "slow"},
		"broken off":    {sdktest.Break("invalid_request_error", "no"), 400, "no"},
		"unknown break": {sdktest.Break("strange_error", "odd"), 0, "odd"},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
				s := start(setup{}, c.step, sdktest.Text("never"))
				e := s.failure(t)
				if e.Status != c.status || e.Type != c.step.Type || !strings.Contains(e.Error(), c.want) || e.RequestID != "req_1" || s.Left() != 1 {
					t.Errorf("error %+v, %d steps left", e, s.Left())
				}
				if name == "far too late" && (!e.Retryable || e.After != time.Hour) {
					t.Errorf("error %+v; want the hour", e)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		none, busy := 0, sdktest.Fail(529, "overloaded_error", "busy")
		s := start(setup{retries: &none}, busy, busy)
		if e := s.failure(t); !e.Retryable || s.Left() != 1 {
			t.Errorf("error %+v, %d steps left; want one call", e, s.Left())
		}
		s = start(setup{}, busy, busy, busy, busy)
		if e := s.failure(t); !e.Retryable || s.Left() != 1 {
			t.Errorf("error %+v, %d steps left; want three calls", e, s.Left())
		}
	})
}

// TestCancelled: the context ends a silent stream, and a wait.
func TestCancelled(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		ctx, cancel := context.WithCancel(t.Context())
		none := 0
		s := start(setup{retries: &none}, sdktest.Text("one two three four").With(sdktest.Silent))
		_, err := s.Send(ctx, provider.Request{MaxTokens: 10, Messages: []provider.Message{user("hello")}}, func(provider.Delta) { cancel() })
		if !errors.Is(err, context.Canceled) || len(s.Requests()) != 1 {
			t.Errorf("cancelled under way: %v after %d calls", err, len(s.Requests()))
		}
		var failed *provider.Error
		if errors.As(err, &failed) {
			t.Errorf("cancelled: %v; want the error of the context", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		s = start(setup{wait: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}, sdktest.Fail(529, "overloaded_error", ""), sdktest.Text("never"))
		if _, err := s.send(ctx, user("hello")); !errors.Is(err, context.Canceled) || s.Left() != 1 {
			t.Errorf("cancelled in a wait: %v", err)
		}
	})
}

func TestUnreachable(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		s := start(setup{})
		dead := sdktest.NewServer()
		dead.Close()
		dead.Close()
		var err error
		retries := 1
		options := openai.Options{Model: "m", APIKey: secret, BaseURL: dead.ChatURL, MaxRetries: &retries, Wait: func(context.Context, time.Duration) error { return nil }}
		if s.Info().Provider == "anthropic" {
			s.Provider, err = anthropic.New(anthropic.Options{Model: "m", APIKey: secret, BaseURL: dead.URL, MaxRetries: &retries, Wait: options.Wait})
		} else {
			s.Provider, err = openai.New(options)
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := s.failure(t); !e.Retryable || e.Status != 0 || len(s.deltas) != 1 || s.deltas[0].Retry == nil {
			t.Errorf("error %+v, deltas %+v", e, s.deltas)
		}
	})
}

// TestOneClientForAll: calls at the same time do not mix.
func TestOneClientForAll(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		s := start(setup{})
		s.Side = func(r sdktest.Request) *sdktest.Step {
			echo := sdktest.Text("you said " + r.Messages[0].Text())
			return &echo
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				text := fmt.Sprint("message ", i)
				got, err := s.Send(t.Context(), provider.Request{MaxTokens: 10, Messages: []provider.Message{user(text)}}, nil)
				if err != nil || got.Message.Text() != "you said "+text {
					t.Errorf("%s: %+v, %v", text, got, err)
				}
			})
		}
		all.Wait()
	})
}

// TestNoKeyIsRecorded: the records of a call at the server and the client lack the key.
func TestNoKeyIsRecorded(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		s := start(setup{}, sdktest.Text("hi"))
		got, err := s.send(t.Context(), user("hello"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v %#v %s %+v %s", s.Provider, s.Provider, data, s.Requests(), s.Requests()[0].Body); strings.Contains(text, secret[8:]) {
			t.Error("the key shows")
		}
	})
}

// TestRedirects: a server that points elsewhere does not pass the key on.
func TestRedirects(t *testing.T) {
	everywhere(t, func(t *testing.T, start func(setup, ...sdktest.Step) *subject) {
		other := start(setup{}, sdktest.Text("thief"))
		s := start(setup{}, sdktest.Fail(http.StatusTemporaryRedirect, "x", "elsewhere").Headed("Location", other.URL+"/v1/messages"))
		if e := s.failure(t); e.Retryable || !strings.Contains(e.Message, "redirects") || len(other.Requests()) != 0 {
			t.Errorf("error %+v, %d requests arrived elsewhere", e, len(other.Requests()))
		}
	})
}

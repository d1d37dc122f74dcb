package anthropic_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

func client(t *testing.T, s *sdktest.Server) *anthropic.Client {
	t.Helper()
	c, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: "sk-test", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(blocks ...provider.Block) []provider.Message {
	return []provider.Message{{Role: provider.User, Blocks: blocks}}
}

// TestBlocksAreKept: parts of an answer beyond our fields are sent back byte for byte.
func TestBlocksAreKept(t *testing.T) {
	raws := []string{ // with sorted keys, as the server streams them
		`{"signature":"EqQB/+==","thinking":"Is 1 < 2 & \"so\"? 世界","type":"thinking"}`,
		`{"type":"redacted_thinking","data":"Em<&>wK"}`,
		`{"id":"srvtoolu_1","input":{"query":"a"},"name":"web_search","type":"server_tool_use"}`,
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"<t>","url":"https://x","encrypted_content":"E","page_age":null}]}`,
		`{"citations":[{"cited_text":"x","document_index":0,"document_title":null,"end_char_index":1,"file_id":null,"start_char_index":0,"type":"char_location"}],"text":"As said.","type":"text"}`,
		`{"caller":{"type":"direct"},"id":"toolu_9","input":{"path":"/a"},"name":"read","type":"tool_use"}`,
		`{"type":"block_of_the_future","payload":{"n":12345678901234567890}}`,
	}
	step := sdktest.Step{Stop: provider.UsesTools, Blocks: []provider.Block{provider.TextBlock("plain"), provider.TextBlock("")}}
	for _, raw := range raws {
		step.Blocks = append(step.Blocks, provider.Block{Type: provider.Opaque, Raw: json.RawMessage(raw)})
	}
	s := sdktest.New(t, step, sdktest.Text("ok"))
	c := client(t, s)
	r := provider.Request{MaxTokens: 10, Messages: ask(provider.TextBlock("go"))}
	got, err := c.Send(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	blocks := got.Message.Blocks
	if len(blocks) != 1+len(raws) {
		t.Fatalf("%d blocks; want all but the empty text: %+v", len(blocks), blocks)
	}
	if blocks[0].Raw != nil || blocks[0].Text != "plain" {
		t.Errorf("a plain text is kept as %+v", blocks[0])
	}
	for i, want := range []provider.Type{provider.Opaque, provider.Opaque, provider.Opaque, provider.Opaque, provider.Text, provider.ToolUse, provider.Opaque} {
		if blocks[i+1].Type != want || blocks[i+1].Raw == nil {
			t.Errorf("block %s is kept as %+v", raws[i], blocks[i+1])
		}
	}
	if blocks[5].Text != "As said." || blocks[6].Input != `{"path":"/a"}` || blocks[6].Name != "read" {
		t.Errorf("text %+v, use %+v", blocks[5], blocks[6])
	}
	data, err := json.Marshal(got.Message) // as a conversation is saved
	if err != nil {
		t.Fatal(err)
	}
	var restored provider.Message
	if err := json.Unmarshal(data, &restored); err != nil {
		t.Fatal(err)
	}
	for _, again := range []provider.Message{got.Message, restored} {
		s.Add(sdktest.Text("ok"))
		r.Messages = append(ask(provider.TextBlock("go")), again, provider.Message{Role: provider.User, Blocks: []provider.Block{provider.Result("toolu_9", "x", false)}})
		if _, err := c.Send(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.Requests()
	for _, raw := range raws {
		if !bytes.Contains(sent[1].Body, []byte(raw)) {
			t.Errorf("%s is not sent back as it came: %s", raw, sent[1].Body)
		}
	}
	if first, again := blockOf(t, sent[1], 1), blockOf(t, sent[2], 1); first != again {
		t.Errorf("saved and restored, the thought is sent as\n%s; want\n%s", again, first)
	}
}

// blockOf returns a block of the assistant's message with its escapes resolved.
func blockOf(t *testing.T, r sdktest.Request, i int) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(r.Messages[1].Blocks[i].Raw, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCachePoints(t *testing.T) {
	use := func(id string) provider.Message {
		return provider.Message{Role: provider.Assistant, Blocks: []provider.Block{{Type: provider.ToolUse, ID: id, Name: "n", Input: "{}"}}}
	}
	result := func(id string) provider.Message {
		return provider.Message{Role: provider.User, Blocks: []provider.Block{provider.Result(id, "r", false)}}
	}
	messages := append(ask(provider.TextBlock("a"), provider.TextBlock("b")), use("1"), result("1"), use("2"), result("2"))
	for n, want := range map[int]string{1: "system b", 3: "system b 1", 5: "system 1 2"} {
		s := sdktest.New(t, sdktest.Text("ok"))
		if _, err := client(t, s).Send(t.Context(), provider.Request{System: "system", MaxTokens: 10, Messages: messages[:n]}, nil); err != nil {
			t.Fatal(err)
		}
		var form struct {
			System   []map[string]any
			Messages []struct{ Content []map[string]any }
		}
		if err := json.Unmarshal(s.Requests()[0].Body, &form); err != nil {
			t.Fatal(err)
		}
		var marked []string
		blocks := form.System
		for _, m := range form.Messages {
			blocks = append(blocks, m.Content...)
		}
		for _, b := range blocks {
			if b["cache_control"] != nil {
				name, _ := b["text"].(string)
				if id, ok := b["tool_use_id"].(string); ok {
					name = id
				}
				marked = append(marked, name)
			}
		}
		if got := strings.Join(marked, " "); got != want {
			t.Errorf("%d messages: marked %q; want %q", n, got, want)
		}
	}
	s := sdktest.New(t, sdktest.Text("ok"))
	c, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", AuthToken: "t", BaseURL: s.URL, NoPromptCache: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), provider.Request{System: "system", MaxTokens: 10, Messages: messages}, nil); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(s.Requests()[0].Body, []byte("cache_control")) {
		t.Error("without the cache, the request has cache_control")
	}
}

// TestWhatCannotBeSent: empty texts and the blocks of other providers.
func TestWhatCannotBeSent(t *testing.T) {
	s := sdktest.New(t, sdktest.Text("ok"))
	messages := append(ask(provider.TextBlock("a"), provider.TextBlock(" ")),
		provider.Message{Role: provider.Assistant, Blocks: []provider.Block{provider.TextBlock(""), {Type: provider.Opaque}}},
		ask(provider.TextBlock("b"))[0])
	if _, err := client(t, s).Send(t.Context(), provider.Request{MaxTokens: 10, Messages: messages}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Messages; len(got) != 1 || got[0].Text() != "a\n\nb" {
		t.Errorf("sent %+v; want both texts in one message", got)
	}
}

func TestUsage(t *testing.T) {
	want := provider.Usage{Input: 1, CacheWrite5m: 2, CacheWrite1h: 3, CacheRead: 4, Output: 5}
	step := sdktest.Text("ok")
	step.Usage = want
	got, err := client(t, sdktest.New(t, step)).Send(t.Context(), provider.Request{MaxTokens: 10, Messages: ask(provider.TextBlock("x"))}, nil)
	if err != nil || got.Usage != want {
		t.Errorf("usage %+v, %v; want %+v", got.Usage, err, want)
	}
}

func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		options  anthropic.Options
		env      map[string]string
		from     string // of the key that is refused
		fails    string // New
		accepted string
	}{
		"none":               {fails: "ANTHROPIC_API_KEY"},
		"field":              {options: anthropic.Options{APIKey: "k1"}, env: map[string]string{"ANTHROPIC_API_KEY": "k2"}, from: "Options.APIKey", accepted: "k1"},
		"token over key":     {options: anthropic.Options{AuthToken: "t1"}, env: map[string]string{"ANTHROPIC_API_KEY": "k2"}, from: "Options.AuthToken", accepted: "t1"},
		"variable":           {env: map[string]string{"ANTHROPIC_API_KEY": "k2", "ANTHROPIC_AUTH_TOKEN": "t2"}, from: "variable ANTHROPIC_API_KEY", accepted: "k2"},
		"variable of tokens": {env: map[string]string{"ANTHROPIC_AUTH_TOKEN": "t2"}, from: "variable ANTHROPIC_AUTH_TOKEN", accepted: "t2"},
		"line end":           {env: map[string]string{"ANTHROPIC_API_KEY": "sk-secret\n"}, fails: "ANTHROPIC_API_KEY"},
		"blank":              {options: anthropic.Options{APIKey: "sk secret"}, fails: "Options.APIKey"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
				t.Setenv(variable, c.env[variable])
			}
			s := sdktest.New(t, sdktest.Text("ok"))
			t.Setenv("ANTHROPIC_BASE_URL", s.URL)
			c.options.Model = "claude-sonnet-5-5"
			var sent http.Header
			c.options.HTTPClient = &http.Client{Transport: seen(func(r *http.Request) { sent = r.Header })}
			client, err := anthropic.New(c.options)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "secret") {
					t.Errorf("New: %v; want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := provider.Request{MaxTokens: 10, Messages: ask(provider.TextBlock("x"))}
			s.Key = "another"
			if _, err := client.Send(t.Context(), r, nil); err == nil || !strings.Contains(err.Error(), c.from) {
				t.Errorf("refused: %v; want %q", err, c.from)
			}
			s.Key = c.accepted
			if _, err := client.Send(t.Context(), r, nil); err != nil {
				t.Errorf("accepted: %v", err)
			}
			want := http.Header{"X-Api-Key": {c.accepted}}
			if strings.HasPrefix(c.accepted, "t") {
				want = http.Header{"Authorization": {"Bearer " + c.accepted}}
			}
			for _, name := range []string{"X-Api-Key", "Authorization"} {
				if sent.Get(name) != want.Get(name) {
					t.Errorf("%s: %q; want %q", name, sent.Get(name), want.Get(name))
				}
			}
		})
	}
}

// seen shows requests, and sends them.
type seen func(*http.Request)

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	s(r)
	return http.DefaultTransport.RoundTrip(r)
}

func TestOptions(t *testing.T) {
	many := 7
	for name, o := range map[string]anthropic.Options{
		"retries":   {APIKey: "k", Model: "m", MaxRetries: &many},
		"no scheme": {APIKey: "k", Model: "m", BaseURL: "api.example.com"},
		"a file":    {APIKey: "k", Model: "m", BaseURL: "file:///etc"},
	} {
		if _, err := anthropic.New(o); err == nil || !strings.HasPrefix(err.Error(), "anthropic: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimeout: a call that lasts too long is not made again.
func TestTimeout(t *testing.T) {
	s := sdktest.New(t, sdktest.Text("one two three four").With(sdktest.Silent), sdktest.Text("never"))
	c, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: "k", BaseURL: s.URL, Timeout: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), provider.Request{MaxTokens: 10, Messages: ask(provider.TextBlock("x"))}, nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("error %v", err)
	}
}

// TestDefaultModel: the first example of package sdk works as it stands, within a limit.
func TestDefaultModel(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-test")
	c, err := anthropic.New(anthropic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := price.NewBudget(price.Default(), price.Dollar).Admit(c.Info().Model, time.Now()); err != nil || c.Info().Model == "" {
		t.Errorf("the default model %q: %v", c.Info().Model, err)
	}
}

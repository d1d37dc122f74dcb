// Package openai sends conversations to servers with the API of chat completions: OpenAI, and others, for
// example Ollama, vLLM, LM Studio and LiteLLM, with their differences.
//
// Thoughts beside an answer are left out.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/internal/wire"
)

// Options say which model to ask, and how.
type Options struct {
	// Model is the server's name for the model.
	Model string
	// APIKey is the credential: without it the variable OPENAI_API_KEY, or else none is sent.
	APIKey string
	// BaseURL is the server's address, for example http://127.0.0.1:11434/v1: without it the variable
	// OPENAI_BASE_URL, or else, if there is a key, https://api.openai.com/v1.
	BaseURL string
	// HTTPClient makes the calls; http.DefaultTransport does if it is nil.
	HTTPClient *http.Client
	// MaxRetries is how often a failed call is repeated, 0 to 6; twice if it is nil.
	MaxRetries *int
	// Timeout bounds a call, 10 minutes if it is 0; Idle the time without a byte of the answer,
	// one minute if it is 0.
	Timeout, Idle time.Duration
	// Wait replaces the wait before a call is repeated, for tests.
	Wait func(context.Context, time.Duration) error
}

// Client sends requests to one model. It implements provider.Provider.
type Client struct {
	model  string
	url    string
	key    wire.Key
	caller *wire.Caller
	// bound is the name of the bound of an answer: the newer models of OpenAI refuse the older name, and other
	// servers know only the older one.
	bound string
}

const defaultHost = "api.openai.com"

// New returns a client. It makes no call.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		return nil, errors.New("openai: name a model in Options.Model")
	}
	key, err := wire.Find(wire.Source{Value: o.APIKey, From: "Options.APIKey"}, wire.Variable("OPENAI_API_KEY"))
	base := cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"))
	if base == "" && key.Set() {
		base = "https://" + defaultHost + "/v1"
	}
	if err == nil && base == "" {
		err = errors.New("no server is named; set Options.BaseURL (--base-url) or the environment variable " +
			"OPENAI_BASE_URL, such as http://127.0.0.1:11434/v1, or a key for OpenAI's own server")
	}
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	caller, err := wire.New(wire.Options{HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, Timeout: o.Timeout, Idle: o.Idle, Wait: o.Wait}, base, key)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	bound := "max_tokens"
	if u, err := url.Parse(base); err == nil && u.Hostname() == defaultHost {
		bound = "max_completion_tokens"
	}
	return &Client{model: o.Model, url: strings.TrimRight(base, "/") + "/chat/completions", key: key, caller: caller, bound: bound}, nil
}

// Info describes the model.
func (c *Client) Info() provider.Info { return provider.Info{Provider: "openai", Model: c.model} }

// Send returns the model's answer.
func (c *Client) Send(ctx context.Context, r provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	body, err := c.requestBody(r)
	if err != nil {
		return nil, &provider.Error{Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	answer, err := c.caller.Do(ctx, on, func(ctx context.Context) (*provider.Response, error) {
		return c.callOnce(ctx, body, &reader{on: on, before: r.Messages})
	})
	if err != nil {
		return nil, err
	}
	if answer.Usage.Prompt() == 0 && answer.Usage.Output == 0 {
		answer.Usage = provider.Usage{Input: estimateTokens(string(body)), Estimated: true}
		for _, b := range answer.Message.Blocks {
			answer.Usage.Output += estimateTokens(b.Text + b.Name + b.Input)
		}
	}
	return answer, nil
}

// estimateTokens estimates: four characters are a token.
func estimateTokens(text string) int64 { return int64(utf8.RuneCountInString(text)+3) / 4 }

// maxWhole bounds an answer in one piece, in bytes.
const maxWhole = 16 << 20

// errEnd ends a stream at its last event.
var errEnd = errors.New("the stream is at its end")

// callOnce makes one call.
func (c *Client) callOnce(ctx context.Context, body []byte, answer *reader) (*provider.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if c.key.Set() {
		r.Header.Set("Authorization", "Bearer "+c.key.Secret())
	}
	res, err := c.caller.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // the answer is read, or given up
	kind := res.Header.Get("Content-Type")  // some servers stream under a wrong one
	streamed := !strings.Contains(kind, "json")
	if res.StatusCode != http.StatusOK || !streamed {
		body, err = durable.ReadStream(res.Body, "the answer", maxWhole)
	}
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode != http.StatusOK:
		return nil, c.caller.Fail(res.StatusCode, res.Header, body)
	}
	each := func(data []byte) error {
		if string(bytes.TrimSpace(data)) == "[DONE]" {
			answer.ended = true
			return errEnd
		}
		var chunk chunk
		if err := json.Unmarshal(data, &chunk); err != nil {
			return wire.Malformed(err)
		}
		if given := bytes.TrimSpace(chunk.Error); len(given) > 0 && string(given) != "null" {
			return c.caller.Fail(res.StatusCode, res.Header, data)
		}
		answer.addChunk(chunk)
		return nil
	}
	if streamed {
		err = wire.Events(res.Body, each)
	} else {
		err = each(body)
	}
	switch {
	case answer.ended: // it makes no difference whether more comes after the end
	case err != nil:
		return nil, err
	default:
		return nil, fmt.Errorf("the stream (%s) ended before the answer did", kind)
	}
	return answer.wholeResponse(res.Header.Get("X-Request-Id")), nil
}

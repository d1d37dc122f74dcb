// Package anthropic sends conversations to the Messages API.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	api "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/internal/wire"
)

// DefaultModel is asked if none is named.
const DefaultModel = "claude-sonnet-5-5"

// Options say which model to ask, and how.
type Options struct {
	// Model is the model's name, [DefaultModel] if it is "".
	Model string
	// APIKey or AuthToken is the credential. Without both, the environment variable
	// ANTHROPIC_API_KEY or else ANTHROPIC_AUTH_TOKEN has it.
	APIKey, AuthToken string
	// BaseURL is the server's address: without it the variable ANTHROPIC_BASE_URL, or else
	// https://api.anthropic.com.
	BaseURL string
	// HTTPClient makes the calls; http.DefaultTransport does if it is nil.
	HTTPClient *http.Client
	// MaxRetries is how often a failed call is repeated, 0 to 6; twice if it is nil.
	MaxRetries *int
	// Timeout bounds a call, 10 minutes if it is 0; Idle the time without a byte of the answer,
	// one minute if it is 0.
	Timeout, Idle time.Duration
	// NoPromptCache has the server read every prompt in full, at full price.
	NoPromptCache bool
	// Wait replaces the wait before a call is repeated, for tests.
	Wait func(context.Context, time.Duration) error
}

// Client sends requests to one model. It implements provider.Provider.
type Client struct {
	model   string
	cache   bool
	caller  *wire.Caller
	service api.MessageService
}

// New returns a client. It makes no call.
func New(o Options) (*Client, error) {
	bearer := o.APIKey == "" && (o.AuthToken != "" || os.Getenv("ANTHROPIC_API_KEY") == "")
	key, err := wire.Find(
		wire.Source{Value: o.APIKey, From: "Options.APIKey"}, wire.Source{Value: o.AuthToken, From: "Options.AuthToken"},
		wire.Variable("ANTHROPIC_API_KEY"), wire.Variable("ANTHROPIC_AUTH_TOKEN"))
	if err == nil && !key.Set() {
		err = errors.New("no credential; set the environment variable ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or Options.APIKey")
	}
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	base := cmp.Or(o.BaseURL, os.Getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com")
	caller, err := wire.New(wire.Options{HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, Timeout: o.Timeout, Idle: o.Idle, Wait: o.Wait}, base, key)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	header := option.WithAPIKey(key.Secret())
	if bearer {
		header = option.WithAuthToken(key.Secret())
	}
	// The service by itself, because a whole client of the library reads more of the environment.
	service := api.NewMessageService(option.WithBaseURL(base), option.WithHTTPClient(caller.HTTP), option.WithMaxRetries(0), option.WithoutOpenTelemetry(), header)
	return &Client{model: cmp.Or(o.Model, DefaultModel), cache: !o.NoPromptCache, caller: caller, service: service}, nil
}

// Info describes the model.
func (c *Client) Info() provider.Info { return provider.Info{Provider: "anthropic", Model: c.model} }

// Send returns the model's answer.
func (c *Client) Send(ctx context.Context, r provider.Request, on func(provider.Delta)) (*provider.Response, error) {
	body, err := c.requestBody(r)
	if err != nil {
		return nil, &provider.Error{Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	return c.caller.Do(ctx, on, func(ctx context.Context) (*provider.Response, error) { return c.callOnce(ctx, body, on) })
}

// callOnce makes one call.
func (c *Client) callOnce(ctx context.Context, body []byte, on func(provider.Delta)) (*provider.Response, error) {
	var res *http.Response
	stream := c.service.NewStreaming(ctx, api.MessageNewParams{}, option.WithRequestBody("application/json", body), option.WithResponseInto(&res))
	defer func() { _ = stream.Close() }() // the answer is read, or given up
	var m api.Message
	inputs := map[int64][]byte{} // as they came, which the library does not keep if they are cut off
	for stream.Next() {
		event := stream.Current()
		if err := m.Accumulate(event); err != nil {
			return nil, wire.Malformed(err)
		}
		announceDelta(event, on)
		if event.Type == "content_block_delta" && event.Delta.Type == "input_json_delta" {
			inputs[event.Index] = append(inputs[event.Index], event.Delta.PartialJSON...)
		}
	}
	if err := stream.Err(); err != nil {
		var failed *api.Error
		if errors.As(err, &failed) && failed.Response != nil {
			// The library's error is not wrapped: it holds the request, and with it the key.
			return nil, c.caller.Fail(failed.StatusCode, failed.Response.Header, []byte(failed.RawJSON()))
		}
		return nil, err
	}
	if m.StopReason == "" {
		return nil, errors.New("the stream ended before the answer did")
	}
	answer := &provider.Response{
		Message: provider.Message{Role: provider.Assistant}, Stop: provider.Stop(m.StopReason), Model: m.Model, Usage: usageOf(m.Usage),
	}
	if res != nil {
		answer.RequestID = res.Header.Get("Request-Id")
	}
	for i, b := range m.Content {
		if block, ok := readBlock(b, string(inputs[int64(i)])); ok {
			answer.Message.Blocks = append(answer.Message.Blocks, block)
		}
	}
	return answer, nil
}

func announceDelta(event api.MessageStreamEventUnion, on func(provider.Delta)) {
	if on == nil {
		return
	}
	text := event.ContentBlock.Text + event.Delta.Text // an event has one of them
	switch {
	case event.ContentBlock.Type == "tool_use":
		on(provider.Delta{Tool: event.ContentBlock.Name})
	case text != "":
		on(provider.Delta{Text: text})
	}
}

// usageOf counts cache writes whose lifetime the server does not name as the short ones, which are
// the default.
func usageOf(u api.Usage) provider.Usage {
	long := u.CacheCreation.Ephemeral1hInputTokens
	return provider.Usage{
		Input: u.InputTokens, CacheWrite5m: max(u.CacheCreationInputTokens-long, 0), CacheWrite1h: long,
		CacheRead: u.CacheReadInputTokens, Output: u.OutputTokens,
	}
}

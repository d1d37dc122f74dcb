package sdktest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/anthropic"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/openai"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// lying puts other numbers in place of those that a server counts.
type lying struct{ number string }

func (l lying) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	for _, honest := range []string{"4242", "5353", "9595"} { // input, output, and the first two as openai adds them
		data = bytes.ReplaceAll(data, []byte(honest), []byte(l.number))
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(data)), -1
	res.Header.Del("Content-Length")
	return res, err
}

// TestCountsThatCannotBeRight: whatever a server says that it has counted, the answer is read, and
// the call costs something and not more than a few of its kind could.
func TestCountsThatCannotBeRight(t *testing.T) {
	for _, number := range []string{"-40000000", "-1", "0", "9223372036854775807", "-9223372036854775808", "1e300", "1e999", "900000000000", `"many"`, "null", "[]"} {
		step := sdktest.Text("hi")
		step.Usage = provider.Usage{Input: 4242, Output: 5353}
		s := sdktest.New(t, step, step)
		client := &http.Client{Transport: lying{number}}
		a, err := anthropic.New(anthropic.Options{Model: "claude-sonnet-5-5", APIKey: "k", BaseURL: s.URL, HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		o, err := openai.New(openai.Options{Model: "gpt-test", APIKey: "k", BaseURL: s.ChatURL, HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []provider.Provider{a, o} {
			got, err := p.Send(t.Context(), provider.Request{MaxTokens: 1000, Messages: []provider.Message{user(strings.Repeat("word ", 300))}}, nil)
			if err != nil {
				t.Errorf("%s says %s: %v", p.Info().Provider, number, err)
				continue
			}
			b := price.NewBudget(price.Default(), price.Dollar)
			c := b.Spend("claude-sonnet-5-5", time.Now(), got.Usage, price.Estimate{Prompt: 500, Output: 1000})
			if c.Cost < 800_000 || c.Cost > price.Dollar/10 {
				t.Errorf("%s says %s: %+v", p.Info().Provider, number, c)
			}
		}
	}
}

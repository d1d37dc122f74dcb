package fake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

func ask(blocks ...provider.Block) provider.Request {
	return provider.Request{MaxTokens: 100, Messages: []provider.Message{{Role: provider.User, Blocks: blocks}}}
}

func TestSteps(t *testing.T) {
	broken := errors.New("broken")
	p := fake.New(
		fake.Calls(fake.Text("Two files."), fake.Call("a", `{"x":`), fake.Call("b", nil)),
		fake.Stop(provider.Refusal, "No."),
		fake.Fail(broken),
		fake.Step{Before: func(ctx context.Context, _ provider.Request) error { <-ctx.Done(); return ctx.Err() }},
	)
	var seen []string
	r := ask(provider.TextBlock("12345678"))
	got, err := p.Send(t.Context(), r, func(d provider.Delta) { seen = append(seen, d.Text+d.Tool) })
	if err != nil {
		t.Fatal(err)
	}
	uses := got.Message.Uses()
	if len(uses) != 2 || uses[0].ID == uses[1].ID || uses[0].Input != `{"x":` || uses[1].Input != "null" || got.Stop != provider.UsesTools {
		t.Errorf("answer %+v", got)
	}
	if strings.Join(seen, "|") != "Two |files.|a|b" {
		t.Errorf("under way: %q", seen)
	}
	if got.Usage.Input != 2 || got.Usage.Output != 6 {
		t.Errorf("usage %+v; want 2 in, 6 out", got.Usage)
	}
	if got, err := p.Send(t.Context(), r, nil); err != nil || got.Stop != provider.Refusal || got.Message.Text() != "No." {
		t.Errorf("refusal: %+v, %v", got, err)
	}
	if _, err := p.Send(t.Context(), r, nil); !errors.Is(err, broken) {
		t.Errorf("Fail: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Send(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var end *provider.Error
	if _, err := p.Send(t.Context(), r, nil); !errors.As(err, &end) || end.Retryable || !strings.Contains(end.Message, "call 5") {
		t.Errorf("after the last step: %v", err)
	}
	if n := len(p.Requests()); n != 5 {
		t.Errorf("%d requests recorded; want 5", n)
	}
}

func TestRequestsAreCopies(t *testing.T) {
	p := fake.New(fake.Text("x"))
	r := ask(provider.TextBlock("before"))
	if _, err := p.Send(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	r.Messages[0].Blocks[0].Text = "after"
	if got := p.Requests()[0].Messages[0].Text(); got != "before" {
		t.Errorf("the recorded request has %q; want what was sent", got)
	}
}

func TestPrices(t *testing.T) {
	cost, known := fake.Prices().Cost(fake.Model, time.Unix(0, 0), provider.Usage{Input: 1000, CacheRead: 1000, Output: 1000})
	if !known || cost != 1_000_000+100_000+2_000_000 {
		t.Errorf("cost %d, %v", cost, known)
	}
}

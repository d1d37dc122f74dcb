package sdk_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// TestFresh: a conversation notices that another process has continued or removed it.
func TestFresh(t *testing.T) {
	dir := project(t)
	one, _ := client(t, sdk.Options{Project: dir}, fake.Text("One."))
	two, _ := client(t, sdk.Options{Project: dir}, fake.Text("Two."))
	c, err := one.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	say := func(c *sdk.Conversation, words string) {
		t.Helper()
		if err := c.Send(t.Context(), words); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(newContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Fresh(t.Context()); err != nil {
		t.Errorf("before it was saved: %v", err)
	}
	say(c, "one")
	if err := c.Fresh(t.Context()); err != nil {
		t.Errorf("after a turn: %v", err)
	}
	again, err := two.Open(t.Context(), c.ID())
	if err != nil {
		t.Fatal(err)
	}
	say(again, "two")
	if err := c.Fresh(t.Context()); !errors.Is(err, sdk.ErrChanged) {
		t.Errorf("after a turn elsewhere: %v", err)
	}
	if err := errors.Join(again.Fresh(t.Context()), two.Delete(t.Context(), c.ID())); err != nil {
		t.Fatal(err)
	}
	if err := c.Fresh(t.Context()); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
}

// TestSync: a message is saved before the model has answered it, and one that cannot be saved is
// reported.
func TestSync(t *testing.T) {
	dir := project(t)
	free := make(chan struct{})
	slow := fake.Text("One.")
	slow.Before = func(ctx context.Context, _ provider.Request) error {
		select {
		case <-free:
		case <-ctx.Done(): // a test that has failed ends
		}
		return ctx.Err()
	}
	one, _ := client(t, sdk.Options{Project: dir}, slow, fake.Text("Never."))
	two, _ := client(t, sdk.Options{Project: dir}, fake.Text("Two."))
	c, err := one.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err == nil {
		err = errors.Join(c.Send(t.Context(), "my words"), c.Sync(newContext(t)))
	}
	if err != nil {
		t.Fatal(err)
	}
	saved, err := one.Transcript(t.Context(), c.ID())
	if err != nil || !slices.ContainsFunc(saved, func(e sdk.Event) bool { return e.Text == "my words" }) {
		t.Errorf("saved are %v, %v", saved, err)
	}
	close(free)
	if _, err := c.Wait(newContext(t)); err != nil {
		t.Fatal(err)
	}
	again, err := two.Open(t.Context(), c.ID())
	if err == nil {
		err = again.Send(t.Context(), "two")
	}
	if err == nil {
		_, err = again.Wait(newContext(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(t.Context(), "lost"); err != nil {
		t.Fatal(err)
	}
	if err := c.Sync(newContext(t)); !errors.Is(err, sdk.ErrChanged) {
		t.Errorf("after a turn elsewhere: %v", err)
	}
}

// TestNamedMessages: a caller's ids of conversations and messages are kept, and an id that is taken begins nothing.
func TestNamedMessages(t *testing.T) {
	dir := project(t)
	one, model := client(t, sdk.Options{Project: dir}, fake.Call("ask_user", map[string]string{"question": "Who?"}), fake.Text("One."))
	c, err := one.StartConversation(t.Context(), "pm", sdk.ConversationOptions{ID: "talk-1"})
	if err != nil || c.ID() != "talk-1" {
		t.Fatal(err)
	}
	if err := c.Send(sdk.WithMessageID(t.Context(), "m1"), "one"); err != nil {
		t.Fatal(err)
	}
	for e := range c.Events() {
		if e.Type == sdk.EventQuestion {
			break
		}
	}
	if err := c.Answer(sdk.WithMessageID(t.Context(), "m2"), "", "you"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(newContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(sdk.WithMessageID(t.Context(), "m3"), "*help"); err != nil {
		t.Fatal(err)
	}
	events, err := one.Transcript(t.Context(), "talk-1")
	var ids []string
	for _, e := range events {
		if e.MessageID != "" {
			ids = append(ids, e.MessageID)
		}
	}
	if err != nil || !slices.Equal(ids, []string{"m1", "m2", "m3"}) {
		t.Errorf("the events have the ids %q, %v", ids, err)
	}
	calls := len(model.Requests())
	second, err := one.StartConversation(t.Context(), "pm", sdk.ConversationOptions{ID: "talk-1"})
	if err == nil {
		_ = second.Send(t.Context(), "again")
		_, err = second.Wait(newContext(t))
	}
	if !errors.Is(err, sdk.ErrChanged) || len(model.Requests()) != calls {
		t.Errorf("an id that is taken: %v, %d calls", err, len(model.Requests())-calls)
	}
	for _, id := range []string{"../x", "A", "a b", "a/b"} {
		if _, err := one.StartConversation(t.Context(), "pm", sdk.ConversationOptions{ID: id}); err == nil {
			t.Errorf("the id %q is taken", id)
		}
	}
}

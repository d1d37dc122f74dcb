package sdk_test

import (
	"errors"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
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
		if _, err := c.Wait(limited(t)); err != nil {
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

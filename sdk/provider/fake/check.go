package fake

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Check names the first rule of servers broken by a conversation: messages alternate and begin with the user's;
// every use of a tool is answered in the next message, before any text; no text is empty. The assistant's may
// be the last, because so a paused turn goes on.
func Check(messages []provider.Message) error {
	if len(messages) == 0 || messages[0].Role != provider.User {
		return fmt.Errorf("messages: the first message must be the user's")
	}
	var open []provider.Block
	used := map[string]bool{}
	for i, m := range messages {
		if i > 0 && m.Role == messages[i-1].Role {
			return fmt.Errorf("messages.%d: the roles must alternate, and two messages in a row are of the role %q", i, m.Role)
		}
		if len(m.Blocks) == 0 {
			return fmt.Errorf("messages.%d: the content is empty", i)
		}
		if err := checkBlocks(m, open); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		open = m.Uses()
		for _, b := range open {
			if b.ID == "" || used[b.ID] {
				return fmt.Errorf("messages.%d: the `tool_use` id %q is empty or not unique", i, b.ID)
			}
			used[b.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: the last message has a `tool_use` without a `tool_result` after it: %s", open[0].ID)
	}
	return nil
}

// checkBlocks compares the results in a message with the uses of the message before.
func checkBlocks(m provider.Message, open []provider.Block) error {
	waiting := map[string]bool{}
	for _, b := range open {
		waiting[b.ID] = true
	}
	texts := false
	for j, b := range m.Blocks {
		switch {
		case b.Type == provider.Text && b.Raw == nil && strings.TrimSpace(b.Text) == "":
			return fmt.Errorf("content.%d: a text block must not be empty", j)
		case b.Type == provider.ToolUse && m.Role != provider.Assistant:
			return fmt.Errorf("content.%d: only the assistant uses tools", j)
		case b.Type == provider.ToolResult && m.Role != provider.User:
			return fmt.Errorf("content.%d: only the user has results of tools", j)
		case b.Type == provider.ToolResult && !waiting[b.ID]:
			return fmt.Errorf("content.%d: `tool_result` for %q, which the message before does not use or which has a result", j, b.ID)
		case b.Type == provider.ToolResult && texts:
			return fmt.Errorf("content.%d: `tool_result` blocks must come before any text", j)
		case b.Type == provider.ToolResult:
			delete(waiting, b.ID)
		}
		texts = texts || b.Type == provider.Text
	}
	for _, b := range open {
		if waiting[b.ID] {
			return fmt.Errorf("`tool_use` ids of the message before were found without `tool_result` blocks: %s", b.ID)
		}
	}
	return nil
}

package agents

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/remote"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// hostsWait is the time that a task is waited for: hosts wait a minute for a tool.
const hostsWait = 50 * time.Second

// GiveTask is a mcpserver.Remote.
func GiveTask(ctx context.Context, project, url, taskID, text string) (out mcpserver.RemoteAnswer, err error) {
	address, err := remote.ParseAddress(url)
	if err != nil {
		return out, err
	}
	allowed, variable := trust.Permits(app.Trust().InForce(project)).FindCard(address)
	if allowed == nil {
		return out, fault.New(fault.NotAllowed, "the agent at %s is not allowed in this project", address).
			WithHint("only the person can allow it, in a terminal: bmad-mcp allow --card %s", address)
	}
	token, err := remote.ReadToken(variable)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, hostsWait)
	defer cancel()
	card, err := remote.Fetch(ctx, address, token)
	if err != nil {
		return out, err
	}
	if card.SHA256 != allowed.SHA256 {
		return out, fault.New(fault.NotAllowed, "the card at %s has changed since it was allowed on %s", address, allowed.At.Format(time.DateOnly)).
			WithHint("the person has to look at it again, in a terminal: bmad-mcp allow --card %s", address)
	}
	answer, err := card.Give(ctx, taskID, text)
	if err != nil {
		return out, err
	}
	return mcpserver.RemoteAnswer(*answer), nil
}

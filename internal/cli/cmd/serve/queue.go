package serve

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// queueFigures returns the function that reads the figures of the team's queue, nil without a store.
func queueFigures(databases *app.Databases) mcpserver.QueueFunc {
	q, err := databases.Queue()
	if err != nil {
		return nil
	}
	return func(ctx context.Context) (mcpserver.QueueFigures, error) {
		c, err := q.Counts(ctx)
		out := mcpserver.QueueFigures{
			Runs: map[string]int{"lost": c.Lost}, Workers: map[string]int{"working": c.AtWork, "idle": c.Idle, "gone": c.Gone},
			OldestReady: c.OldestReady, Calls: c.Calls, Repeated: c.Repeated, WorkersLost: c.WorkersLost, SpentToday: price.Money(c.SpentToday).USD(),
		}
		for _, state := range queue.States() {
			out.Runs[string(state)] = c.Runs[state]
		}
		return out, err
	}
}

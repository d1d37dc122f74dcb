package config

import (
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// fleetIsTheirs is why a project's file sets no limit of a team's workers: it would raise that of others.
var fleetIsTheirs = lang.T("only the person limits what the team's workers do")

func setMaxWorkers(l *loader, values []string) error {
	const most = 10000
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 1 || n > most {
		return lang.Errorf("%s %q is not a whole number from %d to %d", "max_workers", visible.Cut(values[0], 80, "…"), 1, most)
	}
	l.MaxWorkers = n
	return nil
}

func maxWorkers(c *Config) any {
	if c.MaxWorkers == 0 {
		return ""
	}
	return c.MaxWorkers
}

func setMaxCostPerDay(l *loader, values []string) error {
	limit, err := price.ParseMoney(values[0])
	if err != nil || limit <= 0 {
		return lang.Errorf("max_cost_per_day %q is not an amount in dollars, such as 2.50", visible.Cut(values[0], 80, "…"))
	}
	l.MaxCostPerDay = limit
	return nil
}

func maxCostPerDay(c *Config) any {
	if c.MaxCostPerDay <= 0 {
		return ""
	}
	return c.MaxCostPerDay
}

package config

import (
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Model names the language model that works for the person if no host does. It never holds a key.
type Model struct {
	// Name is the model, BaseURL the address of its server; "" leaves the choice to the program.
	Name, BaseURL string
	// CostLimit bounds the costs of a session; 0 sets no limit.
	CostLimit price.Money
}

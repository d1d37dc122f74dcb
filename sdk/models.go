package sdk

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// UseKind is the kind of work that a model is chosen for.
type UseKind string

// The kinds. A section is a [Step]; a repair follows an answer that is not of its type.
const (
	UseTurn     UseKind = "turn"
	UseSection  UseKind = "section"
	UseSubAgent UseKind = "sub-agent"
	UseRepair   UseKind = "repair"
)

// Use is work about to be given to a model, for [Options.Models].
type Use struct {
	// Agent is the agent's id, Turn the number of the turn, from 1.
	Agent string  `json:"agent"`
	Kind  UseKind `json:"kind"`
	Turn  int     `json:"turn"`
	// Prompt is the length of the prompt, in tokens, at most about.
	Prompt int64 `json:"prompt_tokens"`
	// Left is the rest of the limit if the work is Limited.
	Left    price.Money `json:"left_nano_usd,omitempty"`
	Limited bool        `json:"limited,omitempty"`
}

// SmallModel returns a choice for [Options.Models]: small for sections with a prompt of fewer than below tokens,
// the default model for all else, repairs of the small one's answers included.
func SmallModel(small provider.Provider, below int64) func(Use) provider.Provider {
	return func(u Use) provider.Provider {
		if u.Kind == UseSection && u.Prompt < below {
			return small
		}
		return nil
	}
}

// canCarry reports whether the messages with one model can be sent to another: of the same kind of server, and
// without blocks that only the server of the first understands.
func canCarry(messages []provider.Message, was, now provider.Info) bool {
	onlyThere := func(b provider.Block) bool {
		return was.Provider != now.Provider || b.Type == provider.Opaque || len(b.Raw) > 0
	}
	return was == now || !slices.ContainsFunc(messages, func(m provider.Message) bool {
		return m.Role == provider.Assistant && slices.ContainsFunc(m.Blocks, onlyThere)
	})
}

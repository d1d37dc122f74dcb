package sdkhttp

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// findServed returns the agent in the path of a request, if it is served by Agent2Agent; without one in the path, the
// first agent served. An id that several agents have stands for none.
func (h *Handler) findServed(c *call) (*sdk.Agent, error) {
	served := h.o.Agents
	if len(served) == 0 && c.id() == "" { // all are
		list, err := h.o.Client.Agents(c.r.Context())
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			served = append(served, a.ID)
		}
	}
	if c.id() == "" {
		for _, id := range served {
			if a, err := h.o.Client.Agent(c.r.Context(), id); err == nil {
				return a, nil
			}
		}
	}
	a, err := h.o.Client.Agent(c.r.Context(), c.id())
	if err == nil && len(served) > 0 && !slices.ContainsFunc(served, func(id string) bool { return id == a.ID || slices.Contains(a.Aliases, id) }) {
		err = &sdk.AgentError{ID: a.ID, Why: "it is not served to other agents; --agent names those that are"}
	}
	return a, err
}

// showCard returns the card of an agent: of the one in the path, or of the first.
func (h *Handler) showCard(c *call) (any, error) {
	a, err := h.findServed(c)
	if err != nil {
		return nil, err
	}
	address := cmp.Or(strings.TrimSuffix(h.o.Address, "/"), "http://"+c.r.Host) + "/a2a/" + url.PathEscape(a.ID)
	card := a2a.AgentCard{
		Name: cmp.Or(a.Name, a.ID), Description: cmp.Or(a.WhenToUse, a.Persona.Role, a.Title, a.ID), Version: h.o.Version,
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(address, a2a.TransportProtocolJSONRPC)},
		DefaultInputModes:   []string{"text/plain", "application/json"}, DefaultOutputModes: []string{"text/plain", "text/markdown"},
		Capabilities: a2a.AgentCapabilities{Streaming: true}, Skills: []a2a.AgentSkill{},
	}
	for _, item := range slices.Concat(a.Commands, []sdk.Command{{Code: "chat", Description: "Takes any task in its field, in your own words."}}) {
		code := strings.TrimLeft(item.Code, "*/")
		card.Skills = append(card.Skills, a2a.AgentSkill{ID: code, Name: code, Description: item.Description, Tags: []string{a.ID}})
	}
	if h.o.Token != "" {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"bearer": {}}}
	}
	return card, nil
}

package sdkhttp

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// findServed returns the agent in the path of a request, if it is served by Agent2Agent: without one in it, the first.
func (h *Handler) findServed(c *call) (*sdk.Agent, error) {
	ids, err := h.servedAgents(c)
	if err != nil {
		return nil, err
	}
	a, err := h.o.Client.Agent(c.r.Context(), cmp.Or(c.id(), append(ids, "")[0]))
	if err == nil && !slices.ContainsFunc(append(a.Aliases, a.ID), func(id string) bool { return slices.Contains(ids, id) }) {
		err = &sdk.AgentError{ID: a.ID, Why: "it is not served to other agents; --agent names those that are"}
	}
	return a, err
}

// servedAgents returns the ids of the agents served by Agent2Agent.
func (h *Handler) servedAgents(c *call) ([]string, error) {
	if len(h.o.Agents) > 0 {
		return slices.Clone(h.o.Agents), nil
	}
	list, err := h.o.Client.Agents(c.r.Context())
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids, err
}

// othersURI names the extension of a card with the addresses of the cards of all agents here.
const othersURI = "https://github.com/bmad-mcp/bmad-mcp/a2a/agents"

// showCard describes an agent for Agent2Agent: the one in the path, or the first one with the addresses of all.
func (h *Handler) showCard(c *call) (any, error) {
	a, err := h.findServed(c)
	if err != nil {
		return nil, err
	}
	address := cmp.Or(strings.TrimSuffix(h.o.Address, "/"), "http://"+c.r.Host) + "/a2a/"
	card := a2a.AgentCard{
		Name: cmp.Or(a.Name, a.ID), Description: cmp.Or(a.WhenToUse, a.Persona.Role, a.Title, a.ID), Version: h.o.Version,
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(address+url.PathEscape(a.ID), a2a.TransportProtocolJSONRPC)},
		DefaultInputModes:   []string{"text/plain", "application/json"}, DefaultOutputModes: []string{"text/plain", "text/markdown"},
		Capabilities: a2a.AgentCapabilities{Streaming: true}, Skills: []a2a.AgentSkill{},
	}
	for _, item := range append(a.Commands, sdk.Command{Code: "chat", Description: "Takes any task in its field, in your own words."}) {
		code := strings.TrimLeft(item.Code, "*/")
		card.Skills = append(card.Skills, a2a.AgentSkill{ID: code, Name: code, Description: item.Description, Tags: []string{a.ID}})
	}
	if h.o.Token != "" {
		card.SecuritySchemes = a2a.NamedSecuritySchemes{"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
		card.SecurityRequirements = a2a.SecurityRequirementsOptions{{"bearer": {}}}
	}
	if c.id() == "" {
		cards := map[string]any{}
		ids, _ := h.servedAgents(c) // as before
		for _, id := range ids {
			cards[id] = address + url.PathEscape(id) + "/.well-known/agent-card.json"
		}
		card.Capabilities.Extensions = []a2a.AgentExtension{{URI: othersURI, Description: "The cards of all agents of this server.", Params: cards}}
	}
	return card, nil
}

package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// The parts of a reply.
type (
	// Reply is what an action answers.
	Reply = reply.Reply
	// Resource is something of a project that can be read by itself.
	Resource = reply.Resource
	// SessionView is a session in a list.
	SessionView = reply.SessionView
)

// MaxReply is the size, in bytes of JSON, that no reply exceeds.
const MaxReply = reply.Max

// reply describes a session, with a message for the human.
func (r *run) reply(s *standing.Standing, d reply.Depth, message string) (*Reply, error) {
	if !reply.Briefs(s, d) {
		return reply.New(s, d, message, ""), nil
	}
	prompt, err := r.project.Prompt(s.Stage)
	if err != nil {
		return nil, err
	}
	role := prompt.Later(s.Stage.GateScore)
	if d == reply.Whole {
		role = r.persona(r.project, s.Stage) + prompt.Full(s.Stage.GateScore)
	}
	return reply.New(s, d, message, role+prompts.Languages(s.Stage, s.Documents, s.Language)), nil
}

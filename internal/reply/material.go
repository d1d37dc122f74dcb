package reply

import (
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// material holds the parts of a reply that a role prompt refers to, under the same keys.
type material struct {
	Stage    workflow.StageID   `json:"stage"`
	Draft    *standing.Document `json:"draft,omitempty"`
	Context  *Context           `json:"context,omitempty"`
	Gaps     []string           `json:"gaps,omitempty"`
	Findings []workflow.Finding `json:"findings,omitempty"`
	Owed     []string           `json:"owed,omitempty"`
	OwedMore *OwedMore          `json:"owed_more,omitempty"`
	Returned []string           `json:"returned,omitempty"`
	Requests []CommentView      `json:"change_requests,omitempty"`
	Evidence *EvidenceView      `json:"evidence,omitempty"`
	Sprints  []workflow.Sprint  `json:"sprints,omitempty"`
	// Build are the sprints that the person wants.
	Build any    `json:"build,omitempty"`
	File  string `json:"session_file,omitempty"`
}

// Material returns the compact JSON of the parts that the role prompt refers to, for one who gets
// nothing else of the reply. builds is true if the person has started the work on a build.
func (r *Reply) Material(builds bool) ([]byte, error) {
	m := material{
		Stage: r.Stage, Draft: r.Draft, Context: r.Context, Gaps: r.Gaps, Findings: r.Findings, Owed: r.Owed, OwedMore: r.OwedMore, Returned: r.Returned,
		Requests: r.ChangeRequests, Evidence: r.Evidence, Sprints: r.Sprints, File: r.SessionFile,
	}
	if builds {
		m.Build = r.NextCall["sprints"]
	}
	return workflow.Marshal(m)
}

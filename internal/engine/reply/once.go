package reply

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// sayOnce drops the keys with values found elsewhere in a lean reply. The message stays whole, because it is for
// the person. A reply with a role prompt keeps the parts named in the prompt, and the first reply of a
// conversation keeps the parts for the host's pages.
func (r *Reply) sayOnce() *Reply {
	r.form.once = true
	r.CurrentStage, r.CurrentState, r.StageDescription = "", "", ""
	if r.NextCall["session_id"] != nil && r.action != workflow.ActionStart {
		r.SessionID = ""
	}
	r.Engines = slices.DeleteFunc(slices.Clone(r.Engines), func(e workflow.Engine) bool {
		return r.NextCall[string(e)+"_result_path"] != nil
	})
	said := func(text string) bool { return strings.Contains(r.UserMessage, text) }
	if said(r.Artifact) {
		r.Artifact = ""
	}
	if r.RolePrompt != "" || r.TaskName != "" {
		return r
	}
	r.Gaps = slices.DeleteFunc(slices.Clone(r.Gaps), said)
	r.Questions = slices.DeleteFunc(slices.Clone(r.Questions), func(q workflow.Question) bool { return said(q.Question) })
	if d := r.Draft; d != nil && d.SHA256 == "" && said(d.Path) {
		r.Draft = nil
	}
	return r
}

// terse is the form of a reply in which each thing stands once. Its keys hide the ones common to all replies;
// requires_user_confirmation is there only if true.
type terse struct {
	Waits bool `json:"requires_user_confirmation,omitempty"`
	*Reply
	Interaction string   `json:"interaction_type,omitempty"`
	Actions     []string `json:"pending_user_actions,omitempty"`
}

func (r *Reply) terseForm() terse {
	out := terse{Waits: r.RequiresUserConfirmation, Reply: r}
	if r.State == workflow.Clarifying && len(r.PendingUserActions) > 1 {
		out.Actions = r.PendingUserActions // the state alone does not offer them
	}
	return out
}

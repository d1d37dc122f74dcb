package mcpserver

import (
	"context"
	_ "embed"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/arguments"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	//go:embed confirm_description.md
	confirmDescription string
	//go:embed confirm_schema.json
	confirmSchema []byte
)

// ConfirmTool is the name of the tool about which the host asks the person on every call.
const ConfirmTool = "bmad-confirm"

// confirmation has the arguments of a call of bmad-confirm.
type confirmation struct{ sessionID, cwd, stage, decision, sha256, feedback string }

// confirmMissing is the hint to a call that lacks something.
var confirmMissing = lang.T("pass session_id, stage, decision and the sha256 of draft in the last reply")

var confirmArguments = arguments.Set[confirmation]{
	Schema:  arguments.ShapeOf(confirmSchema),
	Example: `{"session_id": "…", "stage": "po", "decision": "approve", "sha256": "…"}`,
	Table: []arguments.Argument[confirmation]{
		{Name: "session_id", Text: func(d *confirmation) *string { return &d.sessionID }, Missing: confirmMissing},
		{Name: "stage", Text: func(d *confirmation) *string { return &d.stage }, Missing: confirmMissing},
		{Name: "decision", Text: func(d *confirmation) *string { return &d.decision }, Missing: confirmMissing},
		{Name: "sha256", Text: func(d *confirmation) *string { return &d.sha256 }, Missing: confirmMissing},
		{Name: "feedback", Text: func(d *confirmation) *string { return &d.feedback }},
		{Name: "cwd", Text: func(d *confirmation) *string { return &d.cwd }},
	},
}

// decodeConfirm reads the arguments of bmad-confirm.
func decodeConfirm(raw []byte) (confirmation, error) {
	d, err := confirmArguments.Decode(raw)
	if err == nil && d.decision != string(workflow.DecisionApprove) && d.decision != string(workflow.DecisionChanges) {
		err = fault.New(fault.InvalidArgument, "decision %q is none of %s, %s", clip(d.decision), workflow.DecisionApprove, workflow.DecisionChanges).
			WithHint("approve saves the document and goes on; request_changes asks for another round with the feedback")
	}
	return d, err
}

func (t tasks) confirm(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	d, err := decodeConfirm(rawArguments(call))
	if err != nil {
		return t.refuseCall(ctx, call, err), nil
	}
	req := t.request(ctx)
	req.Session, req.Cwd, req.Stage, req.Feedback, req.Draft = d.sessionID, d.cwd, d.stage, d.feedback, d.sha256
	req.Via, req.HostConfirm = workflow.ChannelHostConfirmed, true
	if ask := t.place(ctx, call, &req); ask != nil {
		return ask, nil
	}
	action, session, err := t.engine.GateAction(ctx, req.Address)
	if err != nil {
		return t.refuse(ctx, req, err), nil
	}
	yes := d.decision == string(workflow.DecisionApprove)
	req.Action, req.Revision, req.Yes = action, &session.Revision, &yes
	return t.do(ctx, req, nil), nil
}

package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// ConfirmTool is the name of the tool for which the host asks the person on every call.
const ConfirmTool = "bmad-confirm"

var (
	confirmSchema    = readEmbedded("confirm_schema.json")
	confirmArguments = func() request.Arguments[request.Values] {
		out := request.ArgumentsOf(confirmSchema, `{"session_id": "…", "stage": "po", "decision": "approve", "sha256": "…"}`, nil,
			"session_id", "stage", "decision", "sha256", "feedback", "cwd")
		out.Missing = lang.T("pass session_id, stage, decision and the sha256 of draft in the last reply")
		return out
	}()
)

// decodeConfirm reads the arguments of bmad-confirm.
func decodeConfirm(raw []byte) (request.Values, error) {
	given, err := confirmArguments.Decode(raw)
	decision := given.Text("decision")
	if err == nil && decision != string(workflow.DecisionApprove) && decision != string(workflow.DecisionChanges) {
		err = fault.New(fault.InvalidArgument, "decision %q is none of %s, %s", clipText(decision), workflow.DecisionApprove, workflow.DecisionChanges).
			WithHint("approve saves the document and goes on; request_changes asks for another round with the feedback")
	}
	return given, err
}

func (t tasks) callConfirm(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given, err := decodeConfirm(rawArguments(call))
	if err != nil {
		return t.refuseCall(ctx, call, err), nil
	}
	req := t.requestFrom(ctx)
	req.Session, req.Cwd, req.Stage = given.Text("session_id"), given.Text("cwd"), given.Text("stage")
	req.Feedback, req.Draft = given.Text("feedback"), given.Text("sha256")
	req.Via, req.HostConfirm = workflow.ChannelHostConfirmed, true
	if ask := t.placeCall(ctx, call, &req); ask != nil {
		return ask, nil
	}
	action, session, err := t.engine.GateAction(ctx, req.Address)
	if err != nil {
		return t.failureResult(ctx, req, err), nil
	}
	yes := given.Text("decision") == string(workflow.DecisionApprove)
	req.Action, req.Revision, req.Yes = action, &session.Revision, &yes
	return t.runAction(ctx, req, nil), nil
}

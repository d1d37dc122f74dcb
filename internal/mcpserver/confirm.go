package mcpserver

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
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

func confirmTool() mcp.Tool {
	// Claude Code asks the person on each call of such a tool, whatever the permission mode.
	return newTool(ConfirmTool, "Decide at a BMAD gate", confirmDescription, confirmSchema, map[string]any{"anthropic/requiresUserInteraction": true})
}

// HostConfirm says for which clients the tool bmad-confirm is listed: by HostConfirmAuto for
// those on stdio that say they are a host known to ask the person.
type HostConfirm string

// The values of HostConfirm. The empty one is HostConfirmAuto.
const (
	HostConfirmAuto   HostConfirm = "auto"
	HostConfirmAlways HostConfirm = "always"
	HostConfirmNever  HostConfirm = "never"
)

// askingHosts are the clients that are known to ask the person on each call of a tool
// with requiresUserInteraction, with the first version that does.
var askingHosts = map[string][]int{"claude-code": {2, 1, 199}}

// hostConfirms reports whether the host of a request asks the person about bmad-confirm.
func (s *Server) hostConfirms(ctx context.Context) bool {
	if httpguard.FromPage(ctx) {
		return false // nobody's host, whatever the settings say of hosts
	}
	switch s.hostConfirm {
	case HostConfirmAlways:
		return true
	case HostConfirmNever:
		return false
	}
	if _, overHTTP := httpguard.VisitorIn(ctx); overHTTP {
		return false // anyone who reaches the port can give a host's name
	}
	client := mcpwire.ClientInfo(ctx)
	first, known := askingHosts[client.Name]
	return known && slices.Compare(versionNumbers(client.Version), first) >= 0
}

// versionNumbers returns the numbers of a version such as "2.1.199-beta (Claude Code)".
func versionNumbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		end := strings.IndexFunc(part+" ", func(r rune) bool { return r < '0' || r > '9' })
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}

// listedTools leaves out, of lists and of calls, the tools of toolsets that are not offered,
// and bmad-confirm for clients that would call it without asking.
func (s *Server) listedTools(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	asks := s.hostConfirms(ctx)
	return slices.DeleteFunc(slices.Clone(tools), func(t mcp.Tool) bool { return t.Name == ConfirmTool && !asks || !s.callable(t.Name) })
}

// confirmArguments are those of bmad-confirm.
type confirmArguments struct {
	SessionID string `json:"session_id"`
	Cwd       string `json:"cwd"`
	Stage     string `json:"stage"`
	Decision  string `json:"decision"`
	SHA256    string `json:"sha256"`
	Feedback  string `json:"feedback"`
}

func (s *Server) handleConfirm(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := decodeConfirm(rawArguments(call))
	if err != nil {
		return failure(err), nil
	}
	req := engine.Request{
		SessionID: args.SessionID, Cwd: args.Cwd, Stage: args.Stage, Feedback: args.Feedback, Draft: args.SHA256,
		By: caller(ctx), Client: s.client(ctx), Via: workflow.ChannelHostConfirmed, HostConfirm: true,
	}
	if ask := s.place(ctx, call, &req); ask != nil {
		return ask, nil
	}
	action, session, err := s.engine.GateAction(ctx, req)
	if err != nil {
		return failure(err), nil
	}
	yes := args.Decision == string(workflow.DecisionApprove)
	req.Action, req.Revision, req.Confirmed = action, &session.Revision, &yes
	if action == workflow.ActionApprove {
		req.Confirmed, req.Approved = nil, &yes
	}
	return s.do(ctx, req, nil), nil
}

// decodeConfirm reads the arguments of a call.
func decodeConfirm(raw []byte) (confirmArguments, error) {
	var args confirmArguments
	if err := checkEncoding(raw); err != nil {
		return args, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return args, fault.New(fault.InvalidArgument, "the arguments do not fit: %s", strings.TrimPrefix(err.Error(), "json: ")).
			WithHint("pass session_id, stage, decision and sha256 as texts")
	}
	for _, due := range []struct{ name, value string }{{"session_id", args.SessionID}, {"stage", args.Stage}, {"decision", args.Decision}, {"sha256", args.SHA256}} {
		if strings.TrimSpace(due.value) == "" {
			return args, fault.New(fault.InvalidArgument, "%s is missing", due.name).
				WithHint("pass session_id, stage, decision and the sha256 of draft in the last reply")
		}
	}
	if args.Decision != string(workflow.DecisionApprove) && args.Decision != string(workflow.DecisionChanges) {
		return args, fault.New(fault.InvalidArgument, "decision %q is none of %s, %s", clip(args.Decision), workflow.DecisionApprove, workflow.DecisionChanges).
			WithHint("approve saves the document and goes on; request_changes asks for another round with the feedback")
	}
	return args, nil
}

package mcpserver

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TaskTool is the name of the workflow tool.
const TaskTool = "bmad-task"

// tasks serves the tools of the workflow.
type tasks struct {
	*callers
	metrics *metrics
	feed    *feed.Feed
	news    *news
	// leaving ends once no call may wait any longer for a person; limiter counts the waiting calls.
	leaving context.Context
	limiter *httpguard.Limiter
}

// waitLimits bound the calls waiting at a time, of one client and of all, because each holds a connection, or
// on stdio a worker. A call beyond the limits is answered at once.
var waitLimits = httpguard.Limits{PeerStreams: 12, Streams: 1000}

func (t tasks) task(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	req, err := request.Parse(rawArguments(call))
	if err != nil {
		return t.refuseCall(ctx, call, err), nil
	}
	req.Caller = t.requestFrom(ctx).Caller
	req.Tell, req.Via, req.HostConfirm, req.Chat = noticeSender(ctx, call), workflow.ChannelRelayed, t.hostConfirms(ctx), !showsForms(ctx)
	channel := newFormChannel(ctx, t.forms, call)
	if channel != nil && channel.lost && req.Action == workflow.ActionSubmit {
		// The submission was taken before the questions were asked. It must not be taken twice.
		req = request.Request{Action: workflow.ActionStatus, Address: req.Address, Caller: req.Caller}
	}
	if channel != nil {
		req.Ask, req.Forms, req.NoForms = channel, true, channel.isSilent()
	}
	switch f := channel.answeredForm(); {
	case f == nil:
	case f.moved && channel.answer == nil:
		// Another face has decided: the call says where the run is.
		req = request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: f.bound.SessionID, Cwd: f.cwd}, Caller: req.Caller}
		channel.answered = nil
	default:
		// The form determines the subject of the call, whatever the arguments say.
		req.Session, req.Cwd, req.Revision = f.bound.SessionID, f.cwd, &f.bound.Revision
		if f.bound.Action == workflow.ActionAnswer {
			// The call may be the submission that raised the questions, which was taken already.
			req = request.Request{
				Action: workflow.ActionAnswer, Address: req.Address, Revision: req.Revision, Caller: req.Caller,
				Decision: request.Decision{Answers: req.Answers},
			}
		}
		if channel.hasAnswer() {
			req.Via = "" // whatever the call says, the person has decided
		}
	}
	req.Blind = req.Via != "" && t.isBlind(ctx, req)
	if ask := t.placeCall(ctx, call, &req); ask != nil {
		return ask, nil
	}
	return t.runAction(ctx, req, channel), nil
}

// isBlind reports whether a call would accept whichever draft waits, without a sign of the one the caller has
// seen: modern clients have no sessions over HTTP.
func (t tasks) isBlind(ctx context.Context, req request.Request) bool {
	asksPerson := req.Ask != nil && req.Yes == nil
	if !t.places.Remote || !server.IsModernRequest(ctx) || req.Revision != nil || asksPerson {
		return false
	}
	switch req.Action {
	case workflow.ActionConfirm:
		return req.Yes == nil || *req.Yes
	case workflow.ActionApprove:
		return req.Yes != nil && *req.Yes
	}
	return false
}

// runAction runs an action and returns the result: the reply, the refusal, or the question to the person.
func (t tasks) runAction(ctx context.Context, req request.Request, channel *formChannel) *mcp.CallToolResult {
	began, waited := t.engine.Clock(), time.Duration(0)
	client := mcpwire.ClientKey(ctx)
	req.Hold = func(ctx context.Context, project, seen string, look func(context.Context) string) {
		done, ok := t.limiter.Stream(client, "")
		if !ok {
			return
		}
		defer done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(t.leaving, cancel)()
		from := t.engine.Clock()
		t.feed.Await(ctx, project, seen, look)
		waited += t.engine.Clock().Sub(from)
	}
	endCall := t.news.beginCall(ctx)
	out, err := engine.Outcome{}, error(nil)
	defer func() { endCall(out, errors.Is(err, request.ErrAsked)) }()
	out, err = t.engine.Do(ctx, req)
	t.metrics.countAction(req.Action, t.engine.Clock().Sub(began)-waited, outcomeName(err))
	switch {
	case errors.Is(err, request.ErrAsked) && channel != nil && channel.asking != nil:
		t.log.Info("asked", "action", req.Action, "session", req.Session)
		return channel.asking
	case err != nil:
		t.log.Info("refused", "action", req.Action, "session", req.Session, "error", err)
		return t.failureResult(ctx, req, err)
	}
	t.feed.Poke() // the action may have changed something
	t.log.Info("done", "action", req.Action, "session", out.SessionID, "stage", out.Stage, "state", out.State)
	data, err := out.Lean().Encode()
	if err != nil {
		return t.failureResult(ctx, req, err)
	}
	return mcp.NewToolResultText(string(data))
}

// noticeSender returns a function that passes an action's notices on to the client: as progress if the call
// asks for it, and as log messages at level info, for clients that want this level.
func noticeSender(ctx context.Context, call mcp.CallToolRequest) func(request.Notice) {
	var token mcp.ProgressToken
	if call.Params.Meta != nil {
		token = call.Params.Meta.ProgressToken
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	var mu sync.Mutex
	last := -1.0
	return func(n request.Notice) {
		mu.Lock()
		defer mu.Unlock()
		if mcpwire.Detach(ctx, n.Message) {
			return // the task has the message, and the request is answered
		}
		// The work goes on if a client takes no notification.
		_ = srv.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "bmad-mcp", n.Message))
		if token == nil {
			return
		}
		// Progress has to grow each time, by the protocol; a clock may stand still.
		progress := max(n.Elapsed.Seconds(), math.Nextafter(last, math.MaxFloat64))
		last = progress
		params := map[string]any{"progressToken": token, "progress": progress, "message": n.Message}
		if n.Limit > 0 {
			params["total"] = max(n.Limit.Seconds(), progress)
		}
		_ = mcpwire.SendProgress(ctx, params)
	}
}

package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stagePrompt is the prompt of a stage's briefing.
const stagePrompt = "bmad-stage"

// addTask offers the prompts of the workflow.
func (p *prompts) addTask() {
	task := mcp.WithArgument("task", mcp.ArgumentDescription("task name or session id; may be left out when the project has one active session"))
	add := p.addPrompt
	add("bmad", "Start or continue", "Start a task through all six stages, or go on with the one at work", p.startPrompt,
		mcp.WithArgument("objective", mcp.ArgumentDescription("the thing to build; without it the active task goes on")))
	add("bmad-status", "Where it stands", "Where a task stands: stages, scores, what waits for whom", p.statusPrompt, task)
	add("bmad-next", "What can I do now", "What you can do or decide now, in your words", p.nextPrompt, task)
	add(stagePrompt, "A stage's briefing", "The briefing of a role for the task at work", p.stageBriefing,
		mcp.WithArgument("stage", mcp.ArgumentDescription("po, architect, …; without it the stage that the task is at")), task)
}

// rerouteStage turns a request for the unlisted prompt of a built-in stage into one for stagePrompt.
func rerouteStage(message *mcp.GetPromptRequest) {
	id, ok := strings.CutPrefix(message.Params.Name, stagePrompt+"-")
	if !ok {
		return
	}
	for _, st := range workflow.StagesOf(workflow.Builtins()...) {
		if string(st.ID) == id {
			takeFor(message, stagePrompt, st.Label+" briefing", "stage", id)
		}
	}
}

// runQuery runs an action that changes nothing.
func (p *prompts) runQuery(ctx context.Context, base request.Request, action workflow.Action, task string) (*reply.Reply, error) {
	base.Action, base.Session = action, strings.TrimSpace(task)
	out, err := p.engine.Do(ctx, base)
	return out.Reply, err
}

func (p *prompts) startPrompt(ctx context.Context, base request.Request, arguments map[string]string) (string, error) {
	objective := strings.TrimSpace(arguments["objective"])
	if len(objective) > request.MaxObjective {
		return "", fault.New(fault.InvalidArgument, "the objective has %d bytes; at most %d are accepted", len(objective), request.MaxObjective).
			WithHint("put the details into a file of the project, and name the file")
	}
	now, err := p.runQuery(ctx, base, workflow.ActionStatus, "")
	if err != nil {
		return "", err
	}
	switch {
	case objective != "":
		text := fmt.Sprintf("Take this through the BMAD workflow with the tool %s:\n\n%s\n\n", TaskTool, quoteText(objective)) +
			"Call it with action start and my words above as the objective. Then act in the role that it gives you, and stop wherever it waits for me."
		if !strings.ContainsAny(objective, " \n") { // some hosts pass on only the text before the first space
			text += "\n\nIf this message shows more of my words, as in <command-args>, all of them are the objective. " +
				"If this one word is all there is, and it does not describe a thing to build, ask me first."
		}
		if at := activeTasks(now); at != "" {
			text += "\n\nThis project has already: " + at + ".\nIf my words mean one of these, go on with it by action resume and its session_id, and do not start another."
		}
		return text, nil
	case now.SessionID == "" && len(now.Sessions) == 0:
		return fmt.Sprintf("I want to build something with the BMAD workflow. Ask me what it is, in one question. "+
			"Then call the tool %s with action start and my answer as the objective, act in the role that it gives you, and stop wherever it waits for me.", TaskTool), nil
	case now.SessionID == "" && activeTasks(now) == "":
		return "I want to build something with the BMAD workflow, or change something that is complete. The server says:\n\n" + quoteText(now.UserMessage) +
			fmt.Sprintf("\n\nAsk me which. Then call the tool %s with action start and my answer as the objective, or "+
				"with action reopen, its session_id, the stage and what I want changed.", TaskTool), nil
	case now.SessionID == "":
		return "I want to go on with a BMAD task. The server says:\n\n" + quoteText(now.UserMessage) +
			fmt.Sprintf("\n\nAsk me which of them, or what else to build. Then call the tool %s with action resume and its session_id, or with action start.", TaskTool), nil
	}
	return "Go on with the BMAD task at work. The server says:\n\n" + quoteText(now.UserMessage) +
		fmt.Sprintf("\n\nCall the tool %s with action resume and session_id %s for the full briefing, and go on from there. Stop wherever it waits for me.", TaskTool, now.SessionID), nil
}

// activeTasks names the active tasks of a status.
func activeTasks(r *reply.Reply) string {
	if r.SessionID != "" && r.State.Active() {
		return fmt.Sprintf("%s (session_id %s, at %s)", r.TaskName, r.SessionID, r.Stage)
	}
	var at []string
	for _, v := range r.Sessions {
		if v.State.Active() {
			at = append(at, fmt.Sprintf("%s (session_id %s, at %s)", v.TaskName, v.SessionID, v.Stage))
		}
	}
	return strings.Join(at, ", ")
}

func (p *prompts) statusPrompt(ctx context.Context, base request.Request, arguments map[string]string) (string, error) {
	now, err := p.runQuery(ctx, base, workflow.ActionStatus, arguments["task"])
	if err != nil {
		return "", err
	}
	return "Tell me where the BMAD work stands, in a few lines. The server says:\n\n" + quoteText(now.UserMessage) + stageTable(now) +
		"\n\nThat is all there is to tell: call no tool, and decide nothing.", nil
}

// stageTable returns the stages of a status as a table in Markdown.
func stageTable(r *reply.Reply) string {
	if len(r.Stages) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n| Stage | Status | Rounds | Score | Audit | Decided | Document |\n|---|---|---|---|---|---|---|\n")
	for _, v := range r.Stages {
		decided := ""
		if v.Grant != nil {
			decided = fmt.Sprintf("%s, %s (%s)", strings.ReplaceAll(string(v.Grant.Decision), "_", " "), v.Grant.Channel, v.Grant.Assurance)
			if v.Grant.Unvouched {
				decided = "unconfirmed, the file says: " + string(v.Grant.Channel)
			}
		}
		result := formatScore(v.Score)
		if v.Verdict != "" {
			result = string(v.Verdict)
		}
		document := v.Artifact
		for _, note := range []struct {
			on   bool
			text string
		}{{v.Stale, "stale"}, {v.Missing, "missing"}, {v.Modified, "edited since"}} {
			if note.on {
				document += " (" + note.text + ")"
			}
		}
		rounds := ""
		if v.Iteration > 0 {
			rounds = fmt.Sprint(v.Iteration)
		}
		status := strings.ReplaceAll(string(v.Status), "_", " ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", v.Stage, status, rounds, result, formatScore(v.Audit), decided, document)
	}
	return strings.TrimRight(b.String(), "\n")
}

func formatScore(f *float64) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%g", *f)
}

func (p *prompts) nextPrompt(ctx context.Context, base request.Request, arguments map[string]string) (string, error) {
	now, err := p.runQuery(ctx, base, workflow.ActionStatus, arguments["task"])
	if err != nil {
		return "", err
	}
	text := "Tell me what I can do now about the BMAD work: what waits, for whom, and the words I can say, with what each does. " +
		"In at most five lines, the likeliest first. The server says:\n\n" + quoteText(now.UserMessage)
	if now.Gate != nil {
		text += fmt.Sprintf("\n\nI can also decide by myself in a terminal: `%s`.", now.Gate.Terminal)
	}
	return text + "\n\nCall no tool, and decide nothing for me.", nil
}

// stageBriefing returns the briefing of the stage in the arguments, or of the task's present stage without
// one.
func (p *prompts) stageBriefing(ctx context.Context, base request.Request, arguments map[string]string) (string, error) {
	wanted := workflow.StageID(strings.TrimSpace(arguments["stage"]))
	all := p.engine.Stages(base.Address)
	at := slices.IndexFunc(all, func(st workflow.Stage) bool { return st.ID == wanted })
	if wanted != "" && at < 0 {
		var ids []string
		for _, st := range all {
			ids = append(ids, string(st.ID))
		}
		return "", fault.New(fault.InvalidArgument, "there is no stage %q", wanted).WithHint("use one of: %s", strings.Join(ids, ", ")).Suggest(string(wanted), ids)
	}
	now, err := p.runQuery(ctx, base, workflow.ActionStatus, arguments["task"])
	if err != nil {
		return "", err
	}
	if now.SessionID == "" {
		return fmt.Sprintf("I asked for the briefing of a stage, but it is not clear for which task. The server "+
			"says:\n\n%s\n\nTell me so in a line or two, and do nothing else.", quoteText(now.UserMessage)), nil
	}
	if wanted == "" {
		at = slices.IndexFunc(all, func(st workflow.Stage) bool { return st.ID == now.Stage })
		wanted = now.Stage
	}
	if there := now.State.Active() && now.Stage == wanted; at >= 0 && !there {
		return describeOtherStage(now, all[at]), nil
	}
	if now, err = p.runQuery(ctx, base, workflow.ActionResume, now.SessionID); err != nil {
		return "", err
	}
	return briefingText(now)
}

// describeOtherStage says that a task is not at a stage, with the remedy.
func describeOtherStage(now *reply.Reply, st workflow.Stage) string {
	text := fmt.Sprintf("I asked for the %s's briefing, but the task %s is not at that stage. The server "+
		"says:\n\n%s\n\nTell me so in a line or two. ", st.Role, now.TaskName, quoteText(now.UserMessage))
	switch there, here := now.At(st.ID), now.At(now.Stage); {
	case there < 0:
		return text + "Its workflow does not have this stage. Do nothing else."
	case now.State.Active() && there > here:
		return text + "It comes there by the stages before. Do nothing else."
	}
	return text + fmt.Sprintf("The stage can be taken up again: if I ask for that, call the tool %s with action "+
		"reopen, session_id %s, stage %s and what I want changed. Until then, do nothing.",
		TaskTool, now.SessionID, st.ID)
}

// briefingText returns the briefing of the current stage for an assistant, with the tool's reply in it.
func briefingText(now *reply.Reply) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Take up the BMAD task %s at its present stage. The server says:\n\n%s\n", now.TaskName, quoteText(now.UserMessage))
	if now.RequiresUserConfirmation {
		b.WriteString("\nIt waits for me: ask me, and go on only with my words.\n")
	}
	rest := *now.Lean()
	rest.UserMessage, rest.RolePrompt = "", ""
	data, err := rest.Encode()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\nIts data for you (paths are relative to %s):\n\n```json\n%s\n```\n", now.Cwd, data)
	if now.RolePrompt != "" {
		b.WriteString("\n" + now.RolePrompt + "\n")
	}
	fmt.Fprintf(&b, "\nGo on with the tool %s, beginning with next_call.\n", TaskTool)
	return b.String(), nil
}

// quoteText quotes a text, because a model may have written it.
func quoteText(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}

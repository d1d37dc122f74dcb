package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// People choose prompts in their host, mostly as slash commands. A prompt speaks for the person to the
// assistant, and contains the state of the work for the assistant to start from. No prompt changes anything.

// prompts are the prompts of a server.
type prompts struct {
	*callers
	offer *offer
	// add adds a prompt to the library.
	add func(mcp.Prompt, server.PromptHandlerFunc)

	// all are the prompts for every caller, without the agents.
	all []mcp.Prompt
}

// addPrompt adds a prompt for every caller.
func (p *prompts) addPrompt(name, title, description string, handle promptHandler, options ...mcp.PromptOption) {
	options = append(options, p.cwdArgument()...)
	prompt := mcp.NewPrompt(name, append([]mcp.PromptOption{mcp.WithPromptDescription(description)}, options...)...)
	prompt.Title, prompt.Icons = title, icons()
	p.add(prompt, p.libraryHandler(title, handle))
	p.all = append(p.all, prompt)
}

// cwdArgument returns the argument for the project, if nothing else can name it.
func (p *prompts) cwdArgument() []mcp.PromptOption {
	if p.places.Remote && p.defaultFolder() == "" {
		return []mcp.PromptOption{mcp.WithArgument("cwd", mcp.ArgumentDescription("absolute path of the project folder"))}
	}
	return nil
}

// Each agent of the method is a prompt, too, bmad-{agent}. The agents differ from caller to caller: they are
// added to the outgoing list, and an incoming request for one becomes a request for agentPrompt.

// ownTitle is the argument with the title of the answer, in a rerouted request for the prompt of an agent or
// a stage.
const ownTitle = "bmad title"

// promptHandler returns the text of a prompt, in the person's words.
type promptHandler func(ctx context.Context, base request.Request, arguments map[string]string) (string, error)

// libraryHandler turns a handler into one for the library. A refusal becomes the text of the prompt, because
// hosts do not show an error of prompts/get, or show it as their own.
func (p *prompts) libraryHandler(title string, handle promptHandler) server.PromptHandlerFunc {
	return func(ctx context.Context, call mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		title := cmp.Or(call.Params.Arguments[ownTitle], title)
		base := p.baseRequest(ctx)
		base.HostConfirm = p.hostConfirms(ctx)
		if channel := newFormChannel(ctx, p.forms, mcp.CallToolRequest{}); channel != nil {
			base.Ask, base.Forms, base.NoForms = channel, true, channel.isSilent()
		}
		base.Cwd = strings.TrimSpace(call.Params.Arguments["cwd"])
		text, err := func() (text string, err error) {
			defer mcpwire.Caught(p.log, "prompt", call.Params.Name, &err)
			return handle(ctx, base, call.Params.Arguments)
		}()
		if err != nil {
			said := p.engine.Translated(ctx, base, err)
			f, l := NewFailure(said), said.Language
			p.log.Info("refused", "prompt", call.Params.Name, "error", err)
			text = fmt.Sprintf("The BMAD server could not do that: %s\nWhat to do: %s\n\nTell me so, and do nothing else.", endSentence(l, f.Error), endSentence(l, f.Hint))
		}
		return mcp.NewGetPromptResult(title, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
	}
}

// endSentence ends a text with a period, unless it ends with a mark.
func endSentence(l lang.Language, text string) string {
	if end, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune("?.…？。", end) {
		return text
	}
	return l.Say("%s.", text)
}

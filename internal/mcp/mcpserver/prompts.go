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

// People choose prompts in their host, mostly as slash commands. Each speaks for the person to
// the assistant, and carries the state of the work, so that the assistant starts from it. None
// of them changes anything.

// prompts are those of a server.
type prompts struct {
	*callers
	offer *offer
	// add adds a prompt to the library.
	add func(mcp.Prompt, server.PromptHandlerFunc)

	// all are those that every caller may have.
	all []mcp.Prompt
}

// offers adds a prompt for every caller.
func (p *prompts) offers(name, title, description string, handle promptHandler, options ...mcp.PromptOption) {
	options = append(options, p.place()...)
	prompt := mcp.NewPrompt(name, append([]mcp.PromptOption{mcp.WithPromptDescription(description)}, options...)...)
	prompt.Title, prompt.Icons = title, icons()
	p.add(prompt, p.handler(title, handle))
	p.all = append(p.all, prompt)
}

// place returns the argument that says which project is meant, if nothing else does.
func (p *prompts) place() []mcp.PromptOption {
	if p.places.Remote && p.home() == "" {
		return []mcp.PromptOption{mcp.WithArgument("cwd", mcp.ArgumentDescription("absolute path of the project folder"))}
	}
	return nil
}

// Each agent of the method is a prompt too, bmad-{agent}. The agents differ from caller to caller:
// they are added to the list on its way out, and a request for one becomes one for agentPrompt on its
// way in.

// ownTitle has the title of the answer to a request that was for an agent's or a stage's own prompt.
const ownTitle = "bmad title"

// promptHandler returns the text of a prompt, in the person's words.
type promptHandler func(ctx context.Context, base request.Request, arguments map[string]string) (string, error)

// handler turns a handler into one of the library's. A refusal is the text of the prompt: hosts do
// not show an error of prompts/get, or show it as one of theirs.
func (p *prompts) handler(title string, handle promptHandler) server.PromptHandlerFunc {
	return func(ctx context.Context, call mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		title := cmp.Or(call.Params.Arguments[ownTitle], title)
		base := p.base(ctx)
		base.HostConfirm = p.hostConfirms(ctx)
		if channel := newFormChannel(ctx, p.forms, mcp.CallToolRequest{}); channel != nil {
			base.Ask, base.Forms, base.NoForms = channel, true, channel.silent()
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
			text = fmt.Sprintf("The BMAD server could not do that: %s\nWhat to do: %s\n\nTell me so, and do nothing else.", sentence(l, f.Error), sentence(l, f.Hint))
		}
		return mcp.NewGetPromptResult(title, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
	}
}

// sentence ends a text as a sentence.
func sentence(l lang.Language, text string) string {
	if end, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune("?.…？。", end) {
		return text
	}
	return l.Say("%s.", text)
}

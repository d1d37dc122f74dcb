package agents

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
)

// documentOptions are the flags for a document by a template.
type documentOptions struct {
	template  string
	variables []string
	askNobody bool
}

func (o *documentOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.template, "template", "", "write the document of a template of the method, such as prd-tmpl, section by section")
	flags.StringArrayVar(&o.variables, "set", nil, "with --template, the value of a variable: project_name=Shop; or of a condition")
	flags.BoolVar(&o.askNobody, "no-questions", false, "with --template, ask nobody, and name the sections that should be discussed")
}

// writeDocument has an agent write the document of a template.
func (o *workOptions) writeDocument(ctx context.Context, client *sdk.Client, agent, words string, how sdk.SessionOptions) error {
	order := template.Order{Words: words, Variables: map[string]string{"date": o.term.Now().Format(time.DateOnly)}}
	for _, text := range o.variables {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return fault.New(fault.InvalidArgument, "--set %q is not of the form name=value", text).WithHint("write it as --set project_name=Shop")
		}
		order.Variables[name] = value
	}
	file, err := client.Template(ctx, agent, o.template)
	if err != nil {
		return fault.New(fault.NotFound, "the template was not found: %s", err.Error()).WithHint("name one of those, or its path in the installation")
	}
	if _, err = template.Parse(file); err != nil {
		return fault.New(fault.InvalidArgument, "the template %s cannot be used: %s", o.template, err.Error()).WithHint("correct the file, or name another template")
	}
	order.Template, how.NoQuestions = file, o.askNobody
	job, err := template.Start(ctx, client, agent, order, sdk.ConversationOptions{SessionOptions: how})
	if err != nil {
		return o.explainError(err)
	}
	for _, warning := range job.Template.Warnings {
		o.term.Warnf("%s: %s", o.template, warning)
	}
	e := job.Estimate()
	o.estimate = &e
	cost := e.Cost.Short()
	if !e.Known {
		m, _ := o.modelSettings(o.tasks.Workspace) // the client was made with them
		cost = o.term.Lang.Say("at an unknown cost, because the model %s has no known price", m.Name)
	}
	o.term.Warnf("this takes %d calls of the model: at most %d tokens in and %d out, %s, if it uses no tools and nothing is changed",
		e.Calls, e.Prompt, e.Output, cost)
	return o.carryOutDocument(ctx, job)
}

// carryOutDocument is carryOut for a document.
func (o *workOptions) carryOutDocument(ctx context.Context, job *template.Job) error {
	o.job, job.MayReplace = job, o.force
	return o.carryOut(ctx, job.Conversation, func() error { _, err := job.Run(ctx); return err })
}

// sayDocument prints the open points of a document.
func (cs *clients) sayDocument(r *template.Result) {
	for _, list := range []struct {
		words string
		names []string
	}{{cs.term.Lang.Say("without a text"), r.Open}, {cs.term.Lang.Say("left out by the condition"), r.LeftOut},
		{cs.term.Lang.Say("to be discussed, but nobody was asked"), r.NotAsked}, {cs.term.Lang.Say("variables without a value"), r.Unfilled},
		{cs.term.Lang.Say("with more than 100 items, which are cut"), r.Cut}} {
		if len(list.names) > 0 {
			cs.term.Printf("%s: %s\n", list.words, strings.Join(list.names, "; "))
		}
	}
}

package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// allowOptions are the flags of allow.
type allowOptions struct {
	list, forget bool
	program      string
	card         cardOptions
}

// Allow returns the command that allows a project's commands.
func Allow(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o allowOptions
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Allow this project's commands, rubrics and repositories, or take that back",
		Long: `Shows what the project's settings would have the server run or judge by, and asks you,
once for each, whether it may. A repository, and an assistant that writes its files, can
name a command; only you can allow it. What you allow is remembered outside of the
project, by its SHA-256: a changed command or rubric is asked about again. A command is
allowed for this project alone: not for a copy, and not for what comes to its path later.

A folder that names a project of your team's store, which it has not shown before and another
folder shows, is asked about first.

  verify       a command that the server runs when dev or qa hand in their work
  own_verify   the same, from your own file: allowed once for a project, whatever its text
  script       a file that an allowed command names, where it has changed since: it is run
               as it is, and you are told at each run until you have allowed it again
  contract     the script of a kit that checks finished work (cc-verify.sh), as it is now: a
               changed one is not run
  rubric       the project's own rules for audits, in place of the built-in ones (before it is
               allowed, the lower of both scores counts)
  source       a git repository, or a package of npm, from which agents and workflows of the
               BMAD method are taken
  program      pandoc, by which agents of this project convert their documents; asked about
               only with --program pandoc, and again when the file of the program has changed

With --card, it shows the card of an agent on another server (Agent2Agent), and asks you
whether assistants in this project may give tasks to it, by delegate_to_agent. A card
that changes has to be allowed again.`,
		Example: `  bmad-mcp allow
  bmad-mcp allow --card https://agents.acme --token-variable ACME_TOKEN`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAllow(cmd.Context(), term, tasks, o) },
	}
	cmd.Flags().StringVar(&o.card.address, "card", "", "address of the card of an agent on another server")
	cmd.Flags().StringVar(&o.card.variable, "token-variable", "", "variable of the environment with the token for the server of --card")
	cmd.Flags().BoolVar(&o.list, "list", false, "only show them")
	cmd.Flags().BoolVar(&o.forget, "forget", false, "take back everything that was allowed in this project")
	cmd.Flags().StringVar(&o.program, "program", "", "allow agents of this project to use a program: pandoc")
	cmd.MarkFlagsMutuallyExclusive("card", "program", "list", "forget")
	return cmd
}

func runAllow(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, o allowOptions) error {
	at, err := tasks.Address(nil)
	if err != nil {
		return err
	}
	asks := !o.list && !o.forget && !term.JSON
	if asks {
		if err := askSettings(ctx, term); err != nil {
			return err
		}
	}
	cwd, wants, err := tasks.Engine().Wants(at)
	var untied *trust.Untied
	if asks && errors.As(err, &untied) {
		if err = askTie(ctx, term, untied); err == nil {
			cwd, wants, err = tasks.Engine().Wants(at)
		}
	}
	switch {
	case err != nil:
		return err
	case o.forget:
		return takeBack(ctx, term, cwd)
	}
	if wants, err = o.chooseWants(ctx, term, cwd, wants); err != nil {
		return err
	}
	if o.list || term.JSON {
		return showWants(term, cwd, wants)
	}
	return askWants(ctx, term, tasks.Engine(), cwd, wants)
}

// chooseWants returns the card or program that a flag names, else the wants of the project, and the cards and programs
// that are allowed.
func (o allowOptions) chooseWants(ctx context.Context, term *terminal.Terminal, project string, wants []engine.Want) ([]engine.Want, error) {
	if o.card != (cardOptions{}) {
		card, err := o.card.showCard(ctx, term, project)
		return []engine.Want{card}, err
	}
	programs, err := listPrograms(term.Lang, project, o.program)
	if err != nil || o.program != "" {
		return programs, err
	}
	return slices.Concat(wants, programs, listCards(project)), nil
}

// askSettings asks whether the key signs under the settings that this program reads, if it has signed under others.
func askSettings(ctx context.Context, term *terminal.Terminal) error {
	folder := app.SettingsFolder()
	other, err := app.Trust().OtherSettings(folder)
	if err != nil || other == "" {
		return err
	}
	person, err := term.Person()
	if err != nil {
		return err
	}
	agreed, err := person.Agrees(ctx, term.Lang.Say("Your key has signed under the settings in %s. Do those in %s count, too [y/n]: ", other, folder))
	if err != nil || !agreed {
		return err
	}
	return app.Trust().UseSettings(ctx, folder)
}

// askTie asks whether a folder shows the project of the store that it names, and remembers a yes.
func askTie(ctx context.Context, term *terminal.Terminal, u *trust.Untied) error {
	person, err := term.Person()
	if err != nil {
		return err
	}
	question := lang.T("is this folder the project %s of the store", u.Project)
	switch {
	case u.Project == "":
		question = lang.T("is this folder a project of its own from now on, and no longer %s", u.Before)
	case u.BeforeStore != "":
		question = lang.T("are the runs of this folder in the store %s from now on, and no longer in %s", u.Store, u.BeforeStore)
	case u.Before != "":
		question = lang.T("is this folder the project %s of the store from now on, and no longer %s", u.Project, u.Before)
	case u.Other != "":
		question = lang.T("is this folder a clone of %s, as this one is: %s", u.Project, visible.Exact(u.Other))
	}
	term.Say("In %s", visible.Exact(u.Path))
	agreed, err := person.Agrees(ctx, term.Lang.Say("%s?\nThe runs of the project are then shown here, and their documents written into the folder. Allow it [y/n]: ", question))
	if err != nil {
		return err
	}
	if !agreed {
		return u.Refuse()
	}
	return app.Trust().Retie(ctx, u.Claim)
}

func takeBack(ctx context.Context, term *terminal.Terminal, cwd string) error {
	n := 0
	for _, kind := range trust.Kinds() {
		some, err := app.Trust().Disallow(ctx, cwd, kind)
		if err != nil {
			return err
		}
		if kind != trust.KindScript { // they came and go with their command
			n += some
		}
	}
	term.Say("Taken back in %s: %d.", cwd, n)
	return nil
}

func showWants(term *terminal.Terminal, cwd string, wants []engine.Want) error {
	if term.JSON {
		out := []map[string]any{}
		for _, w := range wants {
			out = append(out, wantJSON(w))
		}
		return term.PrintJSON(map[string]any{"cwd": cwd, "wants": out})
	}
	if len(wants) == 0 {
		term.Say("This project asks for nothing that you would have to allow.")
	}
	for _, w := range wants {
		state := w.Note
		switch {
		case state != "":
		case w.Allowed:
			state = term.Lang.Say("allowed")
		default:
			state = term.Lang.Say("not allowed yet")
		}
		fmt.Fprintln(term.Out, term.Lang.Say("%s (%s): %s\n  %s", w.Kind, w.Use, state, strings.TrimLeft(terminal.Indent(visible.Exact(w.Text)), " ")))
		for _, line := range aboutWant(term.Lang, w) {
			term.Printf("  %s\n", visible.Exact(line))
		}
	}
	return nil
}

// wantJSON is a permission to give. SetBy names the origin of a command that is not from the
// project's file.
func wantJSON(w engine.Want) map[string]any {
	out := map[string]any{"kind": w.Kind, "text": w.Text, "stages": strings.Split(w.Use, ", "), "allowed": w.Allowed}
	if w.SetBy != "" && w.SetBy != workflow.SetByProject {
		out["set_by"] = w.SetBy
	}
	if w.Note != "" {
		out["note"] = w.Note
	}
	if len(w.Scripts) > 0 {
		out["files"] = scriptNames(w)
	}
	return out
}

func scriptNames(w engine.Want) []string {
	names := make([]string, len(w.Scripts))
	for i, f := range w.Scripts {
		names[i] = f.Text
	}
	return names
}

// aboutWant names the origin of a command and the project's files in it, and the reach of an
// allowance for a script.
func aboutWant(l lang.Language, w engine.Want) []string {
	var out []string
	switch w.SetBy {
	case workflow.SetByPerson:
		out = append(out, l.Say("Set in your own file."))
	case workflow.SetByEnvironment:
		out = append(out, l.Say("Set by a variable of the environment, which a file of the project can set too (.mcp.json)."))
	case workflow.SetByProject:
		out = append(out, l.Say("Set by the project (%s).", config.ProjectFile))
	case workflow.SetAtGate:
		out = append(out, l.Say("Chosen at the gate of a plan."))
	}
	if w.Kind == trust.KindContract {
		out = append(out, l.Say("Read it first. Once it changes, it does not run until you allow it again; files that it runs in turn are not checked."))
	}
	if len(w.Scripts) > 0 {
		out = append(out, l.Say("It names these files of the project: %s.", terminal.JoinWords(scriptNames(w))))
	}
	return out
}

// questionOf returns the question about a permission.
func questionOf(w engine.Want) lang.Text {
	switch w.Kind {
	case trust.KindRubric:
		return lang.T("may the server audit by this rubric in place of the built-in one")
	case trust.KindMember:
		return lang.T("is this the key of that account: steps that it signed then count as theirs")
	case trust.KindWorkflow:
		return lang.T("may runs of this project follow this workflow, which says at which stages you are asked")
	case trust.KindSource:
		return lang.T("may the server take agents and workflows, which tell your assistant what to do, from this repository")
	case trust.KindOwnVerify:
		return lang.T("may your own verify command run in this project, with your rights")
	case trust.KindCard:
		return lang.T("may assistants in this project give tasks to this agent, with all that they write in them")
	case trust.KindContract:
		return lang.T("may the server run this script of the project as it is, with your rights, when your assistant asks whether work is finished")
	case trust.KindProgram:
		return lang.T("may agents of this project run this program as it is, to convert documents that they have written")
	case trust.KindScript:
		return lang.T("it runs as it is now; have you read it, and is it as you want it")
	}
	return lang.T("may the server run this command, with your rights, when its stage is handed in")
}

func askWants(ctx context.Context, term *terminal.Terminal, e *engine.Engine, cwd string, wants []engine.Want) error {
	open := wants[:0:0]
	for _, w := range wants {
		if !w.Allowed {
			open = append(open, w)
		}
	}
	if len(open) == 0 {
		return showWants(term, cwd, wants)
	}
	person, err := term.Person()
	if err != nil {
		return err
	}
	term.Say("In %s", cwd)
	for _, w := range open {
		for _, text := range append(scriptNames(w), w.Text) {
			if visible.Steers(text) {
				return fault.New(fault.InvalidArgument, "the %s for %s has control characters, with which it could look like another: %q", w.Kind, w.Use, text).
					WithHint("take them out of the settings, or out of the file's name")
			}
		}
		what := w.Kind
		if w.Use != "" {
			what = term.Lang.Say("%s (%s)", w.Kind, w.Use)
		}
		fmt.Fprintln(term.Out, term.Lang.Say("\n%s: %s?\n\n%s\n", what, questionOf(w), terminal.Indent(terminal.Indent(visible.Exact(w.Text)))))
		for _, line := range aboutWant(term.Lang, w) {
			term.Printf("%s\n", line)
		}
		if len(w.Scripts) > 0 {
			term.Say("Read them first. When one changes later it still runs, and you are told. The programs that they run in turn are not checked.")
		}
		switch {
		case w.Note != "" && w.Kind == trust.KindMember: // it begins with a name
			term.Say("%s.", w.Note)
		case w.Note != "":
			first, size := utf8.DecodeRuneInString(w.Note)
			term.Say("%s.", string(unicode.ToUpper(first))+w.Note[size:])
		}
		if visible.Hides(w.Text) {
			term.Say("It has characters that do not show; they are written as escapes (\\u…) above.\n")
		}
		agreed, err := person.Agrees(ctx, term.Lang.Say("Allow it [y/n]: "))
		if err != nil {
			return err
		}
		if !agreed {
			term.Say("Not allowed.")
			continue
		}
		if err := e.Allow(ctx, w); err != nil {
			return err
		}
		term.Say("Allowed.")
	}
	return nil
}

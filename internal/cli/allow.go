package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/trust"
	"bmad-mcp/internal/visible"
)

func (a *app) allowCommand() *cobra.Command {
	var list, forget bool
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Allow this project's commands, rubrics and repositories, or take that back",
		Long: `Shows what the project's settings would have the server run or judge by, and asks you,
once for each, whether it may. A repository, and an assistant that writes its files, can
name a command; only you can allow it. What you allow is remembered outside of the
project, by its SHA-256: a changed command or rubric is asked about again.

  verify   a command that the server runs when dev or qa hand in their work
  rubric   the project's own rules for audits, in place of the built-in ones (before it is
           allowed, the lower of both scores counts)
  source   a git repository from which agents and workflows of the BMAD method are taken`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			find, err := a.request(nil)
			if err != nil {
				return err
			}
			cwd, wants, err := a.engine.Wants(find)
			if err != nil {
				return err
			}
			switch {
			case forget:
				return a.forget(cmd, cwd)
			case list || a.asJSON:
				return a.listWants(cwd, wants)
			}
			return a.allow(cmd, cwd, wants)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "only show them")
	cmd.Flags().BoolVar(&forget, "forget", false, "take back everything that was allowed in this project")
	return cmd
}

func (a *app) forget(cmd *cobra.Command, cwd string) error {
	n := 0
	for _, kind := range trust.Kinds() {
		some, err := a.trust().Disallow(cmd.Context(), cwd, kind)
		if err != nil {
			return err
		}
		n += some
	}
	fmt.Fprintf(a.out, "Taken back in %s: %d.\n", cwd, n)
	return nil
}

func (a *app) listWants(cwd string, wants []engine.Want) error {
	if a.asJSON {
		out := []map[string]any{}
		for _, w := range wants {
			out = append(out, map[string]any{"kind": w.Kind, "text": w.Text, "stages": strings.Split(w.Use, ", "), "allowed": w.Allowed})
		}
		return a.printJSON(map[string]any{"cwd": cwd, "wants": out})
	}
	if len(wants) == 0 {
		fmt.Fprintln(a.out, "This project asks for nothing that you would have to allow.")
	}
	for _, w := range wants {
		state := map[bool]string{true: "allowed", false: "not allowed yet"}[w.Allowed]
		fmt.Fprintf(a.out, "%s (%s): %s\n  %s\n", w.Kind, w.Use, state, visible.Exact(w.Text))
	}
	return nil
}

func (a *app) allow(cmd *cobra.Command, cwd string, wants []engine.Want) error {
	open := wants[:0:0]
	for _, w := range wants {
		if !w.Allowed {
			open = append(open, w)
		}
	}
	if len(open) == 0 {
		return a.listWants(cwd, wants)
	}
	person, err := a.terminal(false, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "In %s\n", cwd)
	for _, w := range open {
		if visible.Steers(w.Text) {
			return fault.New(fault.InvalidArgument, "the %s for %s has control characters, with which it could look like another: %q", w.Kind, w.Use, w.Text).
				WithHint("take them out of the settings")
		}
		question := "run this command, with your rights, when its stage is handed in"
		switch w.Kind {
		case trust.KindRubric:
			question = "audit by this rubric in place of the built-in one"
		case trust.KindSource:
			question = "take agents and workflows, which tell your assistant what to do, from this repository"
		}
		fmt.Fprintf(a.out, "\n%s (%s): may the server %s?\n\n%s\n\n", w.Kind, w.Use, question, indent(indent(visible.Exact(w.Text))))
		if visible.Hides(w.Text) {
			fmt.Fprintf(a.out, "It has characters that do not show; they are written as escapes (\\u…) above.\n\n")
		}
		line, err := person.line(cmd.Context(), "Allow it [y/n]: ")
		if err != nil {
			_, err = ended(cmd.Context(), err)
			return err
		}
		if !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
			fmt.Fprintln(a.out, "Not allowed.")
			continue
		}
		w.At = a.engine.Now()
		if err := a.trust().Allow(cmd.Context(), w.Allowance); err != nil {
			return err
		}
		fmt.Fprintln(a.out, "Allowed.")
	}
	return nil
}

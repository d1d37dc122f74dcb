package look

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/web/report"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// reportOptions are the flags of report.
type reportOptions struct {
	asHTML, asMarkdown, asDocx, graph, trace, force bool
	out, evidence, check                            string
	contract, from                                  string
}

// Report returns the command that writes the story of a run.
func Report(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o reportOptions
	cmd := tasks.OfTask(&cobra.Command{
		Use:   "report",
		Short: "Write the story of a run, for a pull request or an audit",
		Long: `Write the story of a run for people who were not there: its stages, rounds with their
scores, who decided and how, findings and how each was closed, comments on drafts and what
became of them, evidence, and accepted risks. As Markdown, for a pull request, or with
--html as one file that loads nothing and runs no script, or with --docx for a word processor
(by pandoc, which has to be installed).

With --evidence, write a folder that an auditor can check without this program: the approved
documents, the signed statement about the run and each signed decision, the list of signers,
the report, and a guide with the commands of ssh-keygen and sha256sum.

With --trace, print only how the requirements lead to the evidence: requirement, story, criterion,
sprint, result, check or test, and file, and what is missing between them.

With --contract, write the delivery contract by which another team takes the work over, into
_bmad-output/contracts or to --out. With --check, compare the artifacts of such a contract with
the project; the exit code is 1 if one has changed, or is missing.`,
		Example: `  bmad-mcp report sign-in | gh pr comment --body-file -
  bmad-mcp report sign-in --out sign-in.html
  bmad-mcp report sign-in --out sign-in.docx
  bmad-mcp report sign-in --trace
  bmad-mcp report sign-in --evidence audit/sign-in
  bmad-mcp report sign-in --contract team-ops
  bmad-mcp report --check _bmad-output/contracts/shop-to-team-ops-2026-11-29.md`,
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(cmd, term, tasks, o, args) },
	})
	ofTask := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.check != "" && len(args) == 0 {
			return checkContract(cmd, term, tasks, o.check)
		}
		return ofTask(cmd, args)
	}
	cmd.Flags().StringVar(&o.contract, "contract", "", "the team for which to write a delivery contract")
	cmd.Flags().StringVar(&o.from, "from", "", "the team that delivers (default: the name of the project's folder)")
	cmd.Flags().StringVar(&o.check, "check", "", "the delivery contract whose artifacts to compare")
	cmd.Flags().BoolVar(&o.asHTML, "html", false, "write one HTML file (default where --out ends in .html)")
	cmd.Flags().BoolVar(&o.asMarkdown, "markdown", false, "write Markdown (default)")
	cmd.Flags().BoolVar(&o.asDocx, "docx", false, "write a document for a word processor, into --out (default where that ends in .docx)")
	cmd.Flags().BoolVar(&o.graph, "graph", false, "write only the drawing of its stages and rounds, as mermaid")
	cmd.Flags().BoolVar(&o.trace, "trace", false, "print only the table from the requirements to the evidence")
	cmd.Flags().StringVar(&o.out, "out", "", "the file to write; without it, standard output")
	cmd.Flags().StringVar(&o.evidence, "evidence", "", "the new folder to write the evidence into")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the file if it exists")
	cmd.MarkFlagsMutuallyExclusive("html", "markdown", "docx", "graph", "trace")
	cmd.MarkFlagsMutuallyExclusive("evidence", "out")
	for _, other := range []string{"html", "markdown", "docx", "graph", "trace", "force", "evidence"} {
		cmd.MarkFlagsMutuallyExclusive("contract", "check", other)
	}
	cmd.MarkFlagsMutuallyExclusive("evidence", "html")
	cmd.MarkFlagsMutuallyExclusive("evidence", "docx")
	cmd.MarkFlagsMutuallyExclusive("evidence", "graph")
	cmd.MarkFlagsMutuallyExclusive("trace", "out")
	cmd.MarkFlagsMutuallyExclusive("trace", "evidence")
	return cmd
}

func runReport(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, o reportOptions, args []string) error {
	switch {
	case o.check != "":
		return fault.New(fault.InvalidArgument, "--check takes a contract, and no run").WithHint("leave out the name of the run")
	case cmd.Flags().Changed("contract"):
		return writeContract(cmd, term, tasks, o, args)
	case slices.Contains([]string{".pdf", ".odt", ".doc", ".rtf", ".epub"}, strings.ToLower(filepath.Ext(o.out))):
		return fault.New(fault.InvalidArgument, "a report is not written as %s", filepath.Ext(o.out)).WithHint("name a file that ends in .md, .html or .docx")
	case o.from != "":
		return fault.New(fault.InvalidArgument, "--from goes with --contract").WithHint("name the team that takes the work over with --contract")
	}
	s, found, _, err := tasks.Inspect(cmd, args)
	if err != nil {
		return err
	}
	traced, err := followRun(cmd, tasks, args)
	if err != nil {
		return err
	}
	if o.trace {
		return printTrace(cmd, term, s, &traced)
	}
	ending := strings.ToLower(filepath.Ext(o.out))
	endsInHTML := !o.asMarkdown && slices.Contains([]string{".html", ".htm"}, ending)
	endsInDocx := !o.asMarkdown && ending == ".docx"
	code, err := readCode(cmd, tasks, args)
	if err != nil {
		return err
	}
	since, _, err := readChanges(cmd, term, tasks, args, s, true)
	if err != nil {
		return err
	}
	facts := report.Facts{Session: s, Found: found, Since: since, Trace: traced, Code: code}
	text := report.Markdown(facts, term.Lang)
	if o.evidence != "" {
		return writeEvidence(term, tasks, s.TaskName, text, o.evidence)
	}
	switch {
	case o.graph:
		text = s.Graph(doubts(term.Lang, s.TaskName, found)...)
	case o.asHTML, endsInHTML:
		if text, err = report.HTML(facts, term.Lang); err != nil {
			return err
		}
	case o.asDocx, endsInDocx:
		if text, err = convertReport(cmd.Context(), tasks, text, o.out); err != nil {
			return err
		}
	}
	if o.out == "" {
		_, err = fmt.Fprint(term.Out, text)
		return err
	}
	if err := writeNew(o.out, text, o.force); err != nil {
		return err
	}
	term.Say("Written: %s", o.out)
	return nil
}

// convertReport returns a report as docx, for a file.
func convertReport(ctx context.Context, tasks *app.Tasks, text, out string) (string, error) {
	if out == "" {
		return "", fault.New(fault.InvalidArgument, "a docx is not for a terminal").WithHint("name its file: --out FILE.docx")
	}
	project, err := tasks.Project()
	if err != nil {
		return "", err
	}
	program, err := app.FindPandoc(project)
	if err != nil {
		return "", err
	}
	data, err := pandoc.Convert(ctx, program, []byte(text), "docx")
	if err != nil {
		return "", fault.New(fault.Storage, "the report was not converted: %w", err).WithHint("write it as Markdown or with --html")
	}
	return string(data), nil
}

// writeNew writes a file named by the person, and replaces an existing one only with force.
func writeNew(name, text string, force bool) error {
	dir, err := durable.OpenDir(filepath.Dir(name))
	if err != nil {
		return fault.New(fault.Storage, "the folder of %s cannot be opened: %w", name, err).WithHint("make the folder, or name another file with --out")
	}
	base := filepath.Base(name)
	switch _, err := dir.Lstat(base); {
	case err == nil && !force:
		return fault.New(fault.Conflict, "%s exists already; nothing was written", name).WithHint("add --force, or name another file with --out")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Storage, "%s cannot be looked at: %w", name, err).WithHint("name another file with --out")
	}
	if err := dir.Replace(base, []byte(text)); err != nil {
		return fault.New(fault.Storage, "%s cannot be written: %w", name, err).WithHint("name another file with --out")
	}
	return nil
}

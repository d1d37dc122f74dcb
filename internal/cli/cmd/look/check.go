package look

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Check returns the command that checks the statements of a repository.
func Check(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var base string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check in a clone who approved the documents of each run",
		Long: `Check each run in .claude/specs by its run.json: the documents are the approved texts,
each decision is signed by the person it names, and each gate has the decisions that it
requires. The list of signers (.claude/bmad-signers), the rules (.claude/bmad-task.yaml)
and the workflows come from the base branch, so that no change approves itself. The check
needs only the clone: no session file, no state of this machine and no network. It runs no
command of the project.

Notes are listed beside the findings, and count as such with --strict: files that changed
since the work was tested, unfinished runs, and rows for which no command was run. Accepted
risks are listed too.`,
		Example: `  bmad-mcp check
  bmad-mcp check --base origin/main --strict --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := runCheck(cmd.Context(), term, tasks, base, strict)
			var end *terminal.Exit
			if err == nil || errors.As(err, &end) || errors.Is(err, context.Canceled) {
				return err
			}
			f := *fault.From(err)
			if f.Code != fault.Internal { // a check that could not be made must not end like one with findings
				f.Code = fault.InvalidArgument
			}
			return &f
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "the branch or commit whose signers and rules count (default: the default branch of origin)")
	cmd.Flags().BoolVar(&strict, "strict", false, "count notes as findings")
	return cmd
}

// checkedFinding and the types below are the JSON of `check`.
type checkedFinding struct {
	Rule string `json:"rule"`
	Path string `json:"path"`
	What string `json:"what"`
	Do   string `json:"do"`
}

type checkedRun struct {
	Task      string           `json:"task"`
	Path      string           `json:"path"`
	OK        bool             `json:"ok"`
	Finished  bool             `json:"finished"`
	Documents int              `json:"documents"`
	People    []string         `json:"people"`
	Touched   int              `json:"touched,omitempty"`
	Findings  []checkedFinding `json:"findings"`
	Notes     []checkedFinding `json:"notes"`
	Risks     []proof.Risk     `json:"risks"`
}

type checkedProject struct {
	OK     bool             `json:"ok"`
	Strict bool             `json:"strict"`
	Base   string           `json:"base"`
	Commit string           `json:"base_commit"`
	Runs   []checkedRun     `json:"runs"`
	Notes  []checkedFinding `json:"notes"`
}

func runCheck(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, base string, strict bool) error {
	folder, err := tasks.Project()
	if err != nil {
		return err
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return fault.New(fault.NotFound, "the folder %s cannot be opened: %w", folder, err).WithHint("name another one with --cwd")
	}
	defer func() { _ = dir.Close() }() // nothing was written
	out := checkedProject{Strict: strict}
	in := proof.Input{Project: dir.Tree(), Now: term.Now()}
	found, err := out.checkRuns(ctx, in, folder, base)
	if err != nil && !hasNoRun(dir) {
		return err
	}
	out.OK = found.Holds(strict)
	out.Notes = describeFindings(term.Lang, found.Notes)
	out.Runs = []checkedRun{}
	for _, r := range found.Runs {
		out.Runs = append(out.Runs, checkedRun{
			Task: visible.Line(r.Task), Path: visible.Line(r.Path), OK: len(r.Findings) == 0 && (!strict || len(r.Notes) == 0), Finished: r.Finished, Documents: r.Documents,
			People: append([]string{}, r.People...), Touched: r.Touched,
			Findings: describeFindings(term.Lang, r.Findings), Notes: describeFindings(term.Lang, r.Notes), Risks: append([]proof.Risk{}, r.Risks...),
		})
	}
	if !term.JSON {
		out.printResult(term)
	} else if err := term.PrintJSON(out); err != nil {
		return err
	}
	if !out.OK {
		return terminal.ErrReported
	}
	return nil
}

// checkRuns checks the runs by the history of the project.
func (out *checkedProject) checkRuns(ctx context.Context, in proof.Input, folder, base string) (proof.Result, error) {
	h, err := git.OpenHistory(ctx, folder)
	switch {
	case err != nil:
		return proof.Result{}, fault.From(err).WithHint("see what git status says there")
	case h == nil:
		return proof.Result{}, fault.New(fault.NotFound, "%s is not in a git repository, or git is not installed, so the keys that count are unknown", folder).
			WithHint("run it in a clone")
	}
	defer h.Close()
	if err := out.addHistory(ctx, &in, h, base); err != nil {
		return proof.Result{}, err
	}
	found, err := proof.Check(in)
	if err != nil {
		err = fault.New(fault.NotAllowed, "%w", err).WithHint("make it a folder of the project")
	}
	return found, err
}

// hasNoRun reports whether a project has no folder of a run.
func hasNoRun(dir *durable.Dir) bool {
	names, _ := dir.Names(artifact.Folder)
	return len(names) == 0 && !dir.LeadsOut(".claude")
}

// addHistory adds the facts of a history to the input of a check.
func (out *checkedProject) addHistory(ctx context.Context, in *proof.Input, h *git.History, base string) (err error) {
	if out.Base = base; base == "" {
		if out.Base = h.DefaultBranch(); out.Base == "" {
			return fault.New(fault.NotFound, "this clone does not know the default branch of origin").
				WithHint("name the branch into which the change goes: --base origin/main; or: git remote set-head origin --auto")
		}
	}
	out.Commit, err = h.Resolve(ctx, out.Base)
	out.Base = strings.TrimPrefix(out.Base, "refs/remotes/")
	if err != nil {
		return err
	}
	if out.Commit == "" {
		return fault.New(fault.NotFound, "there is no commit %s in this clone", out.Base).WithHint("fetch it: git fetch origin; or name another one with --base")
	}
	head, err := h.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	if in.Roots, err = h.Roots(ctx, head); err != nil {
		return err
	}
	all := func(string) bool { return true }
	if in.Committed, err = h.Read(ctx, head, all, artifact.Folder); err != nil {
		return err
	}
	in.Changed = changedSince(ctx, h, head)
	in.Base, err = readBase(ctx, h, out.Base, out.Commit)
	return err
}

// maxCompared bounds the commits compared with the one under check, because each comparison is a process.
// Further runs are judged by their statements alone.
const maxCompared = 20

// changedSince returns a function for the files that differ between a commit and the head.
func changedSince(ctx context.Context, h *git.History, head string) func(string) ([]string, bool) {
	known := map[string][]string{}
	return func(commit string) ([]string, bool) {
		files, found := known[commit]
		if !found && len(known) < maxCompared {
			var ok bool
			var err error
			if files, ok, err = h.Changed(ctx, commit, head); !ok || err != nil {
				files = nil
			} else if files == nil {
				files = []string{}
			}
			known[commit] = files
		}
		return slices.Clone(files), files != nil
	}
}

// readBase reads signers, rules, workflows and statements from the commit of a base branch.
func readBase(ctx context.Context, h *git.History, name, commit string) (proof.Base, error) {
	counts := func(file string) bool {
		isStatement := path.Base(file) == proof.StatementFile && path.Dir(path.Dir(file)) == artifact.Folder
		return isStatement || !strings.HasPrefix(file, artifact.Folder+"/")
	}
	files, err := h.Read(ctx, commit, counts, proof.SignersFile, config.ProjectFile, config.ProjectWorkflows, artifact.Folder)
	if err != nil {
		return proof.Base{}, err
	}
	rules, err := config.ReadChecked(files[config.ProjectFile])
	if err != nil {
		return proof.Base{}, fault.New(fault.InvalidArgument, "the rules of %s cannot be read: %w", name, err).WithHint("correct the line there")
	}
	known := map[string]*workflow.Definition{} // nil for a file with mistakes
	for file, text := range files {
		if name, ok := strings.CutSuffix(path.Base(file), ".yaml"); ok && path.Dir(file) == config.ProjectWorkflows {
			known[name], _ = workflow.Read(name, text)
		}
	}
	for _, d := range workflow.Builtins() { // a file with a built-in name does not count
		known[d.Name] = d
	}
	return proof.Base{
		Name: name, Files: files, Workflow: func(name string) *workflow.Definition { return known[name] },
		Rules: func(stage workflow.StageID) proof.Rules {
			return proof.Rules{Policy: rules.Policy(stage), Assurance: rules.Assurance}
		},
	}, nil
}

func describeFindings(l lang.Language, list []proof.Finding) []checkedFinding {
	out := []checkedFinding{}
	for _, f := range list {
		what, do := f.Says(l)
		out = append(out, checkedFinding{f.Rule, visible.Line(f.Path), what, do})
	}
	return out
}

// printResult prints a line for each run, with the findings below.
func (out *checkedProject) printResult(term *terminal.Terminal) {
	if len(out.Runs) == 0 {
		term.Say("There is no run in %s: nothing to check.", artifact.Folder)
	}
	for _, r := range out.Runs {
		documents := term.Lang.Count(r.Documents, "document")
		switch {
		case len(r.Findings) > 0:
			term.Say("✗ %s: %s", r.Task, term.Lang.Count(len(r.Findings), "finding"))
		case len(r.People) == 0:
			term.Say("✓ %s: %s as approved", r.Task, documents)
		default:
			term.Say("✓ %s: %s as approved, by %s", r.Task, documents, visible.Line(strings.Join(r.People, ", ")))
			if r.Touched > 0 {
				term.Say("  %s signed with the touch of a security key", term.Lang.Count(r.Touched, "decision"))
			}
		}
		printFound(term, "", r.Findings)
		for _, risk := range r.Risks {
			said := term.Lang.Say("accepted risk: %s below its gate, by %s on %s", risk.Stage, risk.Subject, risk.At)
			if risk.Verdict != "" {
				said = term.Lang.Say("accepted risk: %s with the verdict %s, by %s on %s", risk.Stage, risk.Verdict, risk.Subject, risk.At)
			}
			fmt.Fprintf(term.Out, "  %s\n", visible.Line(said))
		}
		printFound(term, term.Lang.Say("note: "), r.Notes)
	}
	printFound(term, term.Lang.Say("note: "), out.Notes)
}

func printFound(term *terminal.Terminal, kind string, list []checkedFinding) {
	for _, f := range list {
		fmt.Fprintf(term.Out, "  %s%s: %s\n    → %s\n", kind, f.Path, f.What, f.Do)
	}
}

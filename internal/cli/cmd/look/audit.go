package look

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

// auditOptions are the flags and the file of audit.
type auditOptions struct {
	file, stage, format, rubric string
	from, objective             string
	prd, architecture, plan     string
	min                         float64
}

// auditReport is the output of the audit command as JSON.
type auditReport struct {
	File     string                  `json:"file"`
	Stage    workflow.StageID        `json:"stage"`
	Score    float64                 `json:"score"`
	Min      float64                 `json:"min"`
	OK       bool                    `json:"ok"`
	Summary  string                  `json:"summary"`
	Findings []workflow.AuditFinding `json:"findings"`
}

// maxAudited bounds the document for audit, in bytes.
const maxAudited = 64 << 20

// Audit returns the command that scores a document.
func Audit(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit FILE",
		Short: "Score a document by a rubric, finding by finding",
		Long: `Read a stage's document by the stage's rubric and say, line by line, what it lacks
and what that costs. The same document gives the same score on every machine; no
model is asked. - reads the document from stdin.

The stage is guessed from names such as 01-product-requirements.md. What the
document is traced to are the documents before it: those beside it, or in --from,
or as named. Where one is missing, tracing to it costs nothing.

With --objective the document is also held against what was asked for: a document
that shares no words with it is about something else. The language may differ.

A rubric of your own is a file, or a folder with po.yaml and so on.

The exit code is 1 where the score is below --min, else 0.`,
		Example: `  bmad-mcp audit .claude/specs/sign-in/02-system-architecture.md --min 80
  bmad-mcp audit docs/prd.md --stage po --format sarif > prd.sarif`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return o.auditDocument(cmd.Context(), term, tasks)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.stage, "stage", "", "stage of the document")
	tasks.CompleteStages(cmd)
	flags.StringVar(&o.from, "from", "", "folder with the documents of the stages before (default: beside FILE)")
	flags.StringVar(&o.prd, "prd", "", "product requirements to trace to")
	flags.StringVar(&o.architecture, "architecture", "", "architecture to trace to")
	flags.StringVar(&o.plan, "plan", "", "sprint plan to trace to")
	flags.StringVar(&o.objective, "objective", "", "the original request, in the person's words")
	flags.StringVar(&o.rubric, "rubric", "", "your own rubric: a YAML file, or a folder with <stage>.yaml")
	flags.Float64Var(&o.min, "min", 0, "lowest acceptable score")
	flags.StringVar(&o.format, "format", "text", "text, json or sarif")
	return cmd
}

func (o *auditOptions) auditDocument(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks) error {
	term.Speak(o.objective)
	if term.JSON {
		o.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "sarif"}, o.format) {
		return fault.New(fault.InvalidArgument, "there is no format %q", o.format).WithHint("pass --format text, json or sarif")
	}
	if !(o.min >= 0 && o.min <= 100) {
		return fault.New(fault.InvalidArgument, "--min %g is not a score", o.min).WithHint("pass a number from 0 to 100")
	}
	w, stage, err := o.auditedStage(tasks)
	if err != nil {
		return err
	}
	rubric, err := o.loadRubric(ctx, term, w, stage)
	if err != nil {
		return err
	}
	document, err := readDocument(ctx, term, o.file)
	if err != nil {
		return err
	}
	earlier, err := o.earlierDocuments(ctx, term, w, stage)
	if err != nil {
		return err
	}
	planned, _ := w.OfKind(workflow.KindPlan)
	found := rubric.Audit(document, audit.Background{Language: term.Lang, Objective: o.objective, Earlier: earlier, Plan: planned.ID})
	report := auditReport{
		File: filepath.ToSlash(o.file), Stage: stage.ID, Score: found.Score, Min: o.min,
		OK: found.Score >= o.min, Summary: found.Summary, Findings: append([]workflow.AuditFinding{}, found.Findings...),
	}
	switch o.format {
	case "json":
		err = term.PrintJSON(report)
	case "sarif":
		err = printSARIF(term.Out, report)
	default:
		printFindings(term, report)
	}
	if err == nil && !report.OK {
		return terminal.ErrReported
	}
	return err
}

// auditedStage returns the stage in the flags, or else the one whose artifact has the file's name, with the
// workflow.
func (o *auditOptions) auditedStage(tasks *app.Tasks) (*workflow.Definition, workflow.Stage, error) {
	for _, w := range tasks.Workflows() {
		for _, st := range w.Definition.Stages {
			meant := o.stage == string(st.ID)
			if o.stage == "" && st.Artifact != "" {
				meant = filepath.Base(o.file) == st.Artifact
			}
			if meant {
				return w.Definition, st, nil
			}
		}
	}
	ids := strings.Join(tasks.StageIDs(), ", ")
	if o.stage != "" {
		return nil, workflow.Stage{}, fault.New(fault.InvalidArgument, "there is no stage %q", o.stage).
			WithHint("the stages are: %s", ids)
	}
	return nil, workflow.Stage{}, fault.New(fault.InvalidArgument, "the name %s does not tell the stage", filepath.Base(o.file)).
		WithHint("pass --stage: %s", ids)
}

// loadRubric returns the rubric in a file or a folder of rubrics, or else the built-in one.
func (o *auditOptions) loadRubric(ctx context.Context, term *terminal.Terminal, w *workflow.Definition, stage workflow.Stage) (audit.Rubric, error) {
	name := o.rubric
	if name == "" {
		return audit.Load(nil, w, stage)
	}
	info, err := os.Stat(name)
	if err != nil {
		return audit.Rubric{}, terminal.NoSuchFile(lang.T("rubric"), name, err)
	}
	folder := info.IsDir()
	if folder {
		name = filepath.Join(name, audit.FileName(stage))
	}
	data, err := term.ReadNamed(ctx, name, maxAudited)
	switch {
	case folder && errors.Is(err, fs.ErrNotExist):
		return audit.Load(nil, w, stage)
	case err != nil:
		return audit.Rubric{}, terminal.NoSuchFile(lang.T("rubric"), name, err)
	}
	return audit.Parse(name, w, stage, data)
}

// earlierDocuments reads the documents of earlier stages: from the paths in the flags, or by their usual
// names in --from or beside the file. Only the former must exist.
func (o *auditOptions) earlierDocuments(ctx context.Context, term *terminal.Terminal, w *workflow.Definition, stage workflow.Stage) (map[workflow.StageID]string, error) {
	folder := o.from
	if folder == "" && o.file != "-" {
		folder = filepath.Dir(o.file)
	} else if folder != "" {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, terminal.NoSuchFile(lang.T("folder"), folder, err)
		}
	}
	named := map[workflow.StageID]string{"po": o.prd, "architect": o.architecture, "sm": o.plan}
	out := map[workflow.StageID]string{}
	for _, s := range w.Stages[:w.Index(stage.ID)] {
		name, must := "", false
		if n := named[s.ID]; n != "" {
			name, must = n, true
		} else if folder != "" && s.Artifact != "" {
			name = filepath.Join(folder, s.Artifact)
		}
		if name == "" {
			continue
		}
		text, err := readDocument(ctx, term, name)
		switch {
		case err == nil:
			out[s.ID] = text
		case must || !fault.Is(err, fault.NotFound):
			return nil, err
		}
	}
	return out, nil
}

func readDocument(ctx context.Context, term *terminal.Terminal, name string) (string, error) {
	data, err := term.ReadNamed(ctx, name, maxAudited)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", terminal.NoSuchFile(lang.T("file"), name, err)
	}
	return string(data), nil
}

func printFindings(term *terminal.Terminal, r auditReport) {
	if r.Min > 0 {
		term.Say("%s: form %g of 100 as %s, %g asked for", r.File, r.Score, r.Stage, r.Min)
	} else {
		term.Say("%s: form %g of 100 as %s", r.File, r.Score, r.Stage)
	}
	if len(r.Findings) == 0 {
		term.Say("nothing found")
		return
	}
	fmt.Fprintln(term.Out)
	for _, f := range r.Findings {
		loss := f.Severity
		if !f.Asks() {
			loss += fmt.Sprintf(" −%g", f.Points)
		}
		term.Printf("%s:%d %s %s %s\n    %s\n", r.File, max(f.Line, 1), loss, f.ID, f.Problem, f.Fix)
	}
}

// printSARIF prints the findings in SARIF, for code scanners and editors.
func printSARIF(out io.Writer, r auditReport) error {
	uri := r.File
	if uri == "-" {
		uri = "stdin"
	} else if here, err := os.Getwd(); err == nil && filepath.IsAbs(uri) {
		if rel, err := filepath.Rel(here, uri); err == nil {
			uri = filepath.ToSlash(rel)
		}
	}
	return audit.WriteSARIF(out, audit.Scan{Version: app.Version(), File: uri, Stage: r.Stage, Score: r.Score, Findings: r.Findings})
}

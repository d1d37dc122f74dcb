package look

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/delivery"
)

// writeContract writes the delivery contract of a task.
func writeContract(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, o reportOptions, args []string) error {
	at, err := tasks.Address(args)
	if err == nil && o.out != "" {
		o.out, err = filepath.Abs(o.out)
	}
	if err != nil {
		return err
	}
	done, err := tasks.Engine().Deliver(cmd.Context(), at, engine.Handover{FromTeam: o.from, ToTeam: o.contract, Path: o.out})
	term.SpeakOf(done.Session)
	if err != nil {
		return err
	}
	if len(done.LeftOpen) > 0 && !term.JSON {
		term.Say("Left open: %s", strings.Join(done.LeftOpen, "; "))
	}
	return term.Conclude(done, "Written: %s", done.Path)
}

// checkedArtifact and checkedContract are the JSON of `report --check`.
type checkedArtifact struct {
	delivery.Artifact
	// State is unchanged, changed, missing, unreadable, or outside: of the project.
	State string `json:"state"`
}

type checkedContract struct {
	OK bool `json:"ok"`
	delivery.Contract
	// Signature is as_recorded, not_of_run, nobody, or unknown: the run is not here.
	Signature  string            `json:"signature"`
	Acceptance string            `json:"acceptance"`
	Artifacts  []checkedArtifact `json:"artifacts"`
}

// checkContract compares the artifacts of a contract with the project.
func checkContract(cmd *cobra.Command, term *terminal.Terminal, tasks *app.Tasks, file string) error {
	data, err := term.ReadNamed(cmd.Context(), file, maxEvidence)
	if err != nil {
		return fault.New(fault.InvalidArgument, "%s cannot be read: %w", file, err).WithHint("name a delivery contract")
	}
	c, err := delivery.Parse(string(data))
	if err != nil {
		return fault.New(fault.InvalidArgument, "%s is not a delivery contract: %w", file, err).WithHint("correct it there, or write another one with --contract")
	}
	folder, err := tasks.Project()
	if err != nil {
		return err
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	out := checkedContract{true, c, "unknown", c.Acceptance(), []checkedArtifact{}}
	out.OK = out.Acceptance == "pending" || out.Acceptance == "named"
	if out.Signature = judgeSignature(cmd, tasks, c); out.Signature == "not_of_run" {
		out.OK = false
	}
	for _, a := range c.Artifacts {
		one := checkedArtifact{a, compareArtifact(dir, a)}
		out.Artifacts = append(out.Artifacts, one)
		out.OK = out.OK && one.State == "unchanged"
	}
	if err = out.printResult(term); err == nil && !out.OK {
		return terminal.ErrReported
	}
	return err
}

// judgeSignature compares the person who has signed with the run, if the run is here.
func judgeSignature(cmd *cobra.Command, tasks *app.Tasks, c delivery.Contract) string {
	if c.SessionID == "" {
		return "unknown"
	}
	s, err := tasks.Session(cmd, []string{c.SessionID})
	switch {
	case err != nil:
		return "unknown"
	case !c.IsOf(s):
		return "not_of_run"
	case c.SignedBy == "":
		return "nobody"
	}
	return "as_recorded"
}

// compareArtifact returns the state of an artifact. Line ends do not count.
func compareArtifact(dir *durable.Dir, a delivery.Artifact) string {
	if !filepath.IsLocal(filepath.FromSlash(a.Path)) {
		return "outside"
	}
	for at := path.Clean(a.Path); at != "."; at = path.Dir(at) {
		if dir.LeadsOut(at) {
			return "outside"
		}
	}
	data, err := dir.ReadFile(a.Path, durable.MaxText)
	switch plain := strings.ReplaceAll(string(data), "\r\n", "\n"); {
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case err != nil:
		return "unreadable"
	case workflow.Hash(data) == a.SHA256, workflow.Hash([]byte(plain)) == a.SHA256:
		return "unchanged"
	}
	return "changed"
}

func (c checkedContract) printResult(term *terminal.Terminal) error {
	if term.JSON {
		return term.PrintJSON(c)
	}
	said := map[string]lang.Text{
		"unchanged": lang.T("✓ unchanged"), "changed": lang.T("✗ changed"), "missing": lang.T("✗ missing"), "unreadable": lang.T("✗ cannot be read"),
		"outside": lang.T("✗ outside of the project, so it was not read"), "as_recorded": lang.T("✓ as the run recorded it"),
		"not_of_run": lang.T("✗ not the person of the last decision that the run recorded"), "unknown": lang.T("not checked, because the run is not here"),
		"nobody": lang.T("nobody has decided in the run"),
	}
	term.Printf("%s: %s %s %s\nsigned_by %q: %s\n", c.ContractID, c.Status, c.AcceptedBy, c.AcceptedOn, c.SignedBy, said[c.Signature].In(term.Lang))
	switch c.Acceptance {
	case "unknown":
		term.Say("✗ %s is not a status of a contract: these are pending-acceptance, accepted, rejected and renegotiating", visible.Fit(c.Status, 60))
	case "unnamed":
		term.Say("✗ nobody is named who has answered: fill in accepted_by")
	}
	if len(c.Artifacts) == 0 {
		term.Say("It has no artifact to compare.")
	}
	for _, a := range c.Artifacts {
		term.Printf("  %s: %s\n", a.Path, said[a.State].In(term.Lang))
	}
	return nil
}

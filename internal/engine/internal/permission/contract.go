package permission

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// kitScripts are the places of the script by which the kits check finished work.
var kitScripts = []string{"_bmad/_config/custom/cc-verify.sh", "_grimoire/_config/custom/cc-verify.sh"}

// maxScript bounds such a script: it is passed on as one argument, of which Linux takes 128 kB.
const maxScript = 120 << 10

// Script is the script of a kit as it was read.
type Script struct {
	trust.Allowance
	text string
}

// Configured returns the verify command of the settings for finished work: the command of dev, else of qa, else of
// the first stage with one.
func (g *Guard) Configured() workflow.VerifyCommand {
	c := g.project.Config
	for _, stage := range append([]workflow.StageID{workflow.Dev, workflow.QA}, c.Verified()...) {
		if command := c.Verify[stage]; command != "" {
			return workflow.VerifyCommand{Command: command, SetBy: c.VerifyBy[stage]}
		}
	}
	return workflow.VerifyCommand{}
}

// Verify runs a verify command outside of a run, if the person has allowed it here.
func (g *Guard) Verify(ctx context.Context, tell func(verify.Notice), command workflow.VerifyCommand, limits verify.Limits) (*workflow.Evidence, error) {
	if g.findPermit(command) == nil {
		return nil, g.withHint(fault.New(fault.NotAllowed, "the verify command %s was not run: %s", words.Command(command), g.notAllowed(command)))
	}
	return g.runVerify(ctx, tell, command, limits), nil
}

// Script returns the script of a kit in the project, with the present content; nil if there is none.
func (g *Guard) Script() (*Script, error) {
	for _, name := range kitScripts {
		text, err := g.project.Dir.ReadFile(name, maxScript)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fault.New(fault.Storage, "the script %s cannot be read: %w", name, err).
				WithHint("make it a regular file inside the project, of at most %d bytes", maxScript)
		}
		return &Script{g.newAllowance(trust.KindContract, name, workflow.Hash(text)), string(text)}, nil
	}
	return nil, nil
}

// Run runs a script in a folder of the project, if the person has allowed the content. $0 is the script's own
// path.
func (g *Guard) Run(ctx context.Context, tell func(verify.Notice), s *Script, dir string, limits verify.Limits) (*workflow.Evidence, error) {
	if !g.hasAllowed(s.Allowance) {
		why := words.NotAllowed(g.Names)
		if note := g.describeChange(s); !note.Empty() {
			why = lang.T("%s; in a terminal: %s allow", note, g.Names.Program)
		}
		return nil, g.withHint(fault.New(fault.NotAllowed, "the script %s was not run: %s", s.Text, why))
	}
	command := "bash " + s.Text
	limits.Timeout = g.project.Config.VerifyTimeout
	defer g.reportRunning(ctx, tell, command, limits)()
	// The checked text runs, since the file may have changed meanwhile. BASH_SOURCE is empty then.
	e := verify.Run(ctx, dir, command, g.Now, limits, "bash", "-c", s.text, g.project.Dir.Join(s.Text))
	return &e, nil
}

// withHint adds to a refusal how the person allows it.
func (g *Guard) withHint(e *fault.Error) error {
	return e.WithHint("ask the human to read it and to type `%s allow` in a terminal, in the project", g.Names.Program)
}

// describeChange says since when a script differs from the allowed one; empty if none was allowed.
func (g *Guard) describeChange(s *Script) lang.Text {
	for _, a := range g.permits() {
		if a.Kind == s.Kind && a.Text == s.Text && a.SHA256 != s.SHA256 {
			return trust.HasChanged(s.Text, a.At)
		}
	}
	return lang.Text{}
}

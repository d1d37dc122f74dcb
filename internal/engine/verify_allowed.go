package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// permits are the person's allowances for one project, read when they are first asked for.
type permits struct {
	read func() []trust.Allowance
}

func (e *Engine) permits(p *Project) permits {
	return permits{sync.OnceValue(func() []trust.Allowance {
		if e.trust == nil {
			return nil
		}
		return e.trust.InForce(p.Dir.Path())
	})}
}

// command returns the allowance by which a command may run, nil where there is none. The
// person's own needs one for the project, any other one for its text: a repository, or an
// assistant that writes its files, must not get a command run.
func (p permits) command(command string, by workflow.Setter) *trust.Allowance {
	return permitted(p.read(), command, by)
}

// permitted returns the newest allowance of a list for a command.
func permitted(list []trust.Allowance, command string, by workflow.Setter) *trust.Allowance {
	for _, a := range slices.Backward(list) {
		text := a.SHA256 == workflow.Hash([]byte(a.Text)) && verify.Same(a.Text, command)
		if a.Kind == trust.KindOwnVerify && by == workflow.SetByPerson || a.Kind == trust.KindVerify && text {
			return &a
		}
	}
	return nil
}

// script returns the allowance of a file that a command names, nil where there is none.
func (p permits) script(name string) *trust.Allowance {
	for _, a := range slices.Backward(p.read()) {
		if a.Kind == trust.KindScript && a.Text == name {
			return &a
		}
	}
	return nil
}

// permitsVerify returns the allowance by which a session's command may run here.
func (r run) permitsVerify(kept workflow.VerifyCommand) *trust.Allowance {
	return r.permits(r.project).command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and what to do about it.
func (r run) notAllowed(kept workflow.VerifyCommand) string {
	const why = "you have not allowed it in this project yet; in a terminal: bmad-mcp allow"
	if r.trust == nil {
		return why
	}
	list, err := r.trust.Allowances()
	if err != nil {
		return "what you have allowed cannot be read, so nothing is; in a terminal: bmad-mcp allow"
	}
	known := permitted(list, kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return why
	case known.Project == trust.PathOf(r.project.Dir.Path()):
		return why + " (what you allowed at this path was for another project, or its run state was cleared since)"
	}
	// Not where: a client that asks may not be served that folder.
	return why + " (you have in another one; each is asked about by itself, a copy or worktree too)"
}

// bindVerify binds an allowance of an older version to this project, with the files that
// the command names as they are now.
func (r run) bindVerify(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
	if a.ProjectID != "" {
		return
	}
	err := r.trust.Bind(ctx, a.Project)
	for _, f := range r.project.scripts(kept.Command) {
		if err == nil && f.SHA256 != gone {
			f.At = r.Now()
			err = r.trust.Allow(ctx, f)
		}
	}
	if err != nil {
		r.log.Warn("what was allowed is not bound to the project", "error", err)
	}
}

// gone stands for the hash of a file that is not there.
var gone = workflow.Hash([]byte("gone"))

// scripts are the files that a command names, or could name, as allowances with their
// hashes.
func (p *Project) scripts(command string) []trust.Allowance {
	var out []trust.Allowance
	for _, name := range verify.Files(p.Dir.Tree(), p.Dir.Path(), command) {
		hash := cmp.Or(verify.Fingerprint(p.Dir.Tree(), name), gone)
		out = append(out, trust.Allowance{Project: p.Dir.Path(), Kind: trust.KindScript, Text: name, SHA256: hash})
	}
	return out
}

// scriptChange is a file that a command names and that is not as it was allowed.
type scriptChange struct {
	trust.Allowance
	// what has become of it since.
	what string
}

// changedScripts compares the files that a command names with what the person has allowed.
// Of an allowance that is older than the files' hashes, nothing is known of them; neither
// is of those that the person's own command came to name when they changed it.
func (p *Project) changedScripts(have permits, command string, a trust.Allowance) []scriptChange {
	var out []scriptChange
	add := func(f trust.Allowance, what string, since time.Time) {
		if !since.IsZero() {
			what += " on " + since.Format(time.DateOnly)
		}
		out = append(out, scriptChange{f, f.Text + " " + what})
	}
	for _, f := range p.scripts(command) {
		switch known := have.script(f.Text); {
		case known == nil && (f.SHA256 == gone || !a.Files || !verify.Same(a.Text, command)):
		case known == nil:
			add(f, "was not there when you allowed the command", a.At)
		case f.SHA256 == known.SHA256:
		case f.SHA256 == gone:
			add(f, "is gone since you allowed it", known.At)
		case known.SHA256 == gone:
			add(f, "is back since you allowed it to be gone", known.At)
		default:
			add(f, "has changed since you allowed it", known.At)
		}
	}
	return out
}

// maxNotes bounds what is said of changed files.
const maxNotes = 5

// scriptNotes says which files that a command names have changed since it was allowed.
func (r run) scriptNotes(kept workflow.VerifyCommand, a trust.Allowance) []string {
	var notes []string
	changes := r.project.changedScripts(r.permits(r.project), kept.Command, a)
	for i, c := range changes {
		if i == maxNotes {
			notes = append(notes, fmt.Sprintf("and %d more files have", len(changes)-i))
			break
		}
		notes = append(notes, c.what)
	}
	if len(notes) > 0 {
		notes[len(notes)-1] += " (to see and settle it: bmad-mcp allow)"
	}
	return notes
}

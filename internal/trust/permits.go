package trust

import (
	"cmp"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Permits are allowances, the oldest first, of which the newest that fits counts.
type Permits []Allowance

// Command returns the allowance by which a verify command may run, nil if there is none.
// The person's own command needs one for the project, any other one for its text: neither a
// repository nor an assistant that writes its files may cause a command to run.
func (p Permits) Command(command string, by workflow.Setter) *Allowance {
	for _, a := range slices.Backward(p) {
		switch a.Kind {
		case KindOwnVerify:
			if by == workflow.SetByPerson {
				return &a
			}
		case KindVerify:
			if a.SHA256 == workflow.Hash([]byte(a.Text)) && process.Same(a.Text, command) {
				return &a
			}
		}
	}
	return nil
}

// script returns the allowance of a file that a command names, nil if there is none.
func (p Permits) script(name string) *Allowance {
	for _, a := range slices.Backward(p) {
		if a.Kind == KindScript && a.Text == name {
			return &a
		}
	}
	return nil
}

// missing stands for the hash of a file that does not exist.
var missing = workflow.Hash([]byte("gone"))

// Missing reports whether a script did not exist when its hash was taken.
func (a Allowance) Missing() bool { return a.Kind == KindScript && a.SHA256 == missing }

// Scripts returns the files that a command names, or could name, in a project, as
// allowances with their present hashes.
func Scripts(project *durable.Dir, command string) []Allowance {
	var out []Allowance
	for _, name := range verify.Files(project.Tree(), project.Path(), command) {
		hash := cmp.Or(verify.Fingerprint(project.Tree(), name), missing)
		out = append(out, Allowance{Project: project.Path(), Kind: KindScript, Text: name, SHA256: hash})
	}
	return out
}

// ScriptChange is a file that a command names and that is not as it was allowed.
type ScriptChange struct {
	// Allowance is for the file as it is now.
	Allowance
	// Sentence says how the file differs from the one that was allowed.
	Sentence lang.Text
}

// HasChanged says that a file differs from the one that was allowed at a time.
func HasChanged(file string, at time.Time) lang.Text {
	return since(lang.T("%s has changed since you allowed it", file), at)
}

// since adds the day of a time to a sentence, unless the time is zero.
func since(text lang.Text, at time.Time) lang.Text {
	if at.IsZero() {
		return text
	}
	return lang.T("%s on %s", text, at.Format(time.DateOnly))
}

// Changed compares the files that a command names now with those that were allowed. An
// allowance for the command without hashes of files says nothing about files that have
// none, nor does one for another text: the person's own command, which they have changed.
func (p Permits) Changed(scripts []Allowance, command string, allowed Allowance) []ScriptChange {
	var out []ScriptChange
	for _, f := range scripts {
		switch known := p.script(f.Text); {
		case known == nil && (f.Missing() || !allowed.Files || !process.Same(allowed.Text, command)):
		case known == nil:
			out = append(out, ScriptChange{f, since(lang.T("%s was not there when you allowed the command", f.Text), allowed.At)})
		case f.SHA256 == known.SHA256:
		case f.Missing():
			out = append(out, ScriptChange{f, since(lang.T("%s is gone since you allowed it", f.Text), known.At)})
		case known.Missing():
			out = append(out, ScriptChange{f, since(lang.T("%s is back since you allowed it to be gone", f.Text), known.At)})
		default:
			out = append(out, ScriptChange{f, HasChanged(f.Text, known.At)})
		}
	}
	return out
}

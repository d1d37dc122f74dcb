package trust

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Permits are allowances, the oldest first; of several for the same thing the newest counts.
type Permits []Allowance

// Command returns the allowance of a verify command, nil if there is none. The person's own command needs one for
// the project, any other one for its text: neither a repository nor an assistant writing into it may cause a
// command to run.
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

// findScript returns the allowance of a file named in a command, nil if there is none.
func (p Permits) findScript(name string) *Allowance {
	for _, a := range slices.Backward(p) {
		if a.Kind == KindScript && a.Text == name {
			return &a
		}
	}
	return nil
}

// FindCard returns the allowance of the agent's card at an address, nil if there is none, and the variable with the token.
func (p Permits) FindCard(address string) (allowed *Allowance, variable string) {
	for _, a := range slices.Backward(p) {
		words := strings.Fields("$ " + a.Text)
		if n := len(words); a.Kind == KindCard && words[n-1] == address {
			return &a, words[n-2][1:]
		}
	}
	return nil, ""
}

// missing stands for the hash of a missing file.
var missing = workflow.Hash([]byte("gone"))

// Missing reports whether a script did not exist when the hash was taken.
func (a Allowance) Missing() bool { return a.Kind == KindScript && a.SHA256 == missing }

// Scripts returns the files possibly named in a command, in a project, as allowances with their present hashes.
func Scripts(project *durable.Dir, command string) []Allowance {
	var out []Allowance
	for _, name := range verify.Files(project.Tree(), project.Path(), command) {
		hash := cmp.Or(verify.Fingerprint(project.Tree(), name), missing)
		out = append(out, Allowance{Project: project.Path(), Kind: KindScript, Text: name, SHA256: hash})
	}
	return out
}

// ScriptChange is a file named in a command and changed since it was allowed.
type ScriptChange struct {
	// Allowance is for the file as it is now.
	Allowance
	// Sentence says how the file differs from the allowed one.
	Sentence lang.Text
}

// HasChanged says that a file has changed since it was allowed at a time.
func HasChanged(file string, at time.Time) lang.Text {
	return addDay(lang.T("%s has changed since you allowed it", file), at)
}

// addDay adds the day of a time to a sentence, unless the time is zero.
func addDay(text lang.Text, at time.Time) lang.Text {
	if at.IsZero() {
		return text
	}
	return lang.T("%s on %s", text, at.Format(time.DateOnly))
}

// Changed compares the files named in a command now with the allowed ones. Without a record of the file it reports
// nothing if the allowance has no hashes of files, or is for another text: for the person's own command, after
// they have changed it.
func (p Permits) Changed(scripts []Allowance, command string, allowed Allowance) []ScriptChange {
	var out []ScriptChange
	for _, f := range scripts {
		switch known := p.findScript(f.Text); {
		case known == nil && (f.Missing() || !allowed.Files || !process.Same(allowed.Text, command)):
		case known == nil:
			out = append(out, ScriptChange{f, addDay(lang.T("%s was not there when you allowed the command", f.Text), allowed.At)})
		case f.SHA256 == known.SHA256:
		case f.Missing():
			out = append(out, ScriptChange{f, addDay(lang.T("%s is gone since you allowed it", f.Text), known.At)})
		case known.Missing():
			out = append(out, ScriptChange{f, addDay(lang.T("%s is back since you allowed it to be gone", f.Text), known.At)})
		default:
			out = append(out, ScriptChange{f, HasChanged(f.Text, known.At)})
		}
	}
	return out
}

package contract

import (
	"bytes"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// verdictLine matches the line with the result of a script of the kit, and the stacks in it.
var verdictLine = pattern.New(`^[^\p{L}\p{N}]*CC (PASS|FAIL)\b(?:[^\[]{0,20}\[([^\]]{1,100})\])?`)

// maxLine bounds the part of a line that is read, in bytes.
const maxLine = 1000

// verdicts reads the output of a script for its verdict. It sees all of it: the end that is kept
// may have lost the line.
type verdicts struct {
	line         []byte
	pass, failed bool
	// stacks names the stacks that the script reports as checked.
	stacks string
}

// Write implements io.Writer. It never fails, since that would make the script fail.
func (v *verdicts) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			v.keep(p)
			return n, nil
		}
		v.keep(p[:i])
		v.end()
		p = p[i+1:]
	}
}

func (v *verdicts) keep(part []byte) {
	v.line = append(v.line, part[:min(len(part), maxLine-len(v.line))]...)
}

// end reads the complete line.
func (v *verdicts) end() {
	if m := verdictLine.FindStringSubmatch(verify.Plain(string(v.line))); m != nil {
		v.pass, v.failed = v.pass || m[1] == "PASS", v.failed || m[1] == "FAIL"
		if m[2] != "" {
			v.stacks = m[2]
		}
	}
	v.line = v.line[:0]
}

// status returns the outcome of a script. An exit code of 0 alone does not pass: the script of the
// kit ends so if it knows no stack of the project.
func (v *verdicts) status(e *workflow.Evidence) Status {
	switch {
	case !ranToEnd(e):
		return Error
	case e.ExitCode == 1 || v.failed:
		return Fail
	case e.ExitCode != 0:
		return Error
	case v.pass:
		return Pass
	}
	return Skipped
}

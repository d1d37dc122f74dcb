package proof

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The guides tell an auditor in each language how to check the files.
//
//go:embed evidence/README.md
var guide string

//go:embed evidence/README.zh.md
var guideInChinese string

// Found is what a project has of a run.
type Found struct {
	// Statement is run.json, Signature the signature of run.json, and Signers the list of signers.
	Statement, Signature, Signers []byte
	// Text returns an artifact.
	Text func(path string) ([]byte, error)
	// Report is the story of the run, for people.
	Report string
}

// Evidence returns the files by which somebody without this program can check a run, by their paths in a folder for
// them.
func Evidence(f Found, l lang.Language) ([]File, error) {
	statement := withUnixLines(f.Statement)
	s, err := Parse(statement)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s: %w", StatementFile, err).WithHint("%s", rewrite)
	}
	out := []File{{"run.json", statement}, {"run.json.sig", withUnixLines(f.Signature)}, {"signers", withUnixLines(f.Signers)}, {"report.md", []byte(f.Report)}}
	var sums strings.Builder
	for _, subject := range s.Subject {
		if path.Dir(subject.Name) != artifact.TaskFolder(s.Predicate.Task) || !fs.ValidPath(subject.Name) || visible.Line(subject.Name) != subject.Name {
			err := lang.Errorf("it names %q, which is not a document of this run", subject.Name)
			return nil, fault.New(fault.InvalidArgument, "%s: %w", StatementFile, err).WithHint("%s", rewrite)
		}
		body, err := f.Text(subject.Name)
		if err != nil {
			return nil, fault.New(fault.NotFound, "%s cannot be read: %w", subject.Name, err).WithHint("restore it: bmad-mcp adopt %s --restore", s.Predicate.Task)
		}
		if !artifact.Same(body, subject.Digest.SHA256) {
			return nil, fault.New(fault.NotAllowed, "%s differs from the approved text", subject.Name).WithHint("restore it: bmad-mcp adopt %s --restore", s.Predicate.Task)
		}
		if workflow.Hash(body) != subject.Digest.SHA256 { // git has changed the line ends
			body = withUnixLines(body)
		}
		name := "documents/" + path.Base(subject.Name)
		out = append(out, File{name, body})
		fmt.Fprintf(&sums, "%s  %s\n", subject.Digest.SHA256, name)
	}
	out = append(out, File{"SHA256SUMS", []byte(sums.String())})
	for i, d := range s.Predicate.Decisions {
		file := signature.Armor(d.Signature)
		if file == "" { // of an older program: run.json has it
			continue
		}
		name := fmt.Sprintf("decisions/%02d.json", i+1)
		out = append(out, File{name, d.toGrant().Statement(s.Predicate.Session, s.Predicate.Task)}, File{name + ".sig", []byte(file)})
	}
	text := guide
	if l == "zh" {
		text = guideInChinese
	}
	subject := visible.Line(s.Predicate.Written.Subject)
	quoted := "'" + strings.ReplaceAll(subject, "'", `'\''`) + "'" // it stands in a command
	fill := strings.NewReplacer("{task}", visible.Line(s.Predicate.Task), "{subject}", subject, "{account}", quoted)
	return append(out, File{"README.md", []byte(fill.Replace(text))}), nil
}

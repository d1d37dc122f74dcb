package look

import (
	"os"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
)

// maxEvidence bounds a file in the evidence of a run, in bytes.
const maxEvidence = 1 << 20

// writeEvidence writes the evidence of a task into a new folder.
func writeEvidence(term *terminal.Terminal, tasks *app.Tasks, task, report, folder string) error {
	at, err := tasks.Project()
	if err != nil {
		return err
	}
	project, err := durable.OpenDir(at)
	if err != nil {
		return err
	}
	defer func() { _ = project.Close() }() // nothing was written there
	f := proof.Found{Report: report, Text: func(name string) ([]byte, error) { return project.ReadFile(name, durable.MaxText) }}
	for _, file := range []struct {
		into *[]byte
		name string
		hint lang.Text
	}{
		{&f.Statement, proof.Path(task, proof.StatementFile), lang.T("it is written when a document is approved in a git repository")},
		{&f.Signature, proof.Path(task, proof.SignatureFile), lang.T("restore the last valid version")},
		{&f.Signers, proof.SignersFile, lang.T("each person adds their line to it: bmad-mcp signer")},
	} {
		if *file.into, err = project.ReadFile(file.name, maxEvidence); err != nil {
			return fault.New(fault.NotFound, "%s cannot be read: %w", file.name, err).WithHint("%s", file.hint)
		}
	}
	files, err := proof.Evidence(f, term.Lang)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o750); err != nil {
		return fault.New(fault.Conflict, "the folder %s cannot be made: %w", folder, err).WithHint("name a new one, in a folder that exists")
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // each write is durable already
	for _, file := range files {
		if _, err := dir.MkdirAll(path.Dir(file.Path)); err != nil {
			return err
		}
		if err := dir.Replace(file.Path, file.Body); err != nil {
			return fault.New(fault.Storage, "%s cannot be written: %w", dir.Join(file.Path), err).WithHint("remove the folder %s and try again", folder)
		}
	}
	return term.Conclude(map[string]any{"folder": folder, "files": len(files)}, "Written: %s. Its README.md says how to check it.", folder)
}

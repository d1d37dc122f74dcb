package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// TestToolFiles: a tool of the caller's writes into the agent's files, what it writes is a document, and a session
// for reading refuses it.
func TestToolFiles(t *testing.T) {
	const bytes = "PK\xff\x00"
	tool := sdk.Tool[struct{}, string]{Name: "convert", Run: func(ctx context.Context, _ struct{}) (string, error) {
		files := sdk.FilesOf(ctx)
		if _, err := files.Read("/a.bin"); !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "made", files.Write("/docs/../a.bin", []byte(bytes))
	}}
	dir, err := vfs.OpenDir(t.TempDir(), vfs.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	for what, c := range map[string]struct {
		files    vfs.FS
		readOnly bool
	}{"in memory": {}, "in a folder": {files: dir}, "for reading": {files: vfs.NewMem(nil), readOnly: true}} {
		client, p := plainClient(t, fake.Step{Blocks: []provider.Block{{Type: provider.ToolUse, Name: "convert", Input: "{}"}}, Stop: provider.UsesTools}, fake.Text("Done."))
		s, err := client.StartAgent(t.Context(), "", "go", sdk.SessionOptions{Agent: helper, Tools: []sdk.AnyTool{tool}, FS: c.files, ReadOnly: c.readOnly})
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Run(newContext(t))
		if err != nil {
			t.Fatal(err)
		}
		last := p.Requests()[1].Messages
		said := last[len(last)-1].Blocks[0]
		if c.readOnly {
			_, err := s.Files().Stat("/a.bin")
			if len(result.Documents) != 0 || !said.IsError || !strings.Contains(said.Text, "for reading") || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v, %+v, %v", what, result.Documents, said, err)
			}
			continue
		}
		if len(result.Documents) != 1 || result.Documents[0].Path != "/a.bin" || result.Documents[0].Content != bytes || said.IsError {
			t.Errorf("%s: %+v, %+v", what, result.Documents, said)
			continue
		}
		text, err := json.Marshal(result.Documents)
		if err != nil || !strings.Contains(string(text), `"content":""`) || !strings.Contains(string(text), `"base64":"UEv/AA=="`) {
			t.Errorf("%s: %s, %v", what, text, err)
		}
	}
	if sdk.FilesOf(t.Context()) != nil {
		t.Error("there are files without an agent")
	}
	if text, _ := json.Marshal(sdk.Document{Path: "/a", Content: "é<"}); string(text) != `{"path":"/a","content":"é\u003c"}` {
		t.Errorf("%s", text)
	}
}

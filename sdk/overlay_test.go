package sdk_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// TestOverlayOfTheCaller: the changes of an agent over a folder are there in the next process.
func TestOverlayOfTheCaller(t *testing.T) {
	dir, store := project(t), sdk.NewMemStore()
	over := func() *vfs.Overlay {
		base, err := vfs.OpenDir(dir, vfs.DirOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = base.Close() })
		return vfs.NewOverlay(base, nil)
	}
	c, _ := client(t, sdk.Options{Project: dir, Store: store}, write("/docs/prd.md", "# PRD\n"), fake.Text("done"))
	s, err := c.StartAgent(newContext(t), "pm", "write", sdk.SessionOptions{FS: over()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(newContext(t)); err != nil {
		t.Fatal(err)
	}
	again, _ := client(t, sdk.Options{Project: dir, Store: store})
	list, err := again.Sessions(newContext(t))
	if err != nil || len(list) != 1 || list[0].FilesOf != "caller" || list[0].Provider != "fake" {
		t.Fatalf("%+v, %v", list, err)
	}
	conv, err := again.OpenWith(newContext(t), s.ID(), sdk.OpenOptions{FS: over()})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := conv.Files().Read("/docs/prd.md"); err != nil || string(data) != "# PRD\n" {
		t.Errorf("%q, %v", data, err)
	}
}

package pandoc_test

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// use has an agent use the tool, and returns the answer that it reads.
func use(t *testing.T, files vfs.FS, program func() (pandoc.Program, error), input string) provider.Block {
	t.Helper()
	p := fake.New(fake.Step{Blocks: []provider.Block{{Type: provider.ToolUse, Name: "convert_document", Input: input}}, Stop: provider.UsesTools}, fake.Text("Done."))
	client, err := sdk.New(sdk.Options{Provider: p, Prices: fake.Prices()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s, err := client.StartAgent(t.Context(), "", "go", sdk.SessionOptions{
		Agent: &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "helper"}}, FS: files, Tools: []sdk.AnyTool{pandoc.NewTool(program)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := p.Requests()[1].Messages
	return last[len(last)-1].Blocks[0]
}

func TestTool(t *testing.T) {
	good := standIn(t, `printf 'PK\377'; cat`)
	huge := standIn(t, "head -c 5000000 /dev/zero")
	for what, c := range map[string]struct {
		program     pandoc.Program
		input, want string
		fails       bool
	}{
		"a document":         {good, `{"file_path":"/docs/prd.md","format":"docx"}`, "Wrote /docs/prd.docx (9 bytes)", false},
		"another way of it":  {good, `{"file_path":"//docs/x/../prd.md","format":"html"}`, "Wrote /docs/prd.html (9 bytes)", false},
		"without an ending":  {good, `{"file_path":"/docs/notes","format":"odt"}`, "Wrote /docs/notes.odt", false},
		"a missing one":      {good, `{"file_path":"/no.md","format":"docx"}`, "File not found: /no.md", true},
		"a relative path":    {good, `{"file_path":"docs/prd.md","format":"docx"}`, "Path must be absolute", true},
		"a folder":           {good, `{"file_path":"/docs","format":"docx"}`, "/docs is a folder", true},
		"bytes":              {good, `{"file_path":"/bytes.md","format":"docx"}`, "not UTF-8", true},
		"the result itself":  {good, `{"file_path":"/docs/old.docx","format":"docx"}`, "has the ending of the result already", true},
		"another format":     {good, `{"file_path":"/docs/prd.md","format":"../../x"}`, "there are: docx", true},
		"no format":          {good, `{"file_path":"/docs/prd.md"}`, "format", true},
		"too large a result": {huge, `{"file_path":"/docs/prd.md","format":"docx"}`, "more than the limit", true},
		"one not allowed":    {pandoc.Program{}, `{"file_path":"/docs/prd.md","format":"docx"}`, "the person has not allowed it", true},
	} {
		files := vfs.NewMem(nil)
		for name, text := range map[string]string{"/docs/prd.md": "# PRD\n", "/docs/notes": "text", "/bytes.md": "\xff", "/docs/old.docx": "old"} {
			if err := files.Give(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		program := func() (pandoc.Program, error) {
			if c.program.Path == "" {
				return c.program, errors.New("the person has not allowed it")
			}
			return c.program, nil
		}
		if said := use(t, files, program, c.input); said.IsError != c.fails || !strings.Contains(said.Text, c.want) {
			t.Errorf("%s: %+v", what, said)
		}
		if made := vfs.Documents(files); c.fails != (len(made) == 0) {
			t.Errorf("%s: it made %v", what, made)
		}
	}
}

// TestNoNetwork: where the system permits, the program sees no interface but its own.
func TestNoNetwork(t *testing.T) {
	if runtime.GOOS != "linux" || exec.Command("unshare", "-rn", "true").Run() != nil {
		t.Skip("SKIPPED: this system gives no namespaces")
	}
	data, err := pandoc.Convert(t.Context(), standIn(t, "grep -c : /proc/net/dev; echo $$"), nil, "docx")
	if string(data) != "1\n1\n" || err != nil {
		t.Errorf("%q, %v; want one interface, and the number of the first process", data, err)
	}
}

package vfs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

func ExampleMem() {
	files := vfs.NewMem(nil)
	if err := files.Give("/templates/prd.md", []byte("# PRD: {{name}}\n")); err != nil {
		fmt.Println(err)
	}
	if err := files.Write("/docs/../docs/prd.md", []byte("# PRD: login\n")); err != nil {
		fmt.Println(err)
	}
	for _, info := range vfs.Documents(files) { // without the template, which was given
		fmt.Println(info.Path, info.Size)
	}
	// Output: /docs/prd.md 13
}

func ExampleToolbox() {
	tools := vfs.NewToolbox(vfs.NewMem(nil), vfs.ToolOptions{})
	for _, call := range [][2]string{
		{"write_file", `{"file_path":"/docs/prd.md","content":"# Login\nIt costs $5.\n"}`},
		{"edit_file", `{"file_path":"/docs/prd.md","old_string":"$5","new_string":"$6"}`},
		{"grep_search", `{"pattern":"costs"}`},
		{"read_file", `{"file_path":"docs/prd.md"}`},
	} {
		text, failed := tools.Execute(context.Background(), call[0], call[1])
		fmt.Println(failed, text)
	}
	// Output:
	// false File written: /docs/prd.md (21 bytes)
	// false File edited: /docs/prd.md
	// false /docs/prd.md:2: It costs $6.
	// true Path must be absolute (start with /)
}

func ExampleOverlay_Apply() {
	name, err := os.MkdirTemp("", "project")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(name) }()
	project, err := vfs.OpenDir(name, vfs.DirOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = project.Close() }()

	files := vfs.NewOverlay(project, nil)
	if err := files.Write("/docs/prd.md", []byte("# Login\n")); err != nil {
		fmt.Println(err)
	}
	changes, err := files.Changes() // for a person to see
	for _, c := range changes {
		fmt.Printf("%s: new %v, %d bytes\n", c.Path, c.New, len(c.After))
	}
	if err == nil {
		err = files.Apply(context.Background())
	}
	data, _ := os.ReadFile(filepath.Join(name, "docs", "prd.md"))
	fmt.Printf("%v %s", err, data)
	// Output:
	// /docs/prd.md: new true, 8 bytes
	// <nil> # Login
}

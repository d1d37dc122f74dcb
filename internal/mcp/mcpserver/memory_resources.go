package mcpserver

import (
	"context"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// The addresses of the project memory. They take the project folder as cwd, too.
const (
	memoryScheme   = bmadScheme + "memory/"
	museumURI      = memoryScheme + "museum"
	notesURI       = memoryScheme + "notes/"
	agentMemoryURI = memoryScheme + "agents/"
	memoryFileURI  = memoryScheme + "files/"
)

// notesOf is the content of a resource with notes: the newest ones that fit into a reply.
type notesOf struct {
	Notes []shownNote `json:"notes"`
	// Total counts the notes of the type.
	Total    int             `json:"total"`
	Problems []notes.Problem `json:"problems,omitempty"`
}

// shownNote is a note, with a mark if it seems to instruct the reading model.
type shownNote struct {
	notes.Note
	Suspicious bool `json:"suspicious,omitempty"`
}

// readMemory returns the resource at an address of the project memory, and the folder of the project.
func readMemory(ctx context.Context, e *engine.Engine, m *memory.Memory, uri string, base request.Request) (reply.Resource, string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return reply.Resource{}, "", noMemory(uri)
	}
	if cwd := u.Query().Get("cwd"); cwd != "" {
		base.Cwd = cwd
	}
	p, err := e.Projects().At(base.Address)
	if err != nil {
		return reply.Resource{}, "", err
	}
	defer p.Close()
	if name, ok := strings.CutPrefix(u.Path, "/files/"); ok {
		text, err := m.Of(p).ReadSource(ctx, name)
		return reply.Resource{Name: u.Path, MIMEType: catalog.MIMEType(name), Size: int64(len(text)), Text: text, Path: name}, p.Dir.Path(), err
	}
	value, path, err := memoryPart(ctx, m.Of(p), strings.TrimPrefix(u.Path, "/"), uri)
	if err != nil {
		return reply.Resource{}, "", err
	}
	data, err := method.Encode(value)
	return reply.Resource{Name: u.Path, MIMEType: "application/json", Size: int64(len(data)), Text: string(data), Path: path}, p.Dir.Path(), err
}

// memoryPart returns the part of a project's memory named in an address, and the file behind it.
func memoryPart(ctx context.Context, book *memory.Book, name, uri string) (value any, path string, err error) {
	kind, rest, _ := strings.Cut(name, "/")
	switch {
	case kind == "notes" && rest != "":
		list, err := book.List(ctx, memory.Filter{Type: notes.Type(rest), Foreign: true})
		out := notesOf{Notes: []shownNote{}, Total: len(list.Notes), Problems: list.Problems[:min(len(list.Problems), maxResults)]}
		for _, n := range list.Notes[:min(len(list.Notes), maxEntries)] {
			out.Notes = append(out.Notes, shownNote{n, n.Suspicious()})
		}
		return cutList(&out, &out.Notes), book.Path() + "/" + rest + ".jsonl", err
	case name == "museum":
		out, err := book.Failures(ctx, "", "", maxEntries)
		return out, book.Path() + "/" + string(notes.Failures) + ".jsonl", err
	case kind == "agents" && rest != "":
		out, err := book.Agent(ctx, rest, "", maxEntries)
		return out, book.Path() + "/" + string(notes.AgentLearnings) + ".jsonl", err
	}
	return nil, "", noMemory(uri)
}

// noMemory returns the error for an unknown address of the memory.
func noMemory(uri string) error {
	return fault.New(fault.NotFound, "unknown resource %q", clipText(uri)).
		WithHint("there are: %s, %s, %s, %s", museumURI, notesURI+"{type}", agentMemoryURI+"{agent}", memoryFileURI+"{path}")
}

// memoryFiles returns the Markdown files of a kit's memory as resources.
func memoryFiles(ctx context.Context, e *engine.Engine, m *memory.Memory, base request.Request) (out []mcp.Resource) {
	p, err := e.Projects().At(base.Address)
	if err != nil {
		return nil
	}
	defer p.Close()
	names, _ := m.Of(p).Sources(ctx) // without them the list has the others
	for _, name := range names {
		if strings.HasSuffix(name, ".md") && strings.Contains(name, "/_memory/") {
			out = append(out, mcp.Resource{URI: memoryFileURI + name, Name: "memory/" + name, Title: "BMAD memory: " + name, MIMEType: catalog.MIMEType(name)})
		}
	}
	return out
}

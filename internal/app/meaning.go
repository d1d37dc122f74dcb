package app

import (
	"context"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/embedding"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// meaning compares notes with the servers of a project's settings.
type meaning struct{ finder *embedding.Finder }

func newMeaning() meaning { return meaning{embedding.New(os.Getenv)} }

// Nearest implements memory.Meaning.
func (m meaning) Nearest(ctx context.Context, p *project.Project, app, query string, list []notes.Note) (map[int]float64, []memory.Like, error) {
	c := p.Config
	if c.MemoryEmbeddingModel == "" {
		return nil, nil, fault.New(fault.InvalidArgument, "the setting memory_embedding_model is missing")
	}
	texts := make([]embedding.Text, len(list))
	for i, n := range list {
		texts[i] = embedding.Text{
			ID: n.ID, Type: string(n.Type), Agent: n.Agent, Text: n.Text, Tags: n.Tags, Project: n.Project, Created: n.CreatedAt.Time,
		}
	}
	at := embedding.Place{Dir: p.Dir, Embeddings: c.MemoryEmbeddings, Model: c.MemoryEmbeddingModel, Qdrant: c.MemoryQdrant, App: app}
	known, found, err := m.finder.Nearest(ctx, at, query, texts)
	var others []memory.Like
	for _, f := range found {
		others = append(others, memory.Like{Cosine: f.Cosine, Note: notes.Note{
			ID: f.ID, Type: notes.Type(f.Type), Agent: f.Agent, Text: f.Text.Text, Tags: f.Tags, CreatedAt: notes.Time{Time: f.Created},
		}})
	}
	return known, others, err
}

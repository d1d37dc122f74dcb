package app

import (
	"context"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/embedding"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// meaning compares notes with the servers of a project's settings.
type meaning struct{ finder *embedding.Finder }

func newMeaning() meaning { return meaning{embedding.New(os.Getenv)} }

// Nearest implements memory.Meaning.
func (m meaning) Nearest(
	ctx context.Context, p *project.Project, app, query string, list []notes.Note,
) (known map[int]float64, others []notes.Like, err error) {
	c := p.Config
	if c.MemoryEmbeddingModel == "" {
		return nil, nil, fault.New(fault.InvalidArgument, "the setting memory_embedding_model is missing")
	}
	at := embedding.Place{Dir: p.Dir, Embeddings: c.MemoryEmbeddings, Model: c.MemoryEmbeddingModel, Qdrant: c.MemoryQdrant, App: app}
	return m.finder.Nearest(ctx, at, query, list)
}

package embedding

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

const (
	// upserted bounds the points of one request, nearestPoints those of a search.
	upserted, nearestPoints = 64, 50
)

// database is a Qdrant server, by its REST interface. A type of notes has a collection of its own,
// {app}-{type}, with the points and the payload that the kit of the BMAD community writes.
type database struct {
	*Finder
	Place
}

// payload describes the text of a point.
type payload struct {
	Text    string     `json:"text"`
	Agent   string     `json:"agent"`
	Type    notes.Type `json:"type"`
	Tags    []string   `json:"tags"`
	Project string     `json:"project"`
	Created string     `json:"created_at"`
}

type point struct {
	ID      string    `json:"id"`
	Vector  []float32 `json:"vector"`
	Payload payload   `json:"payload"`
}

// call makes a request about the collection of a type.
func (d database) call(ctx context.Context, method string, kind notes.Type, rest string, in, out any) (status int, err error) {
	address := d.Qdrant + "/collections/" + url.PathEscape(d.App+"-"+string(kind)) + rest
	return d.Finder.call(ctx, method, address, header{name: "api-key", variable: QdrantKeyVariable}, in, out)
}

// nearest keeps notes in their collections, and asks each for the points that are like the query.
func (d database) nearest(
	ctx context.Context, query []float32, list []notes.Note, fresh map[digest]bool, v *vectors,
) (known map[int]float64, others []notes.Like, err error) {
	byType, places := map[notes.Type][]notes.Note{}, map[notes.Key]int{}
	for i, n := range list {
		byType[n.Type] = append(byType[n.Type], n)
		places[n.Key()] = i
	}
	known = map[int]float64{}
	for kind, list := range byType {
		made, err := d.ensure(ctx, kind, len(query))
		if err != nil {
			return nil, nil, err
		}
		if err := d.keep(ctx, kind, list, v, func(n notes.Note) bool { return made || fresh[digestOf(n.Text)] }); err != nil {
			return nil, nil, err
		}
		found, err := d.search(ctx, kind, query)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range found {
			if i, ours := places[f.Key()]; ours {
				known[i] = f.Cosine
			} else if f.Text != "" {
				others = append(others, f)
			}
		}
	}
	return known, others, nil
}

// ensure makes a collection if it is missing.
func (d database) ensure(ctx context.Context, kind notes.Type, size int) (made bool, err error) {
	status, err := d.call(ctx, http.MethodGet, kind, "", nil, &struct{}{})
	if status != http.StatusNotFound {
		return false, err
	}
	vectors := map[string]any{"size": size, "distance": "Cosine"}
	_, err = d.call(ctx, http.MethodPut, kind, "", map[string]any{"vectors": vectors}, &struct{}{})
	return true, err
}

// keep writes the notes that are missing in the database.
func (d database) keep(ctx context.Context, kind notes.Type, list []notes.Note, v *vectors, missing func(notes.Note) bool) error {
	var points []point
	for _, n := range list {
		if missing(n) {
			points = append(points, point{ID: n.ID, Vector: v.of(n.Text), Payload: payload{
				n.Text, n.Agent, n.Type, append([]string{}, n.Tags...), n.Project, n.CreatedAt.UTC().Format(time.RFC3339),
			}})
		}
	}
	for some := range slices.Chunk(points, upserted) {
		if _, err := d.call(ctx, http.MethodPut, kind, "/points?wait=true", map[string]any{"points": some}, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// search returns the nearest points of a collection.
func (d database) search(ctx context.Context, kind notes.Type, query []float32) ([]notes.Like, error) {
	var out struct {
		Result []struct {
			ID      any     `json:"id"` // a UUID, or a number that another program chose
			Score   float64 `json:"score"`
			Payload payload `json:"payload"`
		} `json:"result"`
	}
	request := map[string]any{"vector": query, "limit": nearestPoints, "with_payload": true}
	if _, err := d.call(ctx, http.MethodPost, kind, "/points/search", request, &out); err != nil {
		return nil, err
	}
	var found []notes.Like
	for _, p := range out.Result {
		id, _ := p.ID.(string)
		created, _ := time.Parse(time.RFC3339, p.Payload.Created)
		found = append(found, notes.Like{Cosine: p.Score, Note: notes.Note{
			ID: id, Type: kind, Agent: p.Payload.Agent, Text: p.Payload.Text, Tags: p.Payload.Tags, CreatedAt: notes.Time{Time: created},
		}})
	}
	return found, nil
}

package embedding

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

const (
	// upserted bounds the points of one request, nearestPoints those of a search.
	upserted, nearestPoints = 64, 50
)

// database is a Qdrant server, by its REST interface. A type of notes has a collection of its own,
// {app}-{type}, with the points and the payload that the kit of the BMAD community writes.
type database struct {
	finder *Finder
	base   string
	app    string
	header map[string]string
}

func (f *Finder) database(at Place) *database {
	d := &database{finder: f, base: at.Qdrant, app: at.App, header: map[string]string{}}
	if key := f.getenv(QdrantKeyVariable); key != "" {
		d.header["api-key"] = key
	}
	return d
}

// payload describes the text of a point.
type payload struct {
	Text    string   `json:"text"`
	Agent   string   `json:"agent"`
	Type    string   `json:"type"`
	Tags    []string `json:"tags"`
	Project string   `json:"project"`
	Created string   `json:"created_at"`
}

type point struct {
	ID      string    `json:"id"`
	Vector  []float32 `json:"vector"`
	Payload payload   `json:"payload"`
}

func (d *database) collection(kind string) string {
	return d.base + "/collections/" + url.PathEscape(d.app+"-"+kind)
}

// nearest keeps the texts in their collections, and asks each for the points that are like the query.
func (d *database) nearest(ctx context.Context, query []float32, texts []Text, fresh map[digest]bool, v *vectors) (known map[int]float64, others []Found, err error) {
	byType := map[string][]Text{}
	places := map[string]int{} // by type and id
	for i, t := range texts {
		byType[t.Type] = append(byType[t.Type], t)
		places[t.Type+"\n"+t.ID] = i
	}
	known = map[int]float64{}
	for kind, list := range byType {
		made, err := d.ensure(ctx, kind, len(query))
		if err != nil {
			return nil, nil, err
		}
		if err := d.keep(ctx, kind, list, v, func(t Text) bool { return made || fresh[digestOf(t.Text)] }); err != nil {
			return nil, nil, err
		}
		found, err := d.search(ctx, kind, query)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range found {
			if i, ours := places[kind+"\n"+f.ID]; ours {
				known[i] = f.Cosine
			} else if f.Text.Text != "" {
				f.Type = kind
				others = append(others, f)
			}
		}
	}
	return known, others, nil
}

// ensure makes a collection if it is missing.
func (d *database) ensure(ctx context.Context, kind string, size int) (made bool, err error) {
	var out struct{}
	err = d.finder.call(ctx, http.MethodGet, d.collection(kind), d.header, nil, &out)
	var status *statusError
	if err == nil || !errors.As(err, &status) || status.status != http.StatusNotFound {
		return false, err
	}
	vectors := map[string]any{"size": size, "distance": "Cosine"}
	return true, d.finder.call(ctx, http.MethodPut, d.collection(kind), d.header, map[string]any{"vectors": vectors}, &out)
}

// keep writes the texts that are missing in the database.
func (d *database) keep(ctx context.Context, kind string, list []Text, v *vectors, missing func(Text) bool) error {
	var points []point
	send := func() error {
		if len(points) == 0 {
			return nil
		}
		var out struct{}
		err := d.finder.call(ctx, http.MethodPut, d.collection(kind)+"/points?wait=true", d.header, map[string]any{"points": points}, &out)
		points = points[:0]
		return err
	}
	for _, t := range list {
		if !missing(t) {
			continue
		}
		tags := t.Tags
		if tags == nil {
			tags = []string{}
		}
		points = append(points, point{ID: t.ID, Vector: v.of(t.Text), Payload: payload{t.Text, t.Agent, t.Type, tags, t.Project, t.Created.UTC().Format(time.RFC3339)}})
		if len(points) == upserted {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// search returns the nearest points of a collection.
func (d *database) search(ctx context.Context, kind string, query []float32) ([]Found, error) {
	var out struct {
		Result []struct {
			ID      any     `json:"id"` // a UUID, or a number that another program chose
			Score   float64 `json:"score"`
			Payload payload `json:"payload"`
		} `json:"result"`
	}
	request := map[string]any{"vector": query, "limit": nearestPoints, "with_payload": true}
	if err := d.finder.call(ctx, http.MethodPost, d.collection(kind)+"/points/search", d.header, request, &out); err != nil {
		return nil, err
	}
	var found []Found
	for _, p := range out.Result {
		id, _ := p.ID.(string)
		created, _ := time.Parse(time.RFC3339, p.Payload.Created)
		found = append(found, Found{Cosine: p.Score, Text: Text{ID: id, Type: kind, Agent: p.Payload.Agent,
			Text: p.Payload.Text, Tags: p.Payload.Tags, Project: p.Payload.Project, Created: created}})
	}
	return found, nil
}

// Package embedding compares texts by their meaning, with servers that the person names: one with
// the embeddings interface of OpenAI (which Ollama, LM Studio, vLLM and others have too) turns
// texts into vectors, and a Qdrant database, if there is one, keeps them for several programs.
//
// A text leaves this machine only for the addresses in a [Place]. Vectors are kept in a folder of
// the project and computed once for each text and model.
package embedding

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/recent"
)

// The variables with the keys of the servers, which no file may hold.
const (
	KeyVariable       = "BMAD_MEMORY_EMBEDDING_KEY"
	QdrantKeyVariable = "BMAD_MEMORY_QDRANT_KEY"
)

const (
	// batch bounds the texts of one request, maxInput each of them, in bytes: models refuse more than
	// some thousand words.
	batch, maxInput = 64, 8000
	// timeout bounds one request, retryAfter is the pause before the only other attempt.
	timeout, retryAfter = 10 * time.Second, 500 * time.Millisecond
	// maxAnswer bounds an answer, in bytes: 64 vectors of 8,192 numbers in JSON.
	maxAnswer = 16 << 20
	// maxSize bounds a vector.
	maxSize = 8192
)

// Place names the folder and the servers for the texts of one project.
type Place struct {
	// Dir is the project's folder.
	Dir *durable.Dir
	// Embeddings is the address below which /embeddings is, for example http://localhost:11434/v1.
	Embeddings, Model string
	// Qdrant is the address of a database; if it is empty, texts are compared in memory. App is the
	// name that its collections begin with.
	Qdrant, App string
}

// Finder finds notes. It is safe for concurrent use.
type Finder struct {
	getenv func(string) string
	client *http.Client
	kept   *recent.Map[string, *vectors]
}

// maxKept bounds the projects whose vectors stay in memory.
const maxKept = 4

// New returns a finder that reads the keys of servers from the environment.
func New(getenv func(string) string) *Finder {
	if getenv == nil {
		getenv = os.Getenv
	}
	return &Finder{getenv: getenv, client: newClient(), kept: recent.New[string, *vectors](maxKept)}
}

// Nearest returns the likeness of a query to notes, by their place in the list, and the other notes of the
// database that are like it. If a server fails, it returns only the error.
func (f *Finder) Nearest(ctx context.Context, at Place, query string, list []notes.Note) (known map[int]float64, others []notes.Like, err error) {
	v := f.vectors(at)
	v.mu.Lock()
	defer v.mu.Unlock()
	fresh, err := f.complete(ctx, at, v, list)
	if err != nil {
		return nil, nil, err
	}
	asked, err := f.embed(ctx, at, []string{query})
	if err != nil {
		return nil, nil, err
	}
	if at.Qdrant != "" {
		return f.database(at).nearest(ctx, asked[0], list, fresh, v)
	}
	known = make(map[int]float64, len(list))
	for i, n := range list {
		known[i] = dot(asked[0], v.of(n.Text))
	}
	return known, nil, nil
}

// complete fetches the vectors that are not kept yet, and returns the digests of their texts.
func (f *Finder) complete(ctx context.Context, at Place, v *vectors, list []notes.Note) (fresh map[digest]bool, err error) {
	fresh = map[digest]bool{}
	var missing []string
	for _, n := range list {
		if d := digestOf(n.Text); v.by[d] == nil && !fresh[d] {
			fresh[d] = true
			missing = append(missing, n.Text)
		}
	}
	for len(missing) > 0 {
		n := min(len(missing), batch)
		got, err := f.embed(ctx, at, missing[:n])
		if err != nil {
			return nil, err
		}
		if err := v.add(at.Dir, missing[:n], got); err != nil {
			return nil, err
		}
		missing = missing[n:]
	}
	return fresh, nil
}

// embed turns texts into vectors of length 1.
func (f *Finder) embed(ctx context.Context, at Place, texts []string) ([][]float32, error) {
	inputs := make([]string, len(texts))
	for i, text := range texts {
		inputs[i] = strings.ToValidUTF8(text[:min(len(text), maxInput)], "")
	}
	var out struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	header := map[string]string{}
	if key := f.getenv(KeyVariable); key != "" {
		header["Authorization"] = "Bearer " + key
	}
	request := map[string]any{"model": at.Model, "input": inputs, "encoding_format": "float"}
	if err := f.call(ctx, http.MethodPost, at.Embeddings+"/embeddings", header, request, &out); err != nil {
		return nil, err
	}
	list := make([][]float32, len(texts))
	for _, d := range out.Data {
		if d.Index < 0 || d.Index >= len(list) || len(d.Embedding) == 0 || len(d.Embedding) > maxSize {
			return nil, lang.Errorf("%s answers with vectors that do not fit the texts", host(at.Embeddings))
		}
		list[d.Index] = unit(d.Embedding)
	}
	for _, vector := range list {
		if vector == nil {
			return nil, lang.Errorf("%s answers with vectors that do not fit the texts", host(at.Embeddings))
		}
	}
	return list, nil
}

// statusError reports an answer of a server that is not a success.
type statusError struct {
	host   string
	status int
}

func (e *statusError) Error() string { return e.In(lang.English) }

// In returns the error in a language.
func (e *statusError) In(l lang.Language) string {
	return l.Say("%s answers with status %d", e.host, e.status)
}

// call makes a request with JSON both ways, and once more if that can help.
func (f *Finder) call(ctx context.Context, method, url string, header map[string]string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	for attempt := 0; ; attempt++ {
		err := f.once(ctx, method, url, header, body, out)
		var status *statusError
		again := err != nil && (!errors.As(err, &status) || status.status == http.StatusTooManyRequests || status.status >= 500)
		if !again || attempt > 0 || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (f *Finder) once(ctx context.Context, method, url string, header map[string]string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return lang.Errorf("%s does not answer: %v", host(url), cause(err))
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	data, err := durable.ReadStream(resp.Body, host(url), maxAnswer)
	switch {
	case err != nil:
		return lang.Errorf("%s does not answer: %v", host(url), cause(err))
	case resp.StatusCode/100 != 2: // its text may repeat the key or the request
		return &statusError{host(url), resp.StatusCode}
	}
	if err := json.Unmarshal(data, out); err != nil {
		return lang.Errorf("%s answers with something other than the JSON that was expected", host(url))
	}
	return nil
}

// digest is the hash of a text.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// unit scales a vector to the length 1, so that the product of two is their cosine.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return make([]float32, len(v))
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return v
}

func dot(a, b []float32) float64 {
	sum := float32(0)
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// Package embedding compares texts by their meaning, with servers named by the person: one with the embeddings
// interface of OpenAI (which Ollama, LM Studio, vLLM and others have too) turns texts into vectors, and a
// Qdrant database, if there is one, keeps them for several programs.
//
// A text leaves this machine only for the addresses in a [Place]. Vectors are kept in a folder of
// the project and computed once for each text and model.
package embedding

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
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
	// Qdrant is the address of a database; if it is empty, texts are compared in memory. App is the beginning
	// of the names of its collections.
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

// New returns a finder with the keys of servers from the environment.
func New(getenv func(string) string) *Finder {
	if getenv == nil {
		getenv = os.Getenv
	}
	return &Finder{getenv: getenv, client: newClient(), kept: recent.New[string, *vectors](maxKept)}
}

// Nearest returns the likeness of a query to notes, by their place in the list, and similar notes of the
// database besides. If a server fails, it returns only the error.
func (f *Finder) Nearest(ctx context.Context, at Place, query string, list []notes.Note) (known map[int]float64, others []notes.Like, err error) {
	v := f.vectorsOf(at)
	v.mu.Lock()
	defer v.mu.Unlock()
	fresh, err := f.fetchMissing(ctx, at, v, list)
	if err != nil {
		return nil, nil, err
	}
	asked, err := f.embedTexts(ctx, at, []string{query})
	if err != nil {
		return nil, nil, err
	}
	if at.Qdrant != "" {
		return database{f, at}.nearestNotes(ctx, asked[0], list, fresh, v)
	}
	known = make(map[int]float64, len(list))
	for i, n := range list {
		known[i] = dotProduct(asked[0], v.vectorOf(n.Text))
	}
	return known, nil, nil
}

// Likeness returns the likeness of a query to each of some texts, of which no vectors are kept.
func (f *Finder) Likeness(ctx context.Context, at Place, query string, texts []string) (out []float64, err error) {
	var asked []float32
	for some := range slices.Chunk(append([]string{query}, texts...), batch) {
		got, err := f.embedTexts(ctx, at, some)
		if err != nil {
			return nil, err
		}
		if asked == nil {
			asked, got = got[0], got[1:]
		}
		for _, vector := range got {
			out = append(out, dotProduct(asked, vector))
		}
	}
	return out, nil
}

// fetchMissing fetches the missing vectors, and returns the digests of their texts.
func (f *Finder) fetchMissing(ctx context.Context, at Place, v *vectors, list []notes.Note) (fresh map[digest]bool, err error) {
	fresh = map[digest]bool{}
	var missing []string
	for _, n := range list {
		if d := digestOf(n.Text); v.by[d] == nil && !fresh[d] {
			fresh[d] = true
			missing = append(missing, n.Text)
		}
	}
	for some := range slices.Chunk(missing, batch) {
		got, err := f.embedTexts(ctx, at, some)
		if err != nil {
			return nil, err
		}
		if err := v.addVectors(at.Dir, some, got); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// embedTexts turns texts into vectors of length 1.
func (f *Finder) embedTexts(ctx context.Context, at Place, texts []string) ([][]float32, error) {
	inputs := make([]string, len(texts))
	for i, text := range texts {
		inputs[i] = visible.Head(text, maxInput)
	}
	var out struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	request := map[string]any{"model": at.Model, "input": inputs, "encoding_format": "float"}
	key := header{name: "Authorization", scheme: "Bearer ", variable: KeyVariable}
	if _, err := f.callJSON(ctx, http.MethodPost, at.Embeddings+"/embeddings", key, request, &out); err != nil {
		return nil, err
	}
	list := make([][]float32, len(texts))
	for _, d := range out.Data {
		if d.Index >= 0 && d.Index < len(list) && len(d.Embedding) <= maxSize {
			list[d.Index] = scaleToUnit(d.Embedding)
		}
	}
	if len(out.Data) != len(list) || slices.ContainsFunc(list, func(vector []float32) bool { return len(vector) == 0 }) {
		return nil, lang.Errorf("%s answers with vectors that do not fit the texts", hostOf(at.Embeddings))
	}
	return list, nil
}

// header is the one with the key of a server, if the variable of the key has any.
type header struct{ name, scheme, variable string }

// callJSON makes a request with JSON both ways, and once more if a second try can help. The status is 0 if
// there was no answer.
func (f *Finder) callJSON(ctx context.Context, method, url string, key header, in, out any) (status int, err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return 0, err
		}
	}
	status, err = f.callOnce(ctx, method, url, key, body, out)
	final := status/100 == 3 || status/100 == 4 && status != http.StatusTooManyRequests
	if err == nil || final || ctx.Err() != nil {
		return status, err
	}
	select {
	case <-ctx.Done():
	case <-time.After(retryAfter):
	}
	return f.callOnce(ctx, method, url, key, body, out)
}

func (f *Finder) callOnce(ctx context.Context, method, url string, key header, body []byte, out any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if secret := f.getenv(key.variable); secret != "" {
		req.Header.Set(key.name, key.scheme+secret)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, lang.Errorf("%s does not answer: %v", hostOf(url), httpguard.WithoutAddress(err))
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	data, err := durable.ReadStream(resp.Body, hostOf(url), maxAnswer)
	switch {
	case err != nil:
		return 0, lang.Errorf("%s does not answer: %v", hostOf(url), httpguard.WithoutAddress(err))
	case resp.StatusCode/100 != 2: // the body may repeat the key or the request
		return resp.StatusCode, lang.Errorf("%s answers with status %d", hostOf(url), resp.StatusCode)
	case json.Unmarshal(data, out) != nil:
		return resp.StatusCode, lang.Errorf("%s answers with something other than the JSON that was expected", hostOf(url))
	}
	return resp.StatusCode, nil
}

// digest is the hash of a text.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// scaleToUnit scales a vector to the length 1, so that the product of two is their cosine.
func scaleToUnit(v []float32) []float32 {
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

func dotProduct(a, b []float32) float64 {
	sum := float32(0)
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// errAddress refuses an address at which clouds and devices answer any caller: a name could be
// made to lead there.
var errAddress = lang.Errorf("link-local and metadata addresses are not asked")

// newClient returns a client that follows no redirection, so that texts and keys go to the named server only,
// and does not reach link-local addresses, whatever a name resolves to.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: httpguard.CheckDialed(func(at netip.Addr) bool { return !isForbidden(at) }, errAddress)}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout,
			MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// isForbidden reports whether an address is link-local, or belongs to a metadata service elsewhere: of AWS over
// IPv6 or of Alibaba Cloud.
func isForbidden(at netip.Addr) bool {
	return at.IsLinkLocalUnicast() || at.IsLinkLocalMulticast() || at.IsUnspecified() ||
		at == netip.MustParseAddr("fd00:ec2::254") || at == netip.MustParseAddr("100.100.100.200")
}

// hostOf returns the server of an address, for messages: the address itself may hold more than people
// want to see.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "the server"
}

const (
	// upserted bounds the points of one request, nearestPoints the points of a search.
	upserted, nearestPoints = 64, 50
)

// database is a Qdrant server, by the REST interface. Each type of notes has a collection, {app}-{type}, with
// the points and the payload as the kit of the BMAD community writes them.
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

// callCollection makes a request about the collection of a type.
func (d database) callCollection(ctx context.Context, method string, kind notes.Type, rest string, in, out any) (status int, err error) {
	address := d.Qdrant + "/collections/" + url.PathEscape(d.App+"-"+string(kind)) + rest
	return d.callJSON(ctx, method, address, header{name: "api-key", variable: QdrantKeyVariable}, in, out)
}

// nearestNotes keeps notes in their collections, and asks each for points similar to the query.
func (d database) nearestNotes(
	ctx context.Context, query []float32, list []notes.Note, fresh map[digest]bool, v *vectors,
) (known map[int]float64, others []notes.Like, err error) {
	byType, places := map[notes.Type][]notes.Note{}, map[notes.Key]int{}
	for i, n := range list {
		byType[n.Type] = append(byType[n.Type], n)
		places[n.Key()] = i
	}
	known = map[int]float64{}
	for kind, list := range byType {
		made, err := d.ensureCollection(ctx, kind, len(query))
		if err != nil {
			return nil, nil, err
		}
		if err := d.writeMissing(ctx, kind, list, v, func(n notes.Note) bool { return made || fresh[digestOf(n.Text)] }); err != nil {
			return nil, nil, err
		}
		found, err := d.searchCollection(ctx, kind, query)
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

// ensureCollection makes a collection if it is missing.
func (d database) ensureCollection(ctx context.Context, kind notes.Type, size int) (made bool, err error) {
	status, err := d.callCollection(ctx, http.MethodGet, kind, "", nil, &struct{}{})
	if status != http.StatusNotFound {
		return false, err
	}
	vectors := map[string]any{"size": size, "distance": "Cosine"}
	_, err = d.callCollection(ctx, http.MethodPut, kind, "", map[string]any{"vectors": vectors}, &struct{}{})
	return true, err
}

// writeMissing writes the notes missing in the database.
func (d database) writeMissing(ctx context.Context, kind notes.Type, list []notes.Note, v *vectors, missing func(notes.Note) bool) error {
	var points []point
	for _, n := range list {
		if missing(n) {
			points = append(points, point{ID: n.ID, Vector: v.vectorOf(n.Text), Payload: payload{
				n.Text, n.Agent, n.Type, append([]string{}, n.Tags...), n.Project, n.CreatedAt.Time.UTC().Format(time.RFC3339),
			}})
		}
	}
	for some := range slices.Chunk(points, upserted) {
		if _, err := d.callCollection(ctx, http.MethodPut, kind, "/points?wait=true", map[string]any{"points": some}, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// searchCollection returns the nearest points of a collection.
func (d database) searchCollection(ctx context.Context, kind notes.Type, query []float32) ([]notes.Like, error) {
	var out struct {
		Result []struct {
			ID      any     `json:"id"` // a UUID, or a number chosen by another program
			Score   float64 `json:"score"`
			Payload payload `json:"payload"`
		} `json:"result"`
	}
	request := map[string]any{"vector": query, "limit": nearestPoints, "with_payload": true}
	if _, err := d.callCollection(ctx, http.MethodPost, kind, "/points/search", request, &out); err != nil {
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
